#include <map>
#include <string_view>

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
void RankQueue(const Round& round, const std::vector<uint32_t>& order,
               std::vector<model::Explanation>& waiting) {
  std::map<uint64_t, model::Explanation*> by_task;
  for (model::Explanation& e : waiting) by_task.emplace_hint(by_task.end(), e.task.value, &e);
  std::map<std::string_view, Seen> pools, users;
  for (const uint32_t row : order) {
    const model::PendingJob& job = round.snapshot.pending[row];
    const auto mine = by_task.find(job.id.value);
    if (mine == by_task.end()) continue;
    Seen& pool = pools[job.candidates.empty() ? "" : std::string_view(job.candidates[0].pool)];
    Seen& user = users[job.owner.user];
    mine->second->queue = {pool.count, user.count, pool.ahead, user.ahead};
    pool.Add(job.priority);
    user.Add(job.priority);
  }
}

}  // namespace cox::cycle
