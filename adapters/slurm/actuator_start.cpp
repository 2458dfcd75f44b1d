#include <algorithm>

#include "base/account.hpp"
#include "slurm/actuator_state.hpp"
#include "slurm/marker.hpp"
#include "slurm/translate.hpp"

namespace cox::slurm {

// ---- Create ----

Result<uint32_t> SlurmActuator::State::Made(const model::Action& action,
                                            const model::Create& order) {
  auto all = api().LoadJobs(0);
  if (!all) return all.error();
  for (const JobRecord& record : (*all)->jobs) {  // the answer to an earlier Create was lost
    const auto marker = ParseMarker(record.admin_comment);
    if (marker && marker->uuid == action.root_uuid) return record.id;
  }
  const auto account = FindAccount(order.user);
  if (!account && account.error().code == Code::kNotFound)
    return InvalidArgument(account.error().text);
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
  if (HasEnded(*record)) return Conflict(StateText(*record));
  if (IsHeldByUser(*record)) return Conflict(StateText(*record) + ", held by its user");
  if (record->state == JobState::kPending && record->completing)
    return Unavailable(StateText(*record) + ", its last attempt is still leaving");
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
    return Result<void>(Conflict(StateText(record) + " on " + CompressNodes(record.nodes) +
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
    if (record && !HasEnded(*record) && !record->user_hold) {
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

}  // namespace cox::slurm
