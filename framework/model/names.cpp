// The words of the contract for the enumerations of this folder. No default: a new value without a
// name is a compiler warning, and warnings are errors.
#include "model/gang.hpp"
#include "model/task.hpp"

namespace cox::model {

const char* Name(Role role) {
  switch (role) {
    case Role::kMaster:
      return "master";
    case Role::kWorker:
      return "worker";
    case Role::kHead:
      return "head";
    case Role::kSubmitter:
      return "submitter";
  }
  return "?";
}

const char* Name(State state) {
  switch (state) {
    case State::kPending:
      return "Pending";
    case State::kAdmitted:
      return "Admitted";
    case State::kStarting:
      return "Starting";
    case State::kRunning:
      return "Running";
    case State::kRetrying:
      return "Retrying";
    case State::kPreempting:
      return "Preempting";
    case State::kStopping:
      return "Stopping";
    case State::kDebugHolding:
      return "DebugHolding";
    case State::kUnknown:
      return "Unknown";
    case State::kSucceeded:
      return "Succeeded";
    case State::kFailed:
      return "Failed";
    case State::kStopped:
      return "Stopped";
  }
  return "?";
}

const char* Name(Cause cause) {
  switch (cause) {
    case Cause::kExit:
      return "Exit";
    case Cause::kOutOfMemory:
      return "OutOfMemory";
    case Cause::kNode:
      return "Node";
    case Cause::kImage:
      return "Image";
    case Cause::kSetup:
      return "Setup";
    case Cause::kLaunch:
      return "Launch";
    case Cause::kRuntime:
      return "Runtime";
    case Cause::kHang:
      return "Hang";
    case Cause::kTimeLimit:
      return "TimeLimit";
    case Cause::kPreempted:
      return "Preempted";
    case Cause::kSpotEvicted:
      return "SpotEvicted";
  }
  return "?";
}

const char* Name(FailureClass c) {
  switch (c) {
    case FailureClass::kPreempted:
      return "Preempted";
    case FailureClass::kNonRetryable:
      return "NonRetryable";
    case FailureClass::kInfra:
      return "Infra";
    case FailureClass::kHang:
      return "Hang";
    case FailureClass::kApp:
      return "App";
  }
  return "?";
}

}  // namespace cox::model
