#include "slurm/actuator.hpp"

#include <pwd.h>
#include <signal.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <condition_variable>
#include <deque>
#include <map>
#include <thread>

#include "slurm/marker.hpp"
#include "slurm/translate.hpp"

namespace cox::slurm {
namespace {

constexpr auto kWatch = std::chrono::milliseconds(100);

struct Done {
  std::string native_id{};   // of Create
  bool not_started = false;  // of Kill
  bool later = false;        // answered when the release has been watched
};

struct Release {  // a Place that waits for its job to run
  model::Action action;
  std::vector<std::string> nodes;
  TimePoint deadline{};
};

struct Account {
  uint32_t uid = 0, gid = 0;
  std::string home;
};

Result<Account> Find(const std::string& user) {
  passwd entry{};
  passwd* found = nullptr;
  std::array<char, 16384> buffer;
  getpwnam_r(user.c_str(), &entry, buffer.data(), buffer.size(), &found);
  if (found == nullptr) return InvalidArgument("user " + user + ": this host has no such account");
  return Account{found->pw_uid, found->pw_gid, found->pw_dir};
}

bool Runs(const JobRecord& record) {
  return record.state == JobState::kRunning || record.state == JobState::kSuspended;
}

std::string Text(const JobRecord& record) {
  return "job " + std::to_string(record.id) + " is " + Name(record.state) + ", restart " +
         std::to_string(record.restarts);
}

}  // namespace

struct SlurmActuator::State {
  explicit State(ActuatorParts p) : parts(p) {}

  ActuatorParts parts;
  std::thread thread;
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<model::Action> queue;
  bool stopping = false;
  std::map<uint32_t, Release> releases;
  std::vector<std::pair<model::Action, Error>> withdrawn;  // releases that a later order ended

  Api& api() { return *parts.api; }

  void Answer(DeltaSink& sink, const model::Action& action, const Result<Done>& result);
  Result<JobRecord> Load(const model::Action& action);
  Result<JobRecord> LoadAttempt(const model::Action& action);
  Result<void> Hold(uint32_t job);

  void Do(const model::Action& action, DeltaSink& sink);
  Result<Done> Carry(const model::Action& action, const model::Create& order);
  Result<Done> Carry(const model::Action& action, const model::Place& order);
  Result<Done> Carry(const model::Action& action, const model::Terminate& order);
  Result<Done> Carry(const model::Action& action, const model::Kill& order);
  Result<Done> Carry(const model::Action& action, const model::Requeue& order);
  Result<Done> Carry(const model::Action& action, const model::Discard& order);
  Result<Done> Carry(const model::Action& action, const model::Annotate& order);

  Result<uint32_t> Made(const model::Action& action, const model::Create& order);
  Result<void> Let(const JobRecord& record, const model::Action& action, const model::Place& order);
  Result<void> Term(const JobRecord& record);
  static Result<Done> Tolerant(const Result<void>& done);
  Result<void> Requeued(const model::Action& action, int64_t next);
  void Watch(DeltaSink& sink);
  std::optional<Result<void>> Judge(const Release& release, const JobRecord& record);
  void Withdraw(uint32_t job, Error why);
};

// ---- What all orders share ----

void SlurmActuator::State::Answer(DeltaSink& sink, const model::Action& action,
                                  const Result<Done>& result) {
  if (!result && result.error().code != Code::kConflict)
    parts.log->Warn("order not carried out", {{"task", action.task.value},
                                              {"job", action.native_id},
                                              {"code", CodeName(result.error().code)},
                                              {"error", result.error().text}});
  model::Outcome outcome;
  outcome.action = action.id;
  outcome.task = action.task;
  outcome.attempt = action.attempt;
  if (result) {
    outcome.native_id = result->native_id;
    outcome.not_started = result->not_started;
  } else {
    outcome.error = result.error();
  }
  sink.Post(std::move(outcome));
}

Result<JobRecord> SlurmActuator::State::Load(const model::Action& action) {
  uint32_t id = 0;
  const std::string& text = action.native_id;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), id);
  if (error != std::errc() || rest != text.data() + text.size())
    return InvalidArgument("\"" + text + "\" is not the id of a Slurm job");
  auto record = api().LoadJob(id);
  if (!record) return record;
  // Slurm gives numbers out again once it has come to the end of them.
  const auto marker = ParseMarker(record->admin_comment);
  if (!marker || marker->uuid != action.root_uuid)
    return NotFound("job " + text + " is not task " + action.root_uuid);
  return record;
}

