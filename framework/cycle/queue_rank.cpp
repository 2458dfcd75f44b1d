#include <map>

#include "cycle/round.hpp"

namespace cox::cycle {
namespace {

struct Seen {
  int64_t count = 0;
  model::QueueRank::Ahead ahead;

  void Add(spec::Priority priority) {
    ++count;
    ++(priority == spec::Priority::kHigh     ? ahead.high
       : priority == spec::Priority::kMedium ? ahead.medium
                                             : ahead.low);
  }
};

}  // namespace

// A job stands in the queue of the pool that it asks for first. Jobs that start do not count.
void RankQueue(Round& round) {
  const host::View& rows = round.board.rows();
  const auto& pending = round.snapshot.pending;
  std::vector<model::Explanation*> by_row(pending.size());
  uint32_t row = 0;
  for (model::Explanation& e : round.decision.waiting) {  // both by id
    while (pending[row].id != e.task) ++row;
    by_row[row] = &e;
  }
  std::map<uint32_t, Seen> pools;
  std::vector<Seen> users(rows.table().users->count);
  for (const uint32_t job : round.order) {
    if (by_row[job] == nullptr) continue;
    const auto& candidates = pending[job].candidates;
    Seen& pool = pools[candidates.empty() ? COX_NONE : rows.PoolRow(candidates[0].pool)];
    Seen& user = users[rows.table().pending->user[job]];
    by_row[job]->queue = {pool.count, user.count, pool.ahead, user.ahead};
    pool.Add(pending[job].priority);
    user.Add(pending[job].priority);
  }
}

}  // namespace cox::cycle
