#include <algorithm>
#include <string_view>

#include "cycle/round.hpp"

namespace cox::cycle {
namespace {

// One ask for each flavor of the candidate.
void AddAsks(Round& round, uint32_t job, const model::Candidate& candidate) {
  if (candidate.source == spec::CapacityType::kIdle) return;  // idle costs nothing (S30)
  std::map<std::string_view, int64_t> units;                  // by flavor
  for (const model::RoleDemand& role : candidate.roles) {
    units[role.flavor] += role.replicas * role.units;
  }
  const host::View& rows = round.board.rows();
  Asks& a = round.asks;
  for (const auto& [flavor, demand] : units) {
    const host::View::Payer& payer = rows.PayerOf(job, candidate, flavor);
    a.job.push_back(job);
    a.capacity.push_back(static_cast<uint32_t>(candidate.source));
    a.pool.push_back(candidate.pool.empty() ? COX_NONE : rows.PoolRow(candidate.pool));
    a.flavor.push_back(rows.FlavorRow(flavor));
    a.units.push_back(demand);
    a.payer.push_back(payer.number);
    a.row.insert(a.row.end(), payer.rows.begin(), payer.rows.end());
    a.row_begin.push_back(static_cast<uint32_t>(a.row.size()));
  }
}

// Asks for the job that is looked at and for some after it: for twice as many as the last time, as
// long as all answers could be used.
void AskAhead(Round& round) {
  Asks& a = round.asks;
  const bool used_up = a.version == round.board.version() && a.to == round.at;
  const size_t count = used_up ? std::max<size_t>(2 * (a.to - a.from), 1) : 1;
  a.version = round.board.version();
  a.from = round.at;
  a.to = std::min(round.at + count, round.order.size());
  const uint32_t first = a.begin[a.candidates[a.from]];
  const uint32_t last = a.begin[a.candidates[a.to]];
  if (first == last) return;
  const std::span<host::Refusal> answers(a.answer.data() + first, last - first);
  round.plugins.Admit(round.board.view(), a.table(first, last), answers);
}

const model::Blocker& Told(Round& round, uint32_t ask, int64_t candidate) {
  if (round.told_version != round.board.version()) round.told.clear();
  round.told_version = round.board.version();
  const Asks& a = round.asks;
  const host::Refusal refusal = a.answer[ask];
  const auto [known, fresh] =
      round.told.try_emplace({refusal.lane(), a.payer[ask], a.units[ask], candidate});
  model::Blocker& blocker = known->second;
  if (!fresh) return blocker;
  const host::Reason reason =
      round.plugins.ExplainQuota(round.board.view(), a.table(ask, ask + 1), 0, refusal);
  blocker.code = reason.code;
  blocker.text = reason.text;
  if (reason.ledger_row != COX_NONE) {
    const model::Owner& owner = round.snapshot.pending[a.job[ask]].owner;
    blocker.text += Holders(round, reason.ledger_row, owner.user);
  }
  blocker.policy = reason.policy;
  blocker.candidate = candidate;
  if (reason.retry_at != kNever) blocker.retry_at = reason.retry_at;
  return blocker;
}

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

cox_asks Asks::table(uint32_t first, uint32_t last) const {
  return {
      sizeof(cox_asks),    last - first,          job.data() + first,   capacity.data() + first,
      pool.data() + first, flavor.data() + first, units.data() + first, row_begin.data() + first,
      row.data()};
}

void CollectAsks(Round& round) {
  if (!round.plugins.Offers(host::Point::kQuota)) return;
  Asks& a = round.asks;
  a.row_begin.push_back(0);
  for (const uint32_t job : round.order) {
    a.candidates.push_back(static_cast<uint32_t>(a.begin.size()));
    for (const model::Candidate& candidate : round.snapshot.pending[job].candidates) {
      a.begin.push_back(static_cast<uint32_t>(a.job.size()));
      AddAsks(round, job, candidate);
    }
  }
  a.candidates.push_back(static_cast<uint32_t>(a.begin.size()));
  a.begin.push_back(static_cast<uint32_t>(a.job.size()));
  a.answer.resize(a.job.size());
}

void Admit(Round& round, Bid& bid) {
  if (auto blocker = NotItsPool(round, bid)) {
    bid.blockers.push_back(std::move(*blocker));
    return;
  }
  bid.admitted = true;
  if (!round.plugins.Offers(host::Point::kQuota)) return;
  const Asks& a = round.asks;
  if (a.version != round.board.version() || round.at >= a.to) AskAhead(round);
  const size_t candidate = a.candidates[round.at] + static_cast<size_t>(bid.index);
  for (uint32_t ask = a.begin[candidate]; ask < a.begin[candidate + 1]; ++ask) {
    if (!a.answer[ask]) continue;
    bid.admitted = false;
    bid.blockers.push_back(Told(round, ask, bid.index));
  }
}

void ChargeBid(Round& round, const Bid& bid) {
  for (const auto& charge : model::Charges(round.job(bid).owner, *bid.candidate)) {
    round.board.Charge(round.board.rows().LedgerRow(charge.key), charge.units);
  }
}

}  // namespace cox::cycle
