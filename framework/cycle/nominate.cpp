#include <algorithm>

#include "cycle/round.hpp"

namespace cox::cycle {
namespace {

// A bound for victims whose end is not known yet, as their grace only begins.
constexpr Duration kFirstBound = std::chrono::minutes(10);

const model::PendingJob* FindPending(const model::Snapshot& snapshot, TaskId task) {
  const auto job = std::ranges::lower_bound(snapshot.pending, task, {}, &model::PendingJob::id);
  return job != snapshot.pending.end() && job->id == task ? &*job : nullptr;
}

// Still wanted, still possible? Otherwise the nodes go back to everybody in this very cycle.
bool Stands(const Round& round, const model::Nomination& nomination) {
  const model::Snapshot& s = round.snapshot;
  const model::PendingJob* job = FindPending(s, nomination.task);
  if (job == nullptr || !job->held.empty() || s.now < job->not_before ||
      s.now >= nomination.expires_at) {
    return false;
  }
  if (std::ranges::find(job->candidates, nomination.placement.candidate) == job->candidates.end()) {
    return false;
  }
  return std::ranges::all_of(nomination.placement.replicas, [&](const model::Replica& replica) {
    const uint32_t node = round.board.rows().NodeRow(replica.node);
    return node != COX_NONE && s.nodes[node].ready;
  });
}

}  // namespace

void KeepNominations(Round& round) {
  for (const model::Nomination& nomination : round.snapshot.nominations) {
    if (!Stands(round, nomination)) continue;
    round.nominees[nomination.task.value] = nomination;
    round.board.Hold(FindPending(round.snapshot, nomination.task)->owner, nomination.placement);
  }
}

std::optional<model::Nomination> LetGo(Round& round, uint32_t row) {
  const model::PendingJob& job = round.snapshot.pending[row];
  const auto mine = round.nominees.find(job.id.value);
  if (mine == round.nominees.end()) return std::nullopt;
  const model::Nomination nomination = mine->second;
  round.nominees.erase(mine);
  round.board.Hold(job.owner, nomination.placement, -1);
  round.no_room.clear();  // there is more room than when these were written
  round.hopeless.clear();
  return nomination;
}

void Nominate(Round& round, const Bid& bid, const Seats& seats,
              const std::optional<model::Nomination>& before) {
  const model::PendingJob& job = round.job(bid);
  model::Nomination nomination{job.id, ToPlacement(round, bid, seats), {}};
  std::set<std::string> nodes;
  for (const model::Replica& replica : nomination.placement.replicas) nodes.insert(replica.node);

  const TimePoint unknown = before ? before->expires_at : round.snapshot.now + kFirstBound;
  for (uint32_t r = 0; r < round.snapshot.running.size(); ++r) {
    const model::RunningJob& other = round.snapshot.running[r];
    const bool fresh = round.evicted.contains(r);
    if (!fresh && !other.leaving) continue;
    const bool here = std::ranges::any_of(other.placement.replicas, [&](const auto& replica) {
      return nodes.contains(replica.node);
    });
    if (!here) continue;
    const TimePoint end = fresh                       ? round.snapshot.now + kFirstBound
                          : other.leaves_by == kNever ? unknown
                                                      : other.leaves_by + kLeaveMargin;
    nomination.expires_at = std::max(nomination.expires_at, end);
  }
  round.board.Hold(job.owner, nomination.placement);
  round.nominees[job.id.value] = std::move(nomination);
}

}  // namespace cox::cycle
