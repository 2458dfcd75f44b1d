#include "simulate/queue.hpp"

#include <algorithm>
#include <utility>

namespace cox::simulate {
namespace {

// Equal texts, equal jobs. One that has been evicted has its own age, so it is like no other.
std::string Likeness(const model::PendingJob& job) {
  std::string text = job.owner.user + '\n' + job.owner.project + '\n' + job.owner.tenant;
  const auto add = [&](int64_t number) { text += ' ' + std::to_string(number); };
  if (job.attempt > 0) add(static_cast<int64_t>(job.id.value));
  add(static_cast<int64_t>(job.capacity));
  add(static_cast<int64_t>(job.priority));
  add(job.guaranteed ? 1 : 0);
  add(job.time_limit_seconds.value_or(-1));
  text += '\n' + job.topology.required + '\n' + job.topology.preferred;
  add(job.spread ? 1 : 0);
  for (const model::Candidate& candidate : job.candidates) {
    text += '\n' + candidate.pool;
    add(static_cast<int64_t>(candidate.source));
    add(static_cast<int64_t>(candidate.min_stability));
    for (const model::RoleDemand& role : candidate.roles) {
      text += '\n' + role.flavor;
      add(static_cast<int64_t>(role.role));
      add(role.units);
      add(role.replicas);
    }
  }
  return text;
}

}  // namespace

void Queue::Put(model::PendingJob row) {
  const auto at = std::ranges::lower_bound(shown_, row.id, {}, &model::PendingJob::id);
  if (at != shown_.end() && at->id == row.id) {
    *at = std::move(row);
    return;
  }
  Line& line = lines_[Likeness(row)];
  const auto [hidden, fresh] = line.hidden.insert_or_assign(row.id.value, std::move(row));
  size_ += fresh ? 1 : 0;
  Show(line, few_);
}

void Queue::Drop(TaskId id) {
  const auto known = line_of_.find(id.value);
  if (known == line_of_.end()) return;
  Line& line = *known->second;
  line_of_.erase(known);
  const auto at = std::ranges::lower_bound(shown_, id, {}, &model::PendingJob::id);
  shown_.erase(at);
  --line.shown;
  --size_;
  Show(line, few_);
}

// Until so many are shown.
void Queue::Show(Line& line, size_t count) {
  while (!line.hidden.empty() && (few_ == 0 || line.shown < count)) {
    const auto first = line.hidden.begin();
    model::PendingJob row = std::move(first->second);
    line.hidden.erase(first);
    line_of_[row.id.value] = &line;
    const auto at = std::ranges::lower_bound(shown_, row.id, {}, &model::PendingJob::id);
    shown_.insert(at, std::move(row));
    ++line.shown;
  }
}

bool Queue::More(const model::Decision& made) {
  if (few_ == 0) return false;
  std::map<Line*, size_t> served;
  const auto count = [&](TaskId id) {
    const auto known = line_of_.find(id.value);
    if (known != line_of_.end()) ++served[known->second];
  };
  for (const model::Start& start : made.starts) count(start.task);
  for (const model::Nomination& nomination : made.nominations) count(nomination.task);
  bool more = false;
  for (const auto& [line, times] : served) {
    if (times < line->shown || line->hidden.empty()) continue;
    Show(*line, 2 * line->shown);
    more = true;
  }
  return more;
}

}  // namespace cox::simulate
