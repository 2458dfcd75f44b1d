// Stability of idle capacity (2.3). High is what no quota entitles anybody to. Medium is what is
// entitled but was not used at the peak of a window; until a usage history is kept the window is
// this moment, so medium and low offer the same: all that is idle now.
#include <algorithm>
#include <array>
#include <map>

#include "cycle/round.hpp"
#include "cycle/text.hpp"

namespace cox::cycle {
namespace {

Resources Demand(const model::Candidate& candidate) {
  Resources sum;
  for (const auto& role : candidate.roles) sum += role.resources * role.replicas;
  return sum;
}

bool Lends(const spec::Pool& pool, const std::string& wanted) {
  return pool.lends_idle && (wanted.empty() || wanted == pool.name);
}

// What quotas promise in these pools: for each pool and flavor the total of the highest level that
// has a quota, as lower levels only divide what the higher one grants.
Resources Entitled(const model::Snapshot& snapshot, const std::string& wanted) {
  std::map<std::array<std::string, 2>, std::pair<spec::QuotaLevel, int64_t>> by_flavor;
  for (const auto& [key, row] : snapshot.ledger.rows()) {
    const spec::Pool* pool = snapshot.site->FindPool(key.pool);
    if (!row.limit || key.capacity == spec::CapacityType::kSpot) continue;
    if (pool == nullptr || !Lends(*pool, wanted)) continue;
    const auto [total, fresh] = by_flavor.try_emplace({key.pool, key.flavor}, key.level, 0);
    if (key.level == total->second.first) total->second.second += *row.limit;
  }
  Resources sum;
  for (const auto& [where, total] : by_flavor) {
    const spec::Flavor* flavor = snapshot.site->FindFlavor(where[1]);
    if (flavor != nullptr) sum += flavor->unit * total.second;
  }
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
  Resources surplus;
  for (const model::Node& node : snapshot.nodes) {
    const bool lent = std::ranges::any_of(node.pools, [&](const std::string& name) {
      const spec::Pool* pool = snapshot.site->FindPool(name);
      return pool != nullptr && Lends(*pool, candidate.pool);
    });
    if (lent && node.ready) surplus += node.capacity;
  }
  surplus -= Entitled(snapshot, candidate.pool);
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
