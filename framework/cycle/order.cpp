#include <algorithm>
#include <numeric>

#include "cycle/round.hpp"

namespace cox::cycle {
namespace {

bool IsIdle(const model::PendingJob& job) {
  return job.capacity == spec::CapacityType::kIdle;
}

}  // namespace

void Order(Round& round) {
  const auto& pending = round.snapshot.pending;
  std::vector<int64_t> rank(pending.size());
  if (round.plugins.Offers(host::Point::kPriority)) {
    round.plugins.Rank(round.board.view(), rank);
  } else {
    std::ranges::transform(pending, rank.begin(), [](const auto& job) {
      return IsIdle(job) ? 0 : static_cast<int64_t>(job.priority);
    });
  }
  std::vector<uint32_t>& order = round.order;
  order.resize(pending.size());
  std::iota(order.begin(), order.end(), 0U);
  std::ranges::sort(order, [&](uint32_t a, uint32_t b) {
    // Idle has no priority (S31): it takes what all others leave, else it would be evicted at once.
    if (IsIdle(pending[a]) != IsIdle(pending[b])) return IsIdle(pending[b]);
    if (rank[a] != rank[b]) return rank[a] > rank[b];
    if (pending[a].submitted_at != pending[b].submitted_at) {
      return pending[a].submitted_at < pending[b].submitted_at;
    }
    return pending[a].id < pending[b].id;
  });
}

}  // namespace cox::cycle