Result<JobRecord> SlurmActuator::State::LoadAttempt(const model::Action& action) {
  auto record = Load(action);
  if (record && record->restarts != action.attempt)
    return Conflict(Text(*record) + "; the order is for restart " + std::to_string(action.attempt));
  return record;
}

Result<void> SlurmActuator::State::Hold(uint32_t job) {
  JobUpdate update;
  update.hold = true;
  return api().Update(job, update);
}

void SlurmActuator::State::Do(const model::Action& action, DeltaSink& sink) {
  std::unique_lock no_look(parts.shared->creating, std::defer_lock);
  if (std::holds_alternative<model::Create>(action.what)) no_look.lock();
  const Result<Done> result =
      std::visit([&](const auto& order) { return Carry(action, order); }, action.what);
  if (!result || !result->later) Answer(sink, action, result);
}

// ---- Create ----

Result<uint32_t> SlurmActuator::State::Made(const model::Action& action,
                                            const model::Create& order) {
  auto all = api().LoadJobs(0);
  if (!all) return all.error();
  for (const JobRecord& record : (*all)->jobs) {  // the answer to an earlier Create was lost
    const auto marker = ParseMarker(record.admin_comment);
    if (marker && marker->uuid == action.root_uuid) return record.id;
  }
  auto account = Find(order.user);
  if (!account) return account.error();
  const auto site = parts.shared->site();
  const auto candidates = model::Candidates(*order.job, *site);
  if (candidates.empty()) return InvalidArgument("no pool offers any flavor of " + order.name);
  BatchJob job = BatchJobOf(order, candidates.front(), action.root_uuid);
  const spec::Pool* pool = site->FindPool(candidates.front().pool);
  for (const spec::Pool& one : site->pools)
    if (pool == nullptr && !one.partition.empty()) pool = &one;
  if (pool == nullptr || pool->partition.empty())
    return InvalidArgument("pool " + candidates.front().pool + " has no Slurm partition");
  job.partition = pool->partition;
  job.uid = account->uid;
  job.gid = account->gid;
  job.work_dir = account->home;
  job.output = account->home + "/" + order.name + "-%j.out";
  job.env.emplace_back("HOME", account->home);
  job.env.emplace_back("USER", order.user);
  job.env.emplace_back("LOGNAME", order.user);
  job.env.emplace_back("PATH", "/usr/local/bin:/usr/bin:/bin");
  return api().Submit(job);
}

Result<Done> SlurmActuator::State::Carry(const model::Action& action, const model::Create& order) {
  const auto id = Made(action, order);
  if (!id) return id.error();
  parts.log->Info("created", {{"job", *id}, {"name", order.name}, {"user", order.user}});
  return Done{.native_id = std::to_string(*id)};
}

// ---- Place ----

Result<void> SlurmActuator::State::Let(const JobRecord& record, const model::Action& action,
                                       const model::Place& order) {
  auto update = PlacementUpdate(record, order.placement);
  if (!update) return update.error();
  const auto site = parts.shared->site();
  const spec::Pool* pool = site->FindPool(order.placement.candidate.pool);
  if (pool != nullptr && !pool->partition.empty() && pool->partition != record.partition)
    update->partition = pool->partition;
  // A job that was accepted while the daemon was away has not got its environment yet; the SPANK
  // plug-in takes it from these words.
  auto marker = ParseMarker(record.admin_comment);
  if (marker &&
      std::find(marker->words.begin(), marker->words.end(), "wait") != marker->words.end()) {
    marker->words = ContextWords(order.env);
    update->admin_comment = StateComment(*marker, action.version,
                                         {model::Name(model::State::kAdmitted), "Admitted", ""});
  }
  if (auto done = api().Update(record.id, *update); !done) return done;
  JobUpdate release;
  release.release = true;
  return api().Update(record.id, release);
}

