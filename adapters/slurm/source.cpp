#include "slurm/source.hpp"

#include <unistd.h>

#include <algorithm>
#include <condition_variable>
#include <map>
#include <thread>
#include <utility>

#include "lifecycle/uuid.hpp"
#include "slurm/log_tail.hpp"
#include "slurm/marker.hpp"
#include "slurm/native_job.hpp"
#include "slurm/translate.hpp"
#include "slurm/wire.hpp"

namespace cox::slurm {
namespace {

constexpr auto kFirstGlance = std::chrono::milliseconds(10);  // at a job that is expected
constexpr auto kExpect = std::chrono::seconds(2);   // later it is no more: slurmctld refused it
constexpr auto kRepeat = std::chrono::seconds(30);  // a baseline even when nothing changed
constexpr auto kLostAfter =
    std::chrono::seconds(10);  // a restarted slurmctld needs 5 s to hear all
// slurmd takes a start that follows too soon for the attempt that it has just ended: it knows them
// apart by whole seconds.
constexpr auto kAgainAfter = std::chrono::seconds(3);

// What an earlier look has shown of a job.
struct Seen {
  model::Observation observation;
  bool tail_read = false;
};

// What a person may hold.
struct Known {
  uint32_t id = 0, uid = 0;
  bool pending = false;
};
struct Wish {
  uint32_t id = 0;
  bool hold = false;  // false: release
};

// Whether it may run is the loop's to judge, as for every submission.
model::Submission SubmissionOf(const JobRecord& record, const Marker& marker,
                               const spec::Site& site) {
  model::Submission submission;
  submission.native_id = std::to_string(record.id);
  submission.root_uuid = marker.uuid;
  submission.user = record.user;
  submission.project = record.account;
  submission.interactive = !record.batch;
  submission.submitted_at = FromSeconds(record.submit_s);
  const auto options = ParseOptions(marker.options);
  auto job =
      options ? NativeJob(record, *options, site) : Result<spec::TrainingJob>(options.error());
  if (!job) {
    submission.rejected = job.error().text;
    submission.job = std::make_shared<spec::TrainingJob>();
    return submission;
  }
  if (!job->project.empty()) submission.project = job->project;
  submission.job = std::make_shared<const spec::TrainingJob>(std::move(*job));
  return submission;
}

// What is left of a job that was taken up before: its options. Its size in Slurm is the one that it
// was placed with.
model::Submission AsSubmittedOnce(JobRecord record, const Marker& marker, const spec::Site& site) {
  record.required_nodes.clear();
  record.excluded_nodes.clear();
  record.tasks = record.tasks_per_node = record.mem_per_node_mib = record.mem_per_cpu_mib = 0;
  record.cpus_per_task = 1;
  if (!marker.options.empty()) record.gres_per_node.clear();
  return SubmissionOf(record, marker, site);
}

}  // namespace

struct SlurmSource::State {
  explicit State(const SourceParts& p) : parts(p) {}

  SourceParts parts;
  std::thread thread;
  std::mutex mutex;
  std::condition_variable changed;
  bool kicked = false, stopping = false;
  std::map<std::string, std::chrono::steady_clock::time_point> expected;  // uuid -> until when
  std::chrono::milliseconds glance = kFirstGlance;
  std::map<std::string, Known> known;  // by uuid
  std::vector<Wish> wishes;

  std::shared_ptr<const spec::Site> site;  // of the last look
  int64_t jobs_since = 0, nodes_since = 0;
  std::vector<Partition> partitions;
  Nodes nodes;
  Jobs jobs;
  TimePoint posted_at{}, partitions_at{};
  std::map<uint32_t, Seen> seen;
  std::map<std::string, TimePoint> ready_since, silent_since, troubled_at;

  TimePoint Now() const { return parts.clock->Now(); }
  void Forget() { jobs_since = nodes_since = 0; }

