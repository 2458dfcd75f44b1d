#include "model/stability.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

namespace cox::model {
namespace {

bool Lends(const spec::Pool* pool, const std::string& wanted) {
  return pool != nullptr && pool->lends_idle && (wanted.empty() || wanted == pool->name);
}

// What quotas promise in these pools: for each pool and flavor the total of the highest level that
// has a quota, as lower levels only divide what the higher one grants.
Resources Entitled(const spec::Site& site, const Ledger& ledger, const std::string& wanted) {
  std::map<std::array<std::string, 2>, std::pair<spec::QuotaLevel, int64_t>> by_flavor;
  for (const auto& [key, row] : ledger.rows()) {
    if (!row.limit || key.capacity == spec::CapacityType::kSpot) continue;
    if (!Lends(site.FindPool(key.pool), wanted)) continue;
    const auto [total, fresh] = by_flavor.try_emplace({key.pool, key.flavor}, key.level, 0);
    if (key.level == total->second.first) total->second.second += *row.limit;
  }
  Resources sum;
  for (const auto& [where, total] : by_flavor) {
    const spec::Flavor* flavor = site.FindFlavor(where[1]);
    if (flavor != nullptr) sum += flavor->unit * total.second;
  }
  return sum;
}

}  // namespace

Resources Surplus(const spec::Site& site, std::span<const Node> nodes, const Ledger& ledger,
                  const std::string& pool) {
  Resources surplus;
  for (const Node& node : nodes) {
    const bool lent = std::ranges::any_of(
        node.pools, [&](const std::string& name) { return Lends(site.FindPool(name), pool); });
    if (lent && node.ready) surplus += node.capacity;
  }
  return surplus - Entitled(site, ledger, pool);
}

bool UsesSurplus(const Candidate& candidate, const std::string& pool) {
  return candidate.source == spec::CapacityType::kIdle &&
         candidate.min_stability == spec::Stability::kHigh &&
         (pool.empty() || candidate.pool.empty() || candidate.pool == pool);
}

}  // namespace cox::model
