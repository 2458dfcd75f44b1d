// A job that asks for idle capacity of stability high gets only what nobody is entitled to (2.3).
#include "model/stability.hpp"

#include "cycle/round.hpp"
#include "cycle/text.hpp"

namespace cox::cycle {

std::optional<model::Blocker> IdleShortage(const Round& round, const Bid& bid) {
  const model::Snapshot& snapshot = round.snapshot;
  const model::Candidate& candidate = *bid.candidate;
  if (!model::UsesSurplus(candidate, candidate.pool)) return std::nullopt;
  Resources surplus =
      model::Surplus(*snapshot.site, snapshot.nodes, snapshot.ledger, candidate.pool);
  const auto take = [&](const model::Candidate& one) {
    if (model::UsesSurplus(one, candidate.pool)) surplus -= model::TotalOf(one);
  };
  for (const model::RunningJob& job : snapshot.running) take(job.placement.candidate);
  for (const model::Start& start : round.decision.starts) take(start.placement.candidate);
  const Resources need = model::TotalOf(candidate);
  if (need.FitsIn(surplus)) return std::nullopt;
  model::Blocker blocker;
  blocker.code = "IdleUnavailable";
  blocker.text = "needs " + Amount(need) + " of idle capacity at stability high; capacity beyond " +
                 "all quotas: " + Amount(surplus) + "; a lower minStability offers more";
  blocker.candidate = bid.index;
  return blocker;
}

}  // namespace cox::cycle
