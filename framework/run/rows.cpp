#include "run/rows.hpp"

namespace cox::run {

model::PendingJob PendingRow(const model::Task& task) {
  model::PendingJob row;
  row.id = task.id;
  row.name = task.name;
  row.owner = task.owner;
  row.capacity = task.job->scheduling.capacity_type;
  row.priority = task.job->scheduling.priority;
  row.guaranteed = !task.job->scheduling.preemptible;
  row.submitted_at = task.submitted_at;
  row.attempt = task.attempt;
  row.waiting_since = task.state_since;
  row.not_before = task.not_before;
  row.held = task.held;
  row.time_limit_seconds = task.job->time_limit_seconds;
  row.topology = task.job->scheduling.topology;
  row.spread = task.job->scheduling.spread;
  row.candidates = task.candidates;
  return row;
}

model::RunningJob RunningRow(const model::Task& task, TimePoint now) {
  model::RunningJob row;
  row.id = task.id;
  row.name = task.name;
  row.owner = task.owner;
  row.capacity = task.placement->candidate.source;
  row.stability = task.placement->candidate.min_stability;
  row.priority = task.job->scheduling.priority;
  row.guaranteed = !task.job->scheduling.preemptible;
  row.submitted_at = task.submitted_at;
  row.started_at = task.started_at;
  row.attempt = task.attempt;
  row.leaving = task.leaving;
  if (task.leaving) row.leaves_by = task.deadline;
  if (task.job->time_limit_seconds) {
    const TimePoint start = task.started_at == TimePoint{} ? now : task.started_at;
    row.ends_by = start + std::chrono::seconds(*task.job->time_limit_seconds);
  }
  row.placement = *task.placement;
  return row;
}

}  // namespace cox::run
