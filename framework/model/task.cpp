#include "model/task.hpp"

namespace cox::model {

bool IsTerminal(State state) {
  return state == State::kSucceeded || state == State::kFailed || state == State::kStopped;
}

bool IsCharged(State state) {
  switch (state) {
    case State::kAdmitted:
    case State::kStarting:
    case State::kRunning:
    case State::kPreempting:
    case State::kStopping:
    case State::kDebugHolding:
    case State::kUnknown:  // Why: its processes may well be alive behind the lost contact
      return true;
    case State::kPending:
    case State::kRetrying:
    case State::kSucceeded:
    case State::kFailed:
    case State::kStopped:
      return false;
  }
  return false;
}

spec::CapacityType Task::effective_capacity() const {
  if (placement) return placement->candidate.source;
  return job->scheduling.capacity_type;
}

}  // namespace cox::model
