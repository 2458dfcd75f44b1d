#include <algorithm>
#include <numeric>

#include "cycle/round.hpp"

namespace cox::cycle {
namespace {

// Without a priority plugin: the levels of S56, and idle, which has none (S31), behind them all.
int64_t DefaultRank(const model::PendingJob& job) {
  return job.capacity == spec::CapacityType::kIdle ? -1 : static_cast<int64_t>(job.priority);
}

}  // namespace

void Order(Round& round) {
  const auto& pending = round.snapshot.pending;
  std::vector<int64_t> rank(pending.size());
  if (round.plugins.Offers(host::Point::kPriority)) {
    round.plugins.Rank(round.board.view(), rank);
  } else {
    std::ranges::transform(pending, rank.begin(), DefaultRank);
  }
  std::vector<uint32_t>& order = round.order;
  order.resize(pending.size());
  std::iota(order.begin(), order.end(), 0U);
  std::ranges::sort(order, [&](uint32_t a, uint32_t b) {
    if (rank[a] != rank[b]) return rank[a] > rank[b];
    if (pending[a].submitted_at != pending[b].submitted_at) {
      return pending[a].submitted_at < pending[b].submitted_at;
    }
    return pending[a].id < pending[b].id;
  });
}

}  // namespace cox::cycle
