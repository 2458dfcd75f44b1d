// A task: one submitted TrainingJob with all its attempts, from submission to its end. The whole
// record is here; lifecycle/Step is the only code that changes it, run/ stores it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/ids.hpp"
#include "base/time.hpp"
#include "model/gang.hpp"
#include "model/ledger.hpp"
#include "spec/training_job.hpp"

namespace cox::model {

// Semantics 3.3.
enum class State {
  kPending,
  kAdmitted,
  kStarting,
  kRunning,
  kRetrying,
  kPreempting,
  kStopping,
  kDebugHolding,
  kUnknown,
  kSucceeded,
  kFailed,
  kStopped,
};
const char* Name(State state);
bool IsTerminal(State state);
// Does a task in this state hold quota and nodes? Preempting and Stopping do until the last
// process is gone; so does DebugHolding (D10).
bool IsCharged(State state);

// Why an attempt ended, as the adapter saw it. The fault plugin classifies it (2.1).
enum class Cause {
  kExit,
  kOutOfMemory,
  kNode,
  kImage,
  kSetup,
  kLaunch,
  kRuntime,
  kHang,
  kTimeLimit,
  kPreempted,
  kSpotEvicted,
};
const char* Name(Cause cause);

enum class FailureClass { kPreempted, kNonRetryable, kInfra, kHang, kApp };
const char* Name(FailureClass c);

struct Exit {
  Cause cause = Cause::kExit;
  int exit_code = 0;
  int signal = 0;     // not 0: killed by it
  std::string node;   // of the first failing replica, when known
  int64_t rank = -1;  // likewise
  std::string log_tail;
  std::string detail;  // the batch system's own words

  friend bool operator==(const Exit&, const Exit&) = default;
};

struct Attempt {  // S112
  int64_t index = 0;
  std::string uuid;  // TASK_UUID of this attempt (D13)
  TimePoint started_at{}, ended_at{};
  std::vector<std::string> nodes;
  Exit exit;
  std::string failure_class, reason, text, action;  // "App", "ExitCode", "...", "Retry 1/3"

  friend bool operator==(const Attempt&, const Attempt&) = default;
};

struct Exclusion {  // a node that this task's next attempts avoid (2.1)
  std::string node;
  TimePoint until{};
  std::string why;

  friend bool operator==(const Exclusion&, const Exclusion&) = default;
};

struct Task {
  TaskId id;
  std::string root_uuid;  // of the first attempt; names shared folders and links retries
  std::string name;       // generateName + suffix (S3)
  Owner owner;
  std::string org;
  std::shared_ptr<const spec::TrainingJob> job;
  std::vector<Candidate> candidates;  // of `job` on the current site
  TimePoint submitted_at{};
  std::string native_id;  // the batch system's own name for it ("1234"); "" = not created yet
  bool native_interactive = false;  // srun, salloc: cannot be started a second time

  State state = State::kPending;
  std::string reason, message;  // S47, S53
  TimePoint state_since{};
  uint64_t version = 0;  // grows by one with each change; the `gen` of adapters

  int64_t attempt = 0;                 // index of the current one
  std::string attempt_uuid;            // TASK_UUID now
  std::optional<Placement> placement;  // while charged
  TimePoint started_at{};
  TimePoint not_before{};       // back-off, or the end of a hold
  std::string held;             // Pending, by a person: who, and how it is let go; "" = it is not
  TimePoint deadline = kNever;  // of the current state: grace, start time-out, hold, contact lost
  bool leaving = false;         // its processes have been told to go; `deadline` is the next Kill
  std::optional<Exit> pending_exit;  // how this attempt will be judged once its processes are gone
  bool outcome_succeeded = false;    // leaving or DebugHolding: it had ended well before that (D9)
  int64_t start_failures = 0;        // in a row: lost races for nodes, start time-outs

  std::vector<Attempt> attempts;  // ended ones
  int64_t retries_used = 0;       // against maxRetries
  int64_t preemptions = 0, infra_failures = 0, hang_failures = 0, app_failures = 0;
  std::vector<Exclusion> exclusions;
  std::string stopped_by;
  std::string preempted_by;  // name of the task that took its place

  spec::CapacityType effective_capacity() const;  // S27
};

}  // namespace cox::model
