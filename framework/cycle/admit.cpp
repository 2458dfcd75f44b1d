#include <algorithm>

#include "cycle/round.hpp"

namespace cox::cycle {
namespace {

// The rows of cox_asks: one ask for each flavor of the candidate, with the ledger rows it counts
// in.
struct Asks {
  std::vector<uint32_t> job, capacity, pool, flavor, row_begin, row;
  std::vector<int64_t> units;

  Asks(const Round& round, const Bid& bid) {
    const host::View& rows = round.board.rows();
    const std::string* last = nullptr;
    const auto charges = model::Charges(round.job(bid).owner, *bid.candidate);
    for (const model::Charge& charge : charges) {  // sorted by flavor
      if (last == nullptr || *last != charge.key.flavor) {
        last = &charge.key.flavor;
        job.push_back(bid.job);
        capacity.push_back(static_cast<uint32_t>(bid.candidate->source));
        pool.push_back(bid.candidate->pool.empty() ? COX_NONE : rows.PoolRow(bid.candidate->pool));
        flavor.push_back(rows.FlavorRow(charge.key.flavor));
        units.push_back(charge.units);
        row_begin.push_back(static_cast<uint32_t>(row.size()));
      }
      row.push_back(rows.LedgerRow(charge.key));
    }
    row_begin.push_back(static_cast<uint32_t>(row.size()));
  }

  cox_asks table() const {
    return {sizeof(cox_asks), static_cast<uint32_t>(job.size()),
            job.data(),       capacity.data(),
            pool.data(),      flavor.data(),
            units.data(),     row_begin.data(),
            row.data()};
  }
};

// S26: a dedicated pool serves its tenant and nobody else; what it lends as idle is another matter.
std::optional<model::Blocker> NotItsPool(const Round& round, const Bid& bid) {
  if (bid.candidate->source == spec::CapacityType::kIdle || !round.snapshot.site) return {};
  const spec::Pool* pool = round.snapshot.site->FindPool(bid.candidate->pool);
  const std::string& tenant = round.job(bid).owner.tenant;
  if (pool == nullptr || !pool->dedicated || pool->tenant == tenant) return {};
  model::Blocker blocker;
  blocker.code = "InsufficientQuota";
  blocker.text = "pool " + pool->name + " is dedicated to tenant " + pool->tenant + "; tenant " +
                 tenant + " has no part in it";
  blocker.candidate = bid.index;
  return blocker;
}

}  // namespace

void Admit(Round& round, Bid& bid) {
  if (auto blocker = NotItsPool(round, bid)) {
    bid.blockers.push_back(std::move(*blocker));
    return;
  }
  bid.admitted = true;
  if (!round.plugins.Offers(host::Point::kQuota)) return;
  const Asks asks(round, bid);
  const cox_asks table = asks.table();
  if (table.count == 0) return;  // idle costs nothing (S30)
  std::vector<host::Refusal> refusals(table.count);
  round.plugins.Admit(round.board.view(), table, refusals);
  for (uint32_t ask = 0; ask < table.count; ++ask) {
    if (!refusals[ask]) continue;
    bid.admitted = false;
    const host::Reason reason =
        round.plugins.ExplainQuota(round.board.view(), table, ask, refusals[ask]);
    model::Blocker blocker;
    blocker.code = reason.code;
    blocker.text = reason.text;
    if (reason.ledger_row != COX_NONE) blocker.text += Holders(round, reason.ledger_row);
    blocker.policy = reason.policy;
    blocker.candidate = bid.index;
    if (reason.retry_at != kNever) blocker.retry_at = reason.retry_at;
    bid.blockers.push_back(std::move(blocker));
  }
}

void ChargeBid(Round& round, const Bid& bid) {
  for (const auto& charge : model::Charges(round.job(bid).owner, *bid.candidate)) {
    round.board.Charge(round.board.rows().LedgerRow(charge.key), charge.units);
  }
}

}  // namespace cox::cycle
