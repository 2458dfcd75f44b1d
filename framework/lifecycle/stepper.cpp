#include "lifecycle/stepper.hpp"

#include <algorithm>
#include <set>

#include "lifecycle/env_contract.hpp"
#include "lifecycle/uuid.hpp"

namespace cox::lifecycle {
namespace {

std::string DescribePlacement(const model::Placement& placement) {
  std::set<std::string> flavors;
  for (const auto& role : placement.candidate.roles) flavors.insert(role.flavor);
  std::string text = "flavor=";
  for (const auto& flavor : flavors) text += (text.back() == '=' ? "" : ",") + flavor;
  return text + ", source=" + spec::Name(placement.candidate.source);
}

bool Shown(const model::Task& a, const model::Task& b) {
  return a.state == b.state && a.reason == b.reason && a.message == b.message &&
         a.native_id == b.native_id;
}

}  // namespace

void Stepper::Enter(State to, std::string reason, std::string message, bool warning) {
  task_.state = to;
  task_.state_since = now_;
  task_.reason = std::move(reason);
  task_.message = std::move(message);
  Touch();
  events_.push_back(
      {task_.id, task_.attempt, task_.version, now_, warning, task_.reason, task_.message});
}

void Stepper::Note(std::string reason, std::string message, bool warning) {
  if (task_.reason == reason && task_.message == message) return;
  const bool news = task_.reason != reason;
  task_.reason = std::move(reason);
  task_.message = std::move(message);
  Touch();
  if (!news) return;
  events_.push_back(
      {task_.id, task_.attempt, task_.version, now_, warning, task_.reason, task_.message});
}

void Stepper::Give(What what) {
  model::Action action;
  action.task = task_.id;
  action.attempt = task_.attempt;
  action.attempt_uuid = task_.attempt_uuid;
  action.what = std::move(what);
  actions_.push_back(std::move(action));
}

StepResult Stepper::Finish() && {
  // Annotations go first: some systems take no reason with a Kill, so it must be there already.
  if (!task_.native_id.empty() && !Shown(before_, task_)) {
    Give(model::Annotate{model::Name(task_.state), task_.reason, task_.message});
    std::rotate(actions_.begin(), actions_.end() - 1, actions_.end());
  }
  for (model::Action& action : actions_) {
    action.version = task_.version;
    action.native_id = task_.native_id;
    action.root_uuid = task_.root_uuid;
  }
  return {std::move(task_), std::move(actions_), std::move(events_)};
}

Duration Stepper::Grace() const {
  return std::chrono::seconds(task_.job->scheduling.termination_grace_period_seconds);
}

void Stepper::Leave(TimePoint kill_at) {
  task_.leaving = true;
  task_.deadline = kill_at;
}

void Stepper::AskToLeave() {
  Leave(now_ + Grace());
  Give(model::Terminate{});
}

void Stepper::KillNow() {
  Leave(now_ + limits_.kill_timeout);
  Give(model::Kill{});
}

// ---- What the cycle says ----

void Stepper::On(const Admit& event) {
  if (task_.state != State::kPending || task_.native_id.empty()) return;
  task_.placement = event.placement;
  task_.deadline = now_ + limits_.start_timeout;
  Enter(State::kAdmitted, "Admitted", DescribePlacement(event.placement));
  Give(model::Place{event.placement, EnvContract(task_)});
}

void Stepper::On(const Wait& event) {
  if (task_.state == State::kPending) Note(event.reason, event.message);
}

void Stepper::On(const Preempt& event) {
  if (!model::IsCharged(task_.state) || task_.leaving) return;
  const char* reason = event.spot_reclaim ? "SpotEvicted" : "Preempted";
  task_.preempted_by = event.by;
  if (task_.state == State::kDebugHolding) {  // its outcome stands; only the hold is cut short
    AskToLeave();
    Note(reason, event.message, true);
    return;
  }
  task_.pending_exit = ExitOf(
      event.spot_reclaim ? model::Cause::kSpotEvicted : model::Cause::kPreempted, event.message);
  const bool may_not_have_started = task_.state == State::kAdmitted;
  Enter(State::kPreempting, reason, event.message, true);
  if (may_not_have_started) {
    KillNow();
  } else {
    AskToLeave();
  }
}

// ---- What a person says ----

void Stepper::On(const Stop& event) {
  if (model::IsTerminal(task_.state) || task_.state == State::kStopping) return;
  task_.stopped_by = event.by;
  const std::string message = "StoppedBy=" + event.by;
  if (!model::IsCharged(task_.state)) {  // Pending, Retrying: no process, nothing to wait for
    Finish(State::kStopped, "StoppedBy", message);
    return;
  }
  const bool already_leaving = task_.leaving;
  const bool may_not_have_started = task_.state == State::kAdmitted;
  Enter(State::kStopping, "StopRequested", message);
  if (already_leaving) return;  // the Kill of whatever made it leave stays due
  if (may_not_have_started) {
    KillNow();
  } else {
    AskToLeave();
  }
}

// ---- What time says ----

void Stepper::Withdraw(std::string text) {
  task_.pending_exit = ExitOf(model::Cause::kLaunch, text);
  KillNow();
  Note("GangStartTimeout", std::move(text), true);
}

void Stepper::On(const Tick&) {
  if (task_.deadline > now_ || !model::IsCharged(task_.state)) return;
  if (task_.leaving) {
    KillNow();
    Touch();
    return;
  }
  switch (task_.state) {
    case State::kAdmitted:
    case State::kStarting: {
      const auto limit = std::chrono::duration_cast<std::chrono::seconds>(limits_.start_timeout);
      Withdraw("not all replicas started within " + std::to_string(limit.count()) + " s");
      return;
    }
    case State::kUnknown:
      task_.pending_exit = ExitOf(model::Cause::kNode, task_.message);
      KillNow();
      Note("NodeUnreachable", "given up: " + task_.message, true);
      return;
    case State::kDebugHolding:
      AskToLeave();
      Note("HoldExpired", "the debug hold is over");
      return;
    default:
      return;
  }
}

// ---- What the adapter answers ----

void Stepper::On(const Answered& event) {
  if (event.order == Answered::Order::kCreate) {
    if (event.error) {
      if (task_.state == State::kPending && task_.native_id.empty()) {
        Finish(State::kFailed, "CreateFailed", event.error->text);
      }
    } else if (task_.native_id.empty() && !event.native_id.empty()) {
      task_.native_id = event.native_id;
      Touch();
      if (model::IsTerminal(task_.state)) Give(model::Discard{});  // stopped while it was made
    }
    return;
  }
  if (event.attempt != task_.attempt) return;
  Answer(event);
}

void Stepper::Answer(const Answered& event) {
  switch (event.order) {
    case Answered::Order::kPlace:
      // Without an error there is nothing to do: the observation says when it starts.
      if (event.error && task_.state == State::kAdmitted && !task_.leaving) {
        NotStarted("BindConflict", event.error->text);
      }
      return;
    case Answered::Order::kKill:
      if (event.error || !event.not_started || !task_.leaving) return;
      if (task_.state == State::kStopping) return End(nullptr, false);
      if (task_.state == State::kPreempting || task_.state == State::kAdmitted ||
          task_.state == State::kStarting) {
        NotStarted(task_.reason, task_.message);  // nothing is lost: back to the queue as it was
      }
      return;
    case Answered::Order::kRequeue:
      if (task_.state != State::kRetrying) return;
      if (event.error) {
        Finish(State::kFailed, "RequeueFailed",
               "the batch system cannot run it once more: " + event.error->text);
      } else {
        NextAttempt(task_.attempt + 1);
      }
      return;
    default:
      return;
  }
}

// ---- The whole ----

StepResult Begin(model::Task task, TimePoint now) {
  const Limits limits;
  const FaultJudge judge;
  task.attempt_uuid = AttemptUuid(task.root_uuid, task.attempt);
  Stepper stepper(std::move(task), now, limits, judge);
  stepper.Enter(model::State::kPending, "Queued", "waiting for the first scheduling cycle");
  StepResult result = std::move(stepper).Finish();
  for (model::Action& order : Orders(result.task, now)) result.actions.push_back(std::move(order));
  return result;
}

StepResult Refuse(model::Task task, const std::string& why, TimePoint now) {
  const Limits limits;
  const FaultJudge judge;
  task.attempt_uuid = AttemptUuid(task.root_uuid, task.attempt);
  Stepper stepper(std::move(task), now, limits, judge);
  stepper.Enter(model::State::kFailed, "Rejected", why, true);
  StepResult result = std::move(stepper).Finish();
  for (model::Action& order : Orders(result.task, now)) result.actions.push_back(std::move(order));
  return result;
}

StepResult Step(model::Task task, const Event& event, TimePoint now, const Limits& limits,
                const FaultJudge& judge) {
  Stepper stepper(std::move(task), now, limits, judge);
  std::visit([&](const auto& e) { stepper.On(e); }, event);
  return std::move(stepper).Finish();
}

}  // namespace cox::lifecycle
