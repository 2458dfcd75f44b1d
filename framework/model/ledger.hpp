// Who uses how many units of what. Owned by the core: plugins judge, only the ledger counts.
// Usage is derived from live allocations and equals their sum at every moment; Check() proves it.
// Single-threaded (the decision thread); a copy goes into each snapshot. What a decision tries and
// takes back happens on cycle/board's columns, never here (decisions/0030).
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/ids.hpp"
#include "base/result.hpp"
#include "model/gang.hpp"
#include "spec/site.hpp"

namespace cox::model {

struct LedgerKey {  // S40
  spec::QuotaLevel level = spec::QuotaLevel::kTenant;
  std::string subject;
  spec::CapacityType capacity = spec::CapacityType::kReserved;
  std::string pool;  // "" = any pool
  std::string flavor;

  friend auto operator<=>(const LedgerKey&, const LedgerKey&) = default;
};

struct LedgerRow {
  std::optional<int64_t> limit;  // units; none = no quota names this row
  int64_t used = 0;              // units, never negative
};

struct Charge {
  LedgerKey key;
  int64_t units = 0;

  friend bool operator==(const Charge&, const Charge&) = default;
};

struct Owner {
  std::string user, project, tenant;

  friend bool operator==(const Owner&, const Owner&) = default;
};

// What running `candidate` costs `owner`, for the whole gang (S41): each flavor at each level.
// Idle costs nothing (S30).
std::vector<Charge> Charges(const Owner& owner, const Candidate& candidate);

class Ledger {
 public:
  // Limits of the site's quotas; keeps usage. Rows are never dropped while they are used.
  void SetLimits(const std::vector<spec::Quota>& quotas);

  // Charges a task. It holds at most one allocation: a second one takes the place of the first.
  void Allocate(TaskId task, std::vector<Charge> charges);

  // Gives back all that the task holds; no effect when it holds nothing, so a second "it is gone"
  // changes nothing.
  void Release(TaskId task);

  bool Holds(TaskId task) const { return allocations_.contains(task.value); }
  const std::map<LedgerKey, LedgerRow>& rows() const { return rows_; }
  const std::map<uint64_t, std::vector<Charge>>& allocations() const { return allocations_; }

  // sum(allocations) == used for every row, none negative. The error names each row that differs.
  Result<void> Check() const;

 private:
  std::map<LedgerKey, LedgerRow> rows_;
  std::map<uint64_t, std::vector<Charge>> allocations_;  // by task
};

}  // namespace cox::model