  Result<bool> Read();
  model::Baseline Translate(DeltaSink& sink);
  void AddNodes(model::Baseline& baseline);
  void AddJob(const JobRecord& record, model::Baseline& baseline, DeltaSink& sink);
  void Arrived(const JobRecord& record, const std::string& uuid);
  void Fulfil();
  bool WaitForNextLook();
  model::Observation Observe(const JobRecord& record, const std::string& uuid, DeltaSink& sink);
  void KeepHeld(const JobRecord& record);
  void Mark(const JobRecord& record);
  void OfferAgain(const JobRecord& record, const Marker& marker, model::Baseline& baseline);
  std::string Suspect(const std::vector<std::string>& nodes) const;
  std::string Troubled(const std::vector<std::string>& nodes, TimePoint since) const;
  void ExplainRequeue(const JobRecord& record, const model::Observation& last,
                      model::Observation& ended) const;
  bool Lost(const std::vector<std::string>& nodes) const;
  void Run(DeltaSink& sink, SlurmSource& source);
};

// True when something differs from the last time.
Result<bool> SlurmSource::State::Read() {
  if (partitions.empty() || Now() - partitions_at >= kRepeat) {
    auto read = parts.api->LoadPartitions();
    if (!read) return read.error();
    partitions = std::move(*read);
    partitions_at = Now();
  }
  // Jobs first: when one was requeued because its node went down, the node must show it.
  auto some_jobs = parts.api->LoadJobs(jobs_since);
  if (!some_jobs) return some_jobs.error();
  auto some_nodes = parts.api->LoadNodes(nodes_since);
  if (!some_nodes) return some_nodes.error();
  if (*some_nodes) {
    nodes = std::move(**some_nodes);
    nodes_since = nodes.last_update_s;
  }
  if (*some_jobs) {
    jobs = std::move(**some_jobs);
    jobs_since = jobs.last_update_s;
  }
  return *some_nodes || *some_jobs;
}

// Which of them made the job fail? One that Slurm does not use now; it may be back already.
std::string SlurmSource::State::Suspect(const std::vector<std::string>& names) const {
  for (const NodeRecord& node : nodes.nodes) {
    if (!NotReadyReason(node).empty() &&
        std::find(names.begin(), names.end(), node.name) != names.end())
      return node.name;
  }
  return names.size() == 1 ? names.front() : "";
}

// One that has been out of order, or has begun anew, since then.
std::string SlurmSource::State::Troubled(const std::vector<std::string>& names,
                                         TimePoint since) const {
  for (const NodeRecord& node : nodes.nodes) {
    if (std::find(names.begin(), names.end(), node.name) == names.end()) continue;
    const auto trouble = troubled_at.find(node.name);
    if (FromSeconds(std::max(node.boot_s, node.slurmd_start_s)) > since ||
        (trouble != troubled_at.end() && trouble->second >= since))
      return node.name;
  }
  return "";
}

// Slurm keeps no record of an attempt that it put back into the queue. Where none of its nodes has
// had trouble, and Slurm does not say that the launch failed, somebody has asked for it.
void SlurmSource::State::ExplainRequeue(const JobRecord& record, const model::Observation& last,
                                        model::Observation& ended) const {
  model::Exit& exit = ended.exit.emplace();
  exit.cause = model::Cause::kNode;
  exit.node = Troubled(last.nodes, last.started_at);
  exit.detail = "Slurm put it back into its queue";
  const bool launched = record.reason.find("launch failed") == record.reason.npos;
  if (exit.node.empty() && launched) {
    ended.requeued = "put back into the queue by command (scontrol requeue)";
    ended.again_from = Now() + kAgainAfter;
  }
  if (exit.node.empty()) exit.node = Suspect(last.nodes);
}

bool SlurmSource::State::Lost(const std::vector<std::string>& names) const {
  return std::any_of(names.begin(), names.end(), [this](const std::string& name) {
    const auto found = silent_since.find(name);
    return found != silent_since.end() && Now() - found->second >= kLostAfter;
  });
}

void SlurmSource::State::AddNodes(model::Baseline& baseline) {
  const PoolsOfNodes pools = MapPools(*site, partitions);
  const auto unmanaged = UnmanagedUsage(jobs.jobs, *site);
  for (const NodeRecord& record : nodes.nodes) {
    model::Node node = NodeOf(record, pools);
    if (const auto used = unmanaged.find(record.name); used != unmanaged.end())
      node.unmanaged = used->second;
    if (!node.ready) {
      troubled_at[node.name] = Now();
      ready_since.erase(node.name);
    } else {
      node.ready_since = ready_since.try_emplace(node.name, Now()).first->second;
    }
    const bool silent = record.not_responding || record.state == NodeRecord::State::kDown;
    if (silent) {
      silent_since.try_emplace(node.name, Now());
    } else {
      silent_since.erase(node.name);
    }
    baseline.nodes.push_back(std::move(node));
  }
}

model::Observation SlurmSource::State::Observe(const JobRecord& record, const std::string& uuid,
                                               DeltaSink& sink) {
  using Phase = model::Observation::Phase;
  model::Observation now = ObservationOf(record, uuid);
  Seen& before = seen[record.id];
  const model::Observation& last = before.observation;
  const bool ran = last.phase == Phase::kStarting || last.phase == Phase::kRunning ||
                   last.phase == Phase::kLeaving;
  // Slurm counts a restart at once; it is the old attempt that is still leaving.
  const bool put_back = now.phase == Phase::kLeaving && record.state == JobState::kPending;
  if (put_back && ran) now.attempt = last.attempt;
  if (ran && now.attempt > last.attempt && (!last.exit || !last.requeued.empty())) {
    model::Observation ended = last;
    ended.phase = Phase::kEnded;
    ended.ended_at = Now();
    ExplainRequeue(record, last, ended);
    sink.Post(model::Observed{std::move(ended)});
  }
  if (put_back) {
    now.nodes = last.nodes;
    ExplainRequeue(record, last, now);
  }
  now.contact_lost = now.phase == Phase::kRunning && Lost(now.nodes);
  if (now.exit && now.exit->node.empty()) now.exit->node = Suspect(now.nodes);
  if (now.exit && record.state != JobState::kPending) {
    if (!before.tail_read || last.attempt != now.attempt)
      now.exit->log_tail = LogTail(record.output, record.uid, record.gid);
    else if (last.exit)
      now.exit->log_tail = last.exit->log_tail;
    before.tail_read = now.phase == Phase::kEnded;  // while it is leaving it may still write
  }
  if (last.attempt != now.attempt) before.tail_read = false;
  before.observation = now;
  return now;
}

void SlurmSource::State::KeepHeld(const JobRecord& record) {
  if (record.priority == 0 || HasEnded(record) || parts.shared->IsReleasing(record.id)) return;
  JobUpdate update;
  update.hold = true;
  if (const auto done = parts.api->Update(record.id, update); !done) {
    parts.log->Warn("job could not be held", {{"job", record.id}, {"error", done.error().text}});
  } else if (record.state == JobState::kPending) {
    parts.log->Warn("held a job that was released without Coxswain",
                    {{"job", record.id}, {"user", record.user}});
  }
}

// The loop knows such a job, unless its store is lost: then it is taken up anew, never refused, and
// goes on as what it is.
void SlurmSource::State::OfferAgain(const JobRecord& record, const Marker& marker,
                                    model::Baseline& baseline) {
  model::Submission again = AsSubmittedOnce(record, marker, *site);
  if (again.rejected.empty()) {
    baseline.submissions.push_back(std::move(again));
  } else {
    parts.log->Warn("if the store does not know this job, nobody can say what it asked for",
                    {{"job", record.id}, {"error", again.rejected}});
  }
}

// A job that came past job_submit: it is held and marked, and taken up at the next look.
void SlurmSource::State::Mark(const JobRecord& record) {
  if (HasEnded(record)) return;
  if (record.state != JobState::kPending) {
    parts.log->Warn(
        "a job runs in a managed partition that Coxswain has not seen; is job_submit/cox "
        "configured? It is counted as foreign",
        {{"job", record.id}});
    return;
  }
  JobUpdate update;
  update.hold = true;
  update.admin_comment = "cox:" + lifecycle::NewUuid() + " wait {}";
  if (const auto done = parts.api->Update(record.id, update); !done)
    parts.log->Warn("job could not be marked", {{"job", record.id}, {"error", done.error().text}});
}

void SlurmSource::State::AddJob(const JobRecord& record, model::Baseline& baseline,
                                DeltaSink& sink) {
  const auto marker = ParseMarker(record.admin_comment);
  if (!marker && IsManaged(*site, record.partition)) return Mark(record);
  if (!IsOurs(record, *site)) return;
  KeepHeld(record);
  Arrived(record, marker->uuid);
  if (marker->kind == Marker::Kind::kWait || marker->kind == Marker::Kind::kAccepted) {
    baseline.submissions.push_back(SubmissionOf(record, *marker, *site));
  } else if (!seen.contains(record.id) && !HasEnded(record)) {
    OfferAgain(record, *marker, baseline);
  }
  baseline.attempts.push_back(Observe(record, marker->uuid, sink));
}

model::Baseline SlurmSource::State::Translate(DeltaSink& sink) {
  model::Baseline baseline;
  AddNodes(baseline);
  std::map<uint32_t, Seen> before;
  before.swap(seen);
  {
    std::lock_guard lock(mutex);
    known.clear();
  }
  for (const JobRecord& record : jobs.jobs) {
    if (const auto found = before.find(record.id); found != before.end()) seen.insert(*found);
    AddJob(record, baseline, sink);
  }
  return baseline;
}

SlurmSource::SlurmSource(SourceParts parts) : state_(std::make_unique<State>(parts)) {}

SlurmSource::~SlurmSource() {
  Stop();
}

Result<void> SlurmSource::Look(DeltaSink& sink) {
  State& s = *state_;
  s.Fulfil();
  std::lock_guard no_creations(s.parts.shared->creating);
  auto changed = s.Read();
  if (!changed) {
    s.Forget();
    return changed.error();
  }
  const auto last = std::exchange(s.site, s.parts.shared->site());
  // While a node is silent, time alone may turn that into lost contact.
  const bool same = !*changed && s.silent_since.empty() && s.site == last;
  if (same && s.Now() - s.posted_at < kRepeat) return {};
  sink.Post(s.Translate(sink));
  s.posted_at = s.Now();
  return {};
}

// False: there will be none.
bool SlurmSource::State::WaitForNextLook() {
  std::unique_lock lock(mutex);
  const auto now = std::chrono::steady_clock::now();
  std::erase_if(expected, [now](const auto& one) { return one.second <= now; });
  auto wait = parts.poll;
  if (!expected.empty()) {
    wait = std::min(wait, glance);
    glance *= 2;
  }
  changed.wait_for(lock, wait, [this] { return kicked || stopping; });
  kicked = false;
  return !stopping;
}

void SlurmSource::State::Run(DeltaSink& sink, SlurmSource& source) {
  for (bool away = false; WaitForNextLook();) {
    const auto looked = source.Look(sink);
    if (looked && away) parts.log->Info("slurmctld answers again");
    if (!looked && !away)
      parts.log->Warn("slurmctld does not answer; nothing is decided until it does",
                      {{"error", looked.error().text}});
    away = !looked;
  }
}

Result<void> SlurmSource::Start(DeltaSink& sink) {
  if (auto first = Look(sink); !first) return first.error();
  state_->stopping = false;
  state_->thread = std::thread([this, &sink] { state_->Run(sink, *this); });
  return {};
}

void SlurmSource::Kick() {
  std::lock_guard lock(state_->mutex);
  state_->kicked = true;
  state_->changed.notify_one();
}

void SlurmSource::Expect(const std::string& uuid) {
  std::lock_guard lock(state_->mutex);
  state_->expected[uuid] = std::chrono::steady_clock::now() + kExpect;
  state_->glance = kFirstGlance;
  state_->kicked = true;
  state_->changed.notify_one();
}

void SlurmSource::State::Arrived(const JobRecord& record, const std::string& uuid) {
  std::lock_guard lock(mutex);
  expected.erase(uuid);
  known[uuid] = {record.id, record.uid, record.state == JobState::kPending && !record.completing};
}

MayChange SlurmSource::Change(const std::string& uuid, uint32_t uid, bool hold) {
  std::lock_guard lock(state_->mutex);
  const auto found = state_->known.find(uuid);
  if (found == state_->known.end()) return MayChange::kLater;
  if (uid != found->second.uid && uid != 0 && uid != geteuid()) return MayChange::kNotHis;
  if (!found->second.pending) return MayChange::kStarted;
  state_->wishes.push_back({found->second.id, hold});
  state_->kicked = true;
  state_->changed.notify_one();
  return MayChange::kDone;
}

void SlurmSource::State::Fulfil() {
  std::vector<Wish> now;
  {
    std::lock_guard lock(mutex);
    now.swap(wishes);
  }
  for (const Wish& wish : now) {
    JobUpdate update;
    (wish.hold ? update.user_hold : update.hold) = true;
    const auto done = parts.api->Update(wish.id, update);
    if (done) continue;
    parts.log->Warn(wish.hold ? "job could not be held for its user" : "job could not be let go",
                    {{"job", wish.id}, {"error", done.error().text}});
    if (done.error().code != Code::kUnavailable) continue;
    std::lock_guard lock(mutex);
    wishes.push_back(wish);
  }
}

void SlurmSource::Stop() {
  {
    std::lock_guard lock(state_->mutex);
    state_->stopping = true;
    state_->changed.notify_one();
  }
  if (state_->thread.joinable()) state_->thread.join();
}

}  // namespace cox::slurm
