#include "model/ledger.hpp"

#include <algorithm>
#include <utility>

namespace cox::model {
namespace {

// "project nlp reserved/team-shared/h100.1g", as it stands in texts for people.
std::string Describe(const LedgerKey& key) {
  return std::string(spec::Name(key.level)) + " " + key.subject + " " + spec::Name(key.capacity) +
         "/" + (key.pool.empty() ? "*" : key.pool) + "/" + key.flavor;
}

}  // namespace

std::vector<Charge> Charges(const Owner& owner, const Candidate& candidate) {
  if (candidate.source == spec::CapacityType::kIdle) return {};
  std::map<std::string, int64_t> units;  // by flavor
  for (const RoleDemand& role : candidate.roles) units[role.flavor] += role.replicas * role.units;

  // Reserved capacity is bought in one pool. Limits of on-demand and spot may span the pools, so
  // these count in the row of any pool too.
  std::vector<std::string> pools = {candidate.pool};
  if (candidate.source != spec::CapacityType::kReserved && !candidate.pool.empty()) {
    pools.insert(pools.begin(), "");
  }
  std::vector<Charge> charges;
  for (const auto& [flavor, amount] : units) {
    for (const std::string& pool : pools) {
      const auto charge = [&](spec::QuotaLevel level, const std::string& subject) {
        charges.push_back({{level, subject, candidate.source, pool, flavor}, amount});
      };
      charge(spec::QuotaLevel::kTenant, owner.tenant);
      charge(spec::QuotaLevel::kProject, owner.project);
      charge(spec::QuotaLevel::kUser, owner.user);
    }
  }
  return charges;
}

// A row exists exactly while it has a limit or is used. So undoing an allocation leaves no trace.

void Ledger::SetLimits(const std::vector<spec::Quota>& quotas) {
  for (auto& [key, row] : rows_) row.limit.reset();
  for (const spec::Quota& q : quotas) {
    LedgerRow& row = rows_[{q.level, q.subject, q.capacity_type, q.pool, q.flavor}];
    row.limit = std::min(row.limit.value_or(q.units), q.units);
  }
  std::erase_if(rows_,
                [](const auto& entry) { return !entry.second.limit && entry.second.used == 0; });
}

void Ledger::Allocate(TaskId task, std::vector<Charge> charges) {
  Release(task);
  std::erase_if(charges, [](const Charge& charge) { return charge.units == 0; });
  for (const Charge& charge : charges) rows_[charge.key].used += charge.units;
  allocations_[task.value] = std::move(charges);
}

void Ledger::Release(TaskId task) {
  const auto held = allocations_.find(task.value);
  if (held == allocations_.end()) return;
  for (const Charge& charge : held->second) {
    const auto row = rows_.find(charge.key);
    row->second.used -= charge.units;
    if (row->second.used == 0 && !row->second.limit) rows_.erase(row);
  }
  allocations_.erase(held);
}

Result<void> Ledger::Check() const {
  std::map<LedgerKey, int64_t> sums;
  for (const auto& [task, charges] : allocations_) {
    for (const Charge& charge : charges) sums[charge.key] += charge.units;
  }
  std::string wrong;
  for (const auto& [key, row] : rows_) {
    const auto sum = sums.find(key);
    const int64_t live = sum == sums.end() ? 0 : sum->second;
    if (row.used == live && row.used >= 0) continue;
    wrong += (wrong.empty() ? "" : "; ") + Describe(key) + ": used " + std::to_string(row.used) +
             ", live allocations " + std::to_string(live);
  }
  for (const auto& [key, live] : sums) {
    if (!rows_.contains(key)) {
      wrong += (wrong.empty() ? "" : "; ") + Describe(key) + ": no row, live allocations " +
               std::to_string(live);
    }
  }
  if (wrong.empty()) return {};
  return Internal("ledger: " + wrong);
}

}  // namespace cox::model
