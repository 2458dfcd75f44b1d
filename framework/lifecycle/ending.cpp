// How an attempt is judged once its last process is gone, and what comes next (semantics 2.1).
#include <algorithm>
#include <csignal>
#include <cstring>

#include "base/backoff.hpp"
#include "lifecycle/stepper.hpp"
#include "lifecycle/user_rule.hpp"
#include "lifecycle/uuid.hpp"

namespace cox::lifecycle {
namespace {

constexpr Duration kFirstWait = std::chrono::seconds(10);  // after a gang that did not start
constexpr Duration kLastWait = std::chrono::seconds(360);

cox_str View(const std::string& text) {
  return {text.data(), text.size()};
}

bool IsPreemption(model::Cause cause) {
  return cause == model::Cause::kPreempted || cause == model::Cause::kSpotEvicted;
}

cox_failure FailureOf(const model::Task& task, const model::Exit& exit) {
  const spec::FailurePolicy& policy = task.job->failure_policy;
  cox_failure failure{};
  failure.struct_size = sizeof failure;
  failure.cause = static_cast<uint32_t>(exit.cause);
  failure.exit_code = exit.exit_code;
  failure.signal = exit.signal;
  failure.enabled = policy.enabled;
  failure.policy = static_cast<uint32_t>(policy.policy);
  failure.user_rule = MatchRule(policy.rules, exit);
  failure.max_retries = static_cast<int32_t>(policy.max_retries);
  failure.max_preemption_retries = static_cast<int32_t>(policy.max_preemption_retries);
  failure.attempt = static_cast<uint32_t>(task.attempt);
  failure.retries_used = static_cast<uint32_t>(task.retries_used);
  failure.preemptions = static_cast<uint32_t>(task.preemptions);
  failure.infra_failures = static_cast<uint32_t>(task.infra_failures);
  failure.hang_failures = static_cast<uint32_t>(task.hang_failures);
  failure.app_failures = static_cast<uint32_t>(task.app_failures);
  failure.exclude_enabled = policy.exclude_failed_nodes;
  failure.exclude_ttl_ns = Duration(std::chrono::seconds(policy.exclude_ttl_seconds)).count();
  failure.log_tail = View(exit.log_tail);
  return failure;
}

static_assert(static_cast<int>(model::Cause::kSpotEvicted) == COX_CAUSE_SPOT_EVICTED);
static_assert(static_cast<int>(spec::FailurePolicyKind::kNever) == COX_POLICY_NEVER);
static_assert(static_cast<int>(model::FailureClass::kApp) == COX_CLASS_APP);

void Count(model::Task& task, model::FailureClass failure_class) {
  switch (failure_class) {
    case model::FailureClass::kPreempted:
      ++task.preemptions;
      break;
    case model::FailureClass::kInfra:
      ++task.infra_failures;
      break;
    case model::FailureClass::kHang:
      ++task.hang_failures;
      break;
    case model::FailureClass::kApp:
      ++task.app_failures;
      break;
    case model::FailureClass::kNonRetryable:
      break;
  }
}

// The framework's own bounds; a plugin can be stricter, never laxer. "" = may be retried.
std::string Forbids(const model::Task& task, const host::FaultVerdict& verdict, bool preempted) {
  const spec::FailurePolicy& policy = task.job->failure_policy;
  if (!policy.enabled) return "fault tolerance is off";
  if (task.native_interactive) return "an interactive job cannot be started a second time";
  if (preempted) {
    if (policy.max_preemption_retries >= 0 && task.preemptions > policy.max_preemption_retries) {
      return "maxPreemptionRetries " + std::to_string(policy.max_preemption_retries) +
             " is used up";
    }
    return "";
  }
  if (verdict.counts && task.retries_used >= policy.max_retries) {
    return "maxRetries " + std::to_string(policy.max_retries) + " is used up";
  }
  return "";
}

// The first failing replica's exit is the cause; what comes later is its echo. But a later report
// may know more about the same end.
void Complete(model::Exit& first, const model::Exit& later) {
  if (first.log_tail.empty()) first.log_tail = later.log_tail;
  if (first.node.empty()) {
    first.node = later.node;
    first.rank = later.rank;
  }
}

}  // namespace

std::string Describe(const model::Exit& exit) {
  if (IsPreemption(exit.cause)) return exit.detail;
  std::string text;
  if (exit.signal != 0) {
    const char* name = sigabbrev_np(exit.signal);
    text = "killed by signal " + std::to_string(exit.signal) +
           (name == nullptr ? "" : " (SIG" + std::string(name) + ")");
  } else if (exit.cause == model::Cause::kExit) {
    text = "exit code " + std::to_string(exit.exit_code);
  } else {
    text = model::Name(exit.cause);
  }
  if (!exit.node.empty()) text += " on " + exit.node;
  if (exit.rank >= 0) text += ", rank " + std::to_string(exit.rank);
  if (!exit.detail.empty()) text += ": " + exit.detail;
  return text;
}

void Stepper::End(const model::Exit* exit, bool restartable, const std::string& why_not) {
  switch (task_.state) {
    case State::kStopping:
      Record(exit, "", "StoppedBy", task_.message, "");
      return Finish(State::kStopped, "StoppedBy", task_.message);
    case State::kDebugHolding:
      if (task_.outcome_succeeded) {
        Record(nullptr, "", "Completed", "", "");
        return Finish(State::kSucceeded, "Completed", "succeeded; the debug hold has ended");
      }
      return Judge(*task_.pending_exit, false, "the job was debugged");
    default:
      break;
  }
  const bool withdrawn = task_.leaving && task_.pending_exit &&
                         (task_.state == State::kAdmitted || task_.state == State::kStarting) &&
                         task_.pending_exit->cause == model::Cause::kLaunch;
  if (withdrawn) {
    const model::Exit launch = *task_.pending_exit;
    ++task_.start_failures;
    if (!restartable || task_.native_interactive || task_.start_failures >= kMaxStartTimeouts) {
      return Judge(launch, false,
                   task_.native_interactive ? "an interactive job cannot be started a second time"
                   : restartable ? "it did not start " + std::to_string(task_.start_failures) +
                                       " times in a row"
                                 : why_not);
    }
    Record(&launch, "", "GangStartTimeout", launch.detail, "Start again");
    ReleasePlacement();
    task_.not_before = now_ + Backoff(kFirstWait, kLastWait, task_.start_failures - 1);
    Enter(State::kRetrying, "GangStartTimeout", launch.detail, true);
    return Give(model::Requeue{task_.attempt + 1});
  }
  if (task_.pending_exit) {
    model::Exit first = *task_.pending_exit;
    if (exit != nullptr) Complete(first, *exit);
    return Judge(first, restartable, why_not);
  }
  const bool succeeded = exit == nullptr || (task_.leaving && task_.outcome_succeeded);
  if (!succeeded) return Judge(*exit, restartable, why_not);
  Record(nullptr, "", "Completed", "", "");
  Finish(State::kSucceeded, "Completed", "all replicas ended with success");
}

// Nothing of this attempt has started, so the batch system still has it, held, as the same attempt.
void Stepper::NotStarted(const std::string& reason, const std::string& text) {
  ++task_.start_failures;
  const bool timed_out = reason == "GangStartTimeout";
  if (timed_out && task_.start_failures >= kMaxStartTimeouts) {
    return Judge(ExitOf(model::Cause::kLaunch, text), false,
                 "it did not start " + std::to_string(task_.start_failures) + " times in a row");
  }
  ReleasePlacement();
  const int64_t before = task_.start_failures - 1;
  task_.not_before =
      now_ + (timed_out ? Backoff(kFirstWait, kLastWait, before)
                        : Backoff(std::chrono::seconds(1), std::chrono::seconds(60), before));
  Enter(State::kPending, reason, text, true);
}

void Stepper::Judge(const model::Exit& exit, bool restartable, const std::string& why_not) {
  const bool preempted = IsPreemption(exit.cause);
  host::FaultVerdict verdict = judge_(FailureOf(task_, exit));
  if (preempted) {  // 2.1, second row: never against maxRetries, whatever a plugin says
    verdict.failure_class = model::FailureClass::kPreempted;
    verdict.counts = false;
  }
  Count(task_, verdict.failure_class);
  std::string forbidden = restartable ? Forbids(task_, verdict, preempted) : why_not;
  const bool retry = verdict.retry && forbidden.empty();

  std::string message = Describe(exit);
  if (!preempted) {  // S53's text stands alone
    message = std::string(model::Name(verdict.failure_class)) + ": " + message;
    if (!verdict.text.empty()) message += "; " + verdict.text;
  }
  if (retry) return Retry(verdict, exit, message);

  std::string reason = verdict.reason.empty() ? model::Name(exit.cause) : verdict.reason;
  if (preempted) reason = exit.cause == model::Cause::kSpotEvicted ? "SpotEvicted" : "Preempted";
  if (task_.reason == "NodeUnreachable" || task_.reason == "GangStartTimeout")
    reason = task_.reason;
  if (verdict.retry && !forbidden.empty()) message += "; not retried: " + forbidden;
  Record(&exit, model::Name(verdict.failure_class), reason, message, "Fail");
  Finish(State::kFailed, std::move(reason), std::move(message));
}

void Stepper::Retry(const host::FaultVerdict& verdict, const model::Exit& exit,
                    const std::string& message) {
  const spec::FailurePolicy& policy = task_.job->failure_policy;
  std::string action = "Retry, not counted";
  if (verdict.counts) {
    ++task_.retries_used;
    action =
        "Retry " + std::to_string(task_.retries_used) + "/" + std::to_string(policy.max_retries);
  }
  if (verdict.exclude_node && policy.exclude_failed_nodes && !exit.node.empty()) {
    const Duration ttl = verdict.exclude_ttl > Duration{0}
                             ? verdict.exclude_ttl
                             : Duration(std::chrono::seconds(policy.exclude_ttl_seconds));
    auto& list = task_.exclusions;
    std::erase_if(list, [&](const auto& e) { return e.node == exit.node || e.until <= now_; });
    list.push_back({exit.node, now_ + ttl, Describe(exit)});
  }
  Record(&exit, model::Name(verdict.failure_class), verdict.reason, message, action);
  ReleasePlacement();
  task_.not_before = now_ + verdict.backoff;
  const std::string scheduled = verdict.counts ? "RetryScheduled" + action.substr(5) + ": "
                                               : std::string("RetryScheduled (not counted): ");
  Enter(State::kRetrying, "RetryScheduled", scheduled + message, true);
  Give(model::Requeue{task_.attempt + 1});
}

// A person had the batch system put it back: no failure, so it costs no retry and is not judged.
void Stepper::RunAgain(const model::Observation& seen) {
  Record(nullptr, "", "Requeued", seen.requeued, "Start again");
  ReleasePlacement();
  task_.not_before = std::max(now_, seen.again_from);
  Enter(State::kRetrying, "Requeued", seen.requeued);  // without an order: it has been done
}

void Stepper::Record(const model::Exit* exit, const std::string& failure_class,
                     const std::string& reason, const std::string& text,
                     const std::string& action) {
  model::Attempt attempt;
  attempt.index = task_.attempt;
  attempt.uuid = task_.attempt_uuid;
  attempt.started_at = task_.started_at;
  attempt.ended_at = now_;
  if (task_.placement) {
    for (const auto& replica : task_.placement->replicas) attempt.nodes.push_back(replica.node);
  }
  if (exit != nullptr) attempt.exit = *exit;
  attempt.failure_class = failure_class;
  attempt.reason = reason;
  attempt.text = text;
  attempt.action = action;
  task_.attempts.push_back(std::move(attempt));
}

void Stepper::ReleasePlacement() {
  task_.placement.reset();
  task_.pending_exit.reset();
  task_.leaving = false;
  task_.deadline = kNever;
}

void Stepper::Finish(State state, std::string reason, std::string message) {
  if (state != State::kStopped) task_.outcome_succeeded = state == State::kSucceeded;  // D9
  ReleasePlacement();
  Enter(state, std::move(reason), std::move(message), state == State::kFailed);
  if (!task_.native_id.empty()) Give(model::Discard{});
}

void Stepper::NextAttempt(int64_t attempt) {
  const std::string reason = task_.state == State::kPending ? "Requeued" : task_.reason;
  const std::string message =
      task_.state == State::kPending ? "the batch system restarted it by itself" : task_.message;
  task_.attempt = attempt;
  task_.attempt_uuid = AttemptUuid(task_.root_uuid, attempt);
  task_.started_at = TimePoint{};
  task_.outcome_succeeded = false;
  Enter(State::kPending, reason, message);
}

}  // namespace cox::lifecycle
