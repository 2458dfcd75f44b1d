// A job that asks for idle capacity of stability high gets only what nobody is entitled to (2.3).
#include "model/stability.hpp"

#include "cycle/round.hpp"
#include "cycle/text.hpp"

namespace cox::cycle {
namespace {

Resources Demand(const model::Candidate& candidate) {
  Resources sum;
  for (const auto& role : candidate.roles) sum += role.resources * role.replicas;
  return sum;
}

}  // namespace

std::optional<model::Blocker> IdleShortage(Round& round, const Bid& bid) {
  const model::Snapshot& snapshot = round.snapshot;
  const model::Candidate& candidate = *bid.candidate;
  if (candidate.source != spec::CapacityType::kIdle ||
      candidate.min_stability != spec::Stability::kHigh) {
    return std::nullopt;
  }
  Resources surplus =
      model::Surplus(*snapshot.site, snapshot.nodes, snapshot.ledger, candidate.pool);
  surplus -= round.idle_high_started;
  for (const model::RunningJob& job : snapshot.running) {
    if (job.capacity == spec::CapacityType::kIdle && job.stability == spec::Stability::kHigh) {
      surplus -= Demand(job.placement.candidate);
    }
  }
  const Resources need = Demand(candidate);
  if (need.FitsIn(surplus)) return std::nullopt;
  model::Blocker blocker;
  blocker.code = "IdleUnavailable";
  blocker.text = "needs " + Amount(need) + " of idle capacity at stability high; capacity beyond " +
                 "all quotas: " + Amount(surplus) + "; a lower minStability offers more";
  blocker.candidate = bid.index;
  return blocker;
}

void CountIdle(Round& round, const Bid& bid) {
  const model::Candidate& candidate = *bid.candidate;
  if (candidate.source == spec::CapacityType::kIdle &&
      candidate.min_stability == spec::Stability::kHigh) {
    round.idle_high_started += Demand(candidate);
  }
}

}  // namespace cox::cycle
