// One order to the batch system. Every action is idempotent, belongs to one attempt of one task
// (its precondition: a late Kill of attempt 1 can never touch attempt 2) and is answered by
// exactly one Outcome delta. Carrying it out decides nothing.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/ids.hpp"
#include "base/time.hpp"
#include "model/gang.hpp"
#include "spec/training_job.hpp"

namespace cox::model {

// Make the native object (a held Slurm job, pods) of a task that came as a specification.
struct Create {
  std::shared_ptr<const spec::TrainingJob> job;
  std::string name, user, project;
  std::vector<std::pair<std::string, std::string>> env;  // the whole contract S60-S65 but ranks
};

// Start the whole gang on exactly these nodes, or nothing of it.
struct Place {
  Placement placement;
  std::vector<std::pair<std::string, std::string>> env;
};

// SIGTERM to every process of the attempt (S55). The grace timer is the framework's.
struct Terminate {};

// SIGKILL; the attempt ends. One that has not started is held again instead, and the Outcome says
// not_started: only the adapter can know which of the two it was.
struct Kill {};

// The attempt has ended; make the native object ready for attempt `next`, held. Answered when it
// is.
struct Requeue {
  int64_t next = 0;
};

// The task has ended; nothing of it may start again, whatever its attempt. Cancels a native object
// that still waits, kills one that runs.
struct Discard {};

// Show the task's state where users of the batch system look.
struct Annotate {
  std::string state, reason, message;
};

struct Action {
  ActionId id;
  TaskId task;
  int64_t attempt = 0;
  uint64_t version = 0;  // of the task that gave the order
  std::string native_id, root_uuid, attempt_uuid;
  std::variant<Create, Place, Terminate, Kill, Requeue, Discard, Annotate> what;
};

}  // namespace cox::model