Result<Done> SlurmActuator::State::Carry(const model::Action& action, const model::Place& order) {
  auto record = LoadAttempt(action);
  if (!record) return record.error();
  if (HasEnded(*record)) return Conflict(Text(*record));
  if (record->state == JobState::kPending && record->completing)
    return Unavailable(Text(*record) + ", its last attempt is still leaving");
  if (releases.contains(record->id)) Withdraw(record->id, Conflict("overtaken by a later order"));
  parts.shared->BeginRelease(record->id);
  if (record->state == JobState::kPending) {
    if (auto done = Let(*record, action, order); !done) {
      if (!Hold(record->id)) parts.log->Warn("job could not be held", {{"job", record->id}});
      parts.shared->EndRelease(record->id);
      Error error = done.error();
      if (error.code == Code::kInvalidArgument) error.code = Code::kConflict;
      return error;
    }
  }
  releases[record->id] = {action, NodesOf(order.placement), parts.clock->Now() + parts.verify};
  return Done{.later = true};
}

// none: not known yet.
std::optional<Result<void>> SlurmActuator::State::Judge(const Release& release,
                                                        const JobRecord& record) {
  if (record.restarts != release.action.attempt || HasEnded(record)) {
    // It has started, and is over or was requeued since; the source tells that.
    return Result<void>();
  }
  if (Runs(record)) {
    if (SameNodes(record.nodes, release.nodes)) return Result<void>();
    return Result<void>(Conflict(Text(record) + " on " + CompressNodes(record.nodes) +
                                 " instead of " + CompressNodes(release.nodes)));
  }
  const bool refused = record.priority == 0;  // Slurm holds what it finds impossible
  if (!refused && parts.clock->Now() < release.deadline) return std::nullopt;
  return Result<void>(Conflict("Slurm did not start job " + std::to_string(record.id) + " on " +
                               CompressNodes(release.nodes) + ": " + record.reason));
}

void SlurmActuator::State::Watch(DeltaSink& sink) {
  for (auto it = releases.begin(); it != releases.end();) {
    const auto& [job, release] = *it;
    const auto record = Load(release.action);
    if (!record && record.error().code == Code::kUnavailable) return;  // slurmctld is away: later
    const std::optional<Result<void>> verdict =
        record ? Judge(release, *record) : std::optional<Result<void>>(record.error());
    if (!verdict) {
      ++it;
      continue;
    }
    // Running or not, from here on nothing but a new Place may start it (again).
    if (record && !HasEnded(*record)) {
      if (const auto held = Hold(job); !held && held.error().code == Code::kUnavailable) return;
    }
    // It may have started between the look and the hold.
    const auto after = *verdict ? record : Load(release.action);
    const bool started = after && Runs(*after) && SameNodes(after->nodes, release.nodes);
    parts.shared->EndRelease(job);
    if (*verdict || started) {
      parts.log->Info("placed", {{"job", job}, {"nodes", CompressNodes(release.nodes)}});
      Answer(sink, release.action, Done{});
    } else {
      Answer(sink, release.action, verdict->error());
    }
    it = releases.erase(it);
  }
}

void SlurmActuator::State::Withdraw(uint32_t job, Error why) {
  const auto found = releases.find(job);
  if (found == releases.end()) return;
  withdrawn.emplace_back(found->second.action, std::move(why));
  releases.erase(found);
  parts.shared->EndRelease(job);
}

// ---- Ending it ----

// SIGTERM to every process but srun, which would answer by killing its tasks at once. Where there
// are steps the batch script's other children are reached by its own shell or at its end.
Result<void> SlurmActuator::State::Term(const JobRecord& record) {
  const auto steps = api().HasSteps(record.id);
  if (!steps) return steps.error();
  if (*steps) {
    if (auto done = api().Signal(record.id, SIGTERM, Target::kSteps); !done) return done;
  }
  if (!record.batch) return {};
  return api().Signal(record.id, SIGTERM, *steps ? Target::kBatchShell : Target::kBatchAll);
}

// "It has just ended" is what the order wanted.
Result<Done> SlurmActuator::State::Tolerant(const Result<void>& done) {
  if (!done && done.error().code != Code::kFailedPrecondition) return done.error();
  return Done{};
}

Result<Done> SlurmActuator::State::Carry(const model::Action& action, const model::Terminate&) {
  const auto record = LoadAttempt(action);
  if (!record) return record.error();
  if (!Runs(*record)) return Done{};
  return Tolerant(Term(*record));
}

