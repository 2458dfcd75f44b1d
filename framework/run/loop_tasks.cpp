#include <utility>

#include "lifecycle/uuid.hpp"
#include "run/accept.hpp"
#include "run/loop_state.hpp"

namespace cox::run {
namespace {

lifecycle::Limits LimitsOf(const spec::Site& site) {
  lifecycle::Limits limits;
  limits.start_timeout = std::chrono::seconds(site.start_timeout_seconds);
  limits.unknown_timeout = std::chrono::seconds(site.unknown_timeout_seconds);
  return limits;
}

}  // namespace

void Loop::State::On(const model::Delta& delta, TimePoint now) {
  if (const auto* outcome = std::get_if<model::Outcome>(&delta)) {
    if (const auto settled = outbox.Settle(*outcome, now)) {
      StepTask(settled->task, settled->answer, now);
    }
    return;
  }
  if (const auto* submission = std::get_if<model::Submission>(&delta)) {
    LogRefusal(*submission, Accept(*submission, now));
    return;
  }
  dirty = true;
  const bool first = !cluster.has_baseline();
  const auto* baseline = std::get_if<model::Baseline>(&delta);
  if (baseline != nullptr) {  // first, so that what is seen of a new job finds it: held, running
    for (const model::Submission& s : baseline->submissions) LogRefusal(s, Accept(s, now));
  }
  for (const auto& [task, event] : cluster.Apply(delta, now)) StepTask(task, event, now);
  if (baseline != nullptr && first) Resume(now);
}

void Loop::State::Resume(TimePoint now) {
  for (const auto& [id, task] : cluster.tasks()) {
    if (model::IsTerminal(task->state)) continue;
    Order(lifecycle::Orders(*task, now));
  }
}

void Loop::State::LogRefusal(const model::Submission& submission,
                             const Result<std::string>& accepted) {
  if (accepted || parts.log == nullptr) return;
  parts.log->Info("submission refused",
                  {{"native", submission.native_id}, {"why", accepted.error().text}});
}

void Loop::State::LogEnd(const model::Task& task) {
  if (parts.log == nullptr) return;
  parts.log->Info("job ended", {{"job", task.name},
                                {"native", task.native_id},
                                {"user", task.owner.user},
                                {"state", model::Name(task.state)},
                                {"reason", task.reason},
                                {"attempts", static_cast<int64_t>(task.attempts.size())}});
}

void Loop::State::Take(lifecycle::StepResult result) {
  const uint64_t id = result.task.id.value;
  const auto before = cluster.Find(result.task.id);
  const bool changed = before == nullptr || before->version != result.task.version;
  for (model::TaskEvent& event : result.events) batch.events.push_back(std::move(event));
  Order(std::move(result.actions));
  if (!changed) return;
  // Without a native object, or held, a task cannot be placed; with one, or let go, it can.
  if (before != nullptr && before->native_id != result.task.native_id) dirty = true;
  if (before != nullptr && before->held != result.task.held) dirty = true;
  if (before != nullptr && before->state != result.task.state) {
    dirty = true;
    if (result.task.state == model::State::kRetrying) ++counters.retries;
    if (result.task.reason == "BindConflict") ++counters.bind_conflicts;
    if (model::IsTerminal(result.task.state)) LogEnd(result.task);
  }
  cluster.Put(std::move(result.task));
  batch.tasks[id] = cluster.Find(TaskId{id});
}

void Loop::State::StepTask(TaskId id, const lifecycle::Event& event, TimePoint now) {
  const auto task = cluster.Find(id);
  if (task == nullptr) return;
  const auto judge = [&](const cox_failure& failure) {
    return parts.config.plugins->Judge(failure);
  };
  Take(lifecycle::Step(*task, event, now, LimitsOf(*parts.config.site), judge));
}

std::string Loop::State::Unsupported(const spec::TrainingJob& job) const {
  return parts.unsupported ? parts.unsupported(job) : "";
}

Result<std::string> Loop::State::Accept(model::Submission submission, TimePoint now) {
  if (!submission.root_uuid.empty() || !submission.native_id.empty()) {
    const auto known = cluster.FindNative(submission.native_id, submission.root_uuid);
    if (known != nullptr) return known->name;
  }
  if (submission.rejected.empty() && submission.job)
    submission.rejected = Unsupported(*submission.job);
  Accepted accepted =
      run::Accept(submission, *parts.config.site, *parts.config.plugins, TaskId{next_task}, now);
  const bool no_trace = !accepted.refused.empty() && submission.native_id.empty();
  if (no_trace) return InvalidArgument(accepted.refused);  // 3.3: rejected, no object
  batch.next_task = ++next_task;
  dirty = true;
  const std::string name = accepted.begun.task.name;
  Take(std::move(accepted.begun));
  if (!accepted.refused.empty()) return InvalidArgument(accepted.refused);
  return name;
}

void Loop::State::Order(std::vector<model::Action> more) {
  for (model::Action& order : more) orders.push_back(std::move(order));
}

}  // namespace cox::run
