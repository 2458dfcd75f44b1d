// What happened to a task, for people: one event a transition, kept in the store, never changed.
#pragma once

#include <string>

#include "base/ids.hpp"
#include "base/time.hpp"

namespace cox::model {

struct TaskEvent {
  TaskId task;
  int64_t attempt = 0;
  uint64_t version = 0;  // of the task after it: monotone
  TimePoint at{};
  bool warning = false;
  std::string reason;  // "Admitted", "Preempted", "MountPathShadowsImage", ...
  std::string message;

  friend bool operator==(const TaskEvent&, const TaskEvent&) = default;
};

}  // namespace cox::model