Result<Done> SlurmActuator::State::Carry(const model::Action& action, const model::Kill&) {
  auto record = LoadAttempt(action);
  if (!record) return record.error();
  Withdraw(record->id, Conflict("withdrawn"));
  if (record->state == JobState::kPending && !record->completing) {
    if (auto held = Hold(record->id); !held) return held.error();
    record = LoadAttempt(action);  // it may have started meanwhile
    if (!record) return record.error();
    if (record->state == JobState::kPending) return Done{.not_started = true};
  }
  if (!Runs(*record)) return Done{};
  return Tolerant(api().Signal(record->id, SIGKILL, Target::kJob));
}

Result<void> SlurmActuator::State::Requeued(const model::Action& action, int64_t next) {
  auto record = Load(action);
  if (!record) return record.error();
  const auto waits = [&] {
    return record->state == JobState::kPending && !record->completing && record->restarts == next;
  };
  if (!waits()) {
    if (record->restarts != action.attempt)
      return Conflict(Text(*record) + "; it was to become restart " + std::to_string(next));
    if (Runs(*record)) return Conflict(Text(*record) + ", it has not ended");
    if (record->state != JobState::kPending) {
      if (auto done = api().RequeueHeld(record->id); !done) return done;
    }
    record = Load(action);
    if (!record) return record.error();
  }
  // Slurm's own hold could be lifted by the user, and it makes a requeued job wait two minutes.
  JobUpdate update;
  update.hold = true;
  update.begin_now = true;
  if (auto done = api().Update(record->id, update); !done) return done;
  if (!waits()) return Unavailable(Text(*record) + ", not yet restart " + std::to_string(next));
  return {};
}

Result<Done> SlurmActuator::State::Carry(const model::Action& action, const model::Requeue& order) {
  if (auto done = Requeued(action, order.next); !done) return done.error();
  return Done{};
}

Result<Done> SlurmActuator::State::Carry(const model::Action& action, const model::Discard&) {
  const auto record = Load(action);
  if (!record) {
    if (record.error().code == Code::kNotFound) return Done{};
    return record.error();
  }
  Withdraw(record->id, Conflict("the task has ended"));
  if (HasEnded(*record)) return Done{};
  return Tolerant(api().Signal(record->id, SIGKILL, Target::kJob));
}

Result<Done> SlurmActuator::State::Carry(const model::Action& action,
                                         const model::Annotate& order) {
  const auto record = Load(action);
  if (!record) return record.error();
  // Slurm closes the record of a job that has ended; what it shows then is its own state.
  if (HasEnded(*record)) return Done{};
  JobUpdate update;
  update.admin_comment = StateComment(*ParseMarker(record->admin_comment), action.version, order);
  return Tolerant(api().Update(record->id, update));
}

// ---- The thread ----

SlurmActuator::SlurmActuator(ActuatorParts parts) : state_(std::make_unique<State>(parts)) {}

SlurmActuator::~SlurmActuator() {
  Stop();
}

void SlurmActuator::Submit(std::vector<model::Action> actions) {
  std::lock_guard lock(state_->mutex);
  for (model::Action& action : actions) state_->queue.push_back(std::move(action));
  state_->changed.notify_one();
}

bool SlurmActuator::Turn(DeltaSink& sink) {
  State& s = *state_;
  for (;;) {
    std::optional<model::Action> action;
    {
      std::lock_guard lock(s.mutex);
      if (s.queue.empty() || s.stopping) break;
      action = std::move(s.queue.front());
      s.queue.pop_front();
    }
    s.Do(*action, sink);
    for (const auto& [release, why] : s.withdrawn) s.Answer(sink, release, why);
    s.withdrawn.clear();
  }
  s.Watch(sink);
  return !s.releases.empty();
}

void SlurmActuator::Start(DeltaSink& sink) {
  state_->thread = std::thread([this, &sink] {
    State& s = *state_;
    for (bool watching = false;; watching = Turn(sink)) {
      std::unique_lock lock(s.mutex);
      const auto work = [&s] { return !s.queue.empty() || s.stopping; };
      if (watching) {
        s.changed.wait_for(lock, kWatch, work);
      } else {
        s.changed.wait(lock, work);
      }
      if (s.stopping) return;
    }
  });
}

void SlurmActuator::Stop() {
  {
    std::lock_guard lock(state_->mutex);
    state_->stopping = true;
    state_->changed.notify_one();
  }
  if (state_->thread.joinable()) state_->thread.join();
}

}  // namespace cox::slurm
