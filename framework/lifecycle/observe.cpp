// What the batch system shows. Level-triggered: each observation states what is, so it is compared
// with the task and only what is new has an effect.
#include <algorithm>
#include <set>

#include "lifecycle/stepper.hpp"

namespace cox::lifecycle {
namespace {

using Phase = model::Observation::Phase;

bool IsWaiting(Phase phase) {
  return phase == Phase::kHeld || phase == Phase::kReleased;
}

bool HasProcesses(Phase phase) {
  return phase == Phase::kStarting || phase == Phase::kRunning;
}

std::string Joined(const std::vector<std::string>& names) {
  std::string text;
  for (const auto& name : names) text += (text.empty() ? "" : ",") + name;
  return text;
}

// The candidate that explains a placement which we did not make: the first of the right size.
model::Candidate Explains(const model::Task& task, size_t nodes) {
  for (const model::Candidate& candidate : task.candidates) {
    int64_t replicas = 0;
    for (const auto& role : candidate.roles) replicas += role.replicas;
    if (replicas == static_cast<int64_t>(nodes)) return candidate;
  }
  return task.candidates.empty() ? model::Candidate{} : task.candidates.front();
}

model::Placement PlacementOn(const model::Task& task, const std::vector<std::string>& nodes) {
  model::Placement placement;
  placement.candidate = Explains(task, nodes.size());
  int64_t rank = 0;
  for (const auto& role : placement.candidate.roles) {
    for (int64_t i = 0; i < role.replicas; ++i, ++rank) {
      if (nodes.empty()) return placement;
      const std::string& node = nodes[static_cast<size_t>(rank) % nodes.size()];
      placement.replicas.push_back({role.role, rank, node, role.resources});
    }
  }
  return placement;
}

}  // namespace

void Stepper::On(const model::Observation& seen) {
  if (seen.attempt < task_.attempt) return;
  if (task_.native_id.empty() && !seen.native_id.empty()) {  // the answer to Create was lost
    task_.native_id = seen.native_id;
    Touch();
  }
  if (model::IsTerminal(task_.state)) return ShowsTerminal(seen);
  if (task_.state == State::kRetrying) return ShowsRetrying(seen);
  if (seen.attempt > task_.attempt) return Jump(seen);
  if (task_.state == State::kPending) return ShowsPending(seen);
  ShowsCharged(seen);
}

// Terminal is terminal: whatever still waits or runs of it shall not (complaint Q2).
void Stepper::ShowsTerminal(const model::Observation& seen) {
  if (IsWaiting(seen.phase) || HasProcesses(seen.phase)) Give(model::Discard{});
}

void Stepper::ShowsRetrying(const model::Observation& seen) {
  if (seen.attempt == task_.attempt) {
    // Our Requeue has not been carried out yet; a user may cancel the job meanwhile.
    if (seen.cancelled && seen.phase == Phase::kEnded && !seen.cancelled_by.empty() &&
        seen.cancelled_by == task_.owner.user) {
      task_.stopped_by = seen.cancelled_by;
      Finish(State::kStopped, "StoppedBy", "StoppedBy=" + seen.cancelled_by);
    }
    return;
  }
  // A hold that comes with a requeue that we ordered is the batch system's, not a person's: the
  // order is not carried out before it is gone, whoever died in the middle of it.
  const bool ordered = task_.reason != "Requeued";
  if (ordered && !seen.held.empty() && seen.attempt == task_.attempt + 1)
    return Give(model::Requeue{seen.attempt});
  NextAttempt(seen.attempt);
  ShowsPending(seen);
}

// Held by a person, or let go; its time in the queue begins when it is let go.
void Stepper::Hold(const std::string& held) {
  if (task_.held == held) return;
  if (held.empty()) task_.not_before = std::max(task_.not_before, now_);
  task_.held = held;
  Touch();
}

void Stepper::ShowsPending(const model::Observation& seen) {
  Hold(seen.phase == Phase::kHeld ? seen.held : "");
  switch (seen.phase) {
    case Phase::kHeld:
      return;
    case Phase::kReleased:
      Give(model::Kill{});
      return;  // somebody let it loose: hold it again
    case Phase::kStarting:
    case Phase::kRunning:
      return Adopt(seen);
    case Phase::kLeaving:
      return;
    case Phase::kEnded:
      return Gone(seen);
  }
}

// It runs though we did not place it: a restart lost the decision, or an administrator started it
// by hand. It is charged and kept, never killed (complaint X2).
void Stepper::Adopt(const model::Observation& seen) {
  task_.placement = PlacementOn(task_, seen.nodes);
  Enter(State::kAdmitted, "Adopted",
        "runs on " + Joined(seen.nodes) + " though Coxswain did not place it there", true);
  ShowsCharged(seen);
}

void Stepper::Started(const model::Observation& seen) {
  FollowNodes(seen);
  if (seen.phase == Phase::kStarting) {
    if (task_.state == State::kStarting) return;
    task_.deadline = now_ + limits_.start_timeout;
    Enter(State::kStarting, "Starting", "the batch system has given it its nodes");
    return;
  }
  task_.started_at = seen.started_at == TimePoint{} ? now_ : seen.started_at;
  task_.start_failures = 0;
  task_.deadline = kNever;
  Enter(State::kRunning, "Started", "all replicas run");
}

// The truth about where it runs is the batch system's.
void Stepper::FollowNodes(const model::Observation& seen) {
  auto& replicas = task_.placement->replicas;
  std::set<std::string> ours, theirs(seen.nodes.begin(), seen.nodes.end());
  for (const auto& replica : replicas) ours.insert(replica.node);
  if (theirs.empty() || ours == theirs || seen.nodes.size() != replicas.size()) return;
  for (size_t i = 0; i < replicas.size(); ++i) replicas[i].node = seen.nodes[i];
  Note("PlacedElsewhere", "the batch system runs it on " + Joined(seen.nodes), true);
}

void Stepper::ShowsCharged(const model::Observation& seen) {
  if (seen.phase == Phase::kEnded) return Gone(seen);
  if (task_.leaving) return;
  const bool holds = task_.state == State::kDebugHolding;
  if (seen.phase == Phase::kLeaving && (seen.cancelled || !holds)) return Lingers(seen);

  switch (task_.state) {
    case State::kAdmitted:  // still waiting: the Place is under way, or the start time-out decides
      if (HasProcesses(seen.phase)) Started(seen);
      break;
    case State::kStarting:
      if (IsWaiting(seen.phase))
        return NotStarted("BindConflict", "back in the batch system's queue");
      if (seen.phase == Phase::kRunning) Started(seen);
      break;
    case State::kRunning:
    case State::kUnknown:
      // The same attempt waits: the batch system has lost the start, as a crashed slurmctld does,
      // and ends what it finds running of it. Had it requeued the job, this were the next attempt.
      if (IsWaiting(seen.phase))
        return NotStarted("StartLost", "the batch system forgot that it had started");
      break;
    default:
      return;
  }

  if (task_.state == State::kRunning && seen.contact_lost) {
    task_.deadline = now_ + limits_.unknown_timeout;
    Enter(State::kUnknown, "NodeUnreachable",
          "a node of " + Joined(seen.nodes) + " does not answer", true);
  } else if (task_.state == State::kUnknown && !seen.contact_lost &&
             seen.phase == Phase::kRunning) {
    task_.deadline = kNever;
    Enter(State::kRunning, "ContactRestored", "all nodes answer again");
  }
}

// It has ended, processes may still be there: it stays charged until they are gone.
void Stepper::Lingers(const model::Observation& seen) {
  if (seen.cancelled) {
    task_.stopped_by = seen.cancelled_by;
    Leave(now_ + limits_.kill_timeout);
    Enter(State::kStopping, "StopRequested", "StoppedBy=" + seen.cancelled_by);
    return;
  }
  if (!seen.requeued.empty()) {  // nothing has failed, so nothing is to be judged
    Leave(now_ + Grace() + limits_.kill_timeout);
    return Note("Requeued", seen.requeued);
  }
  task_.pending_exit = seen.exit;
  task_.outcome_succeeded = !seen.exit;
  const bool holds = task_.job->type == spec::TaskType::kRayJob && task_.job->ray.debug_enabled;
  if (holds) {  // S102, S103
    task_.deadline = now_ + std::chrono::seconds(task_.job->ray.debug_hold_seconds);
    const std::string outcome = seen.exit ? Describe(*seen.exit) : "succeeded";
    Enter(State::kDebugHolding, "DebugHolding",
          "holdUntil=" + std::to_string(ToSeconds(task_.deadline)) + ", outcome: " + outcome);
    return;
  }
  Leave(now_ + Grace() + limits_.kill_timeout);
  Note("Ending", seen.exit ? Describe(*seen.exit) : "ended, processes are going");
}

void Stepper::Gone(const model::Observation& seen) {
  // Once we have told it to go, its end is ours, even if the system calls that a cancellation.
  if (seen.cancelled && !task_.leaving) {
    task_.stopped_by = seen.cancelled_by;
    Finish(State::kStopped, "StoppedBy", "StoppedBy=" + seen.cancelled_by);
    return;
  }
  if (!seen.requeued.empty() && !task_.pending_exit &&
      (task_.state == State::kStarting || task_.state == State::kRunning ||
       task_.state == State::kUnknown)) {
    return RunAgain(seen);
  }
  End(seen.exit ? &*seen.exit : nullptr, true);
}

// The batch system has restarted it without being told (an administrator, its own node-failure
// rule): the attempt that we knew is over, and how it ended will never be known.
void Stepper::Jump(const model::Observation& seen) {
  if (task_.state == State::kPending) {
    NextAttempt(seen.attempt);
  } else {
    const model::Exit exit = ExitOf(model::Cause::kNode, "the batch system restarted it by itself");
    End(&exit, true);
    if (model::IsTerminal(task_.state)) return;
    NextAttempt(seen.attempt);
  }
  actions_.clear();  // a Requeue: it has already happened
  ShowsPending(seen);
}

void Stepper::On(const model::NativeGone& event) {
  if (model::IsTerminal(task_.state) || task_.native_id.empty()) return;
  if (!event.native_id.empty() && event.native_id != task_.native_id) return;
  static const std::string kText = "the batch system no longer knows the job";
  if (!model::IsCharged(task_.state)) {
    Finish(State::kFailed, "NativeGone", kText);
    return;
  }
  const model::Exit exit = ExitOf(model::Cause::kNode, kText);
  End(&exit, false, kText);
}

}  // namespace cox::lifecycle
