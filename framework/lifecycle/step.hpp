// A task's life, as a pure function: the only state machine (semantics 3.3), driven equally by
// every adapter. No clock, I/O, log, lock or global.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/time.hpp"
#include "host/plugins.hpp"
#include "model/action.hpp"
#include "model/delta.hpp"
#include "model/event.hpp"
#include "model/task.hpp"

namespace cox::lifecycle {

struct Admit {  // the cycle found room: quota and nodes are charged from here on
  model::Placement placement;
};
struct Preempt {
  std::string message;  // S53's text, unbroken
  std::string by;       // name of the preemptor
  bool spot_reclaim = false;
};
struct Stop {  // by a person
  std::string by;
};
struct Wait {  // the cycle found no room: why (shown while Pending)
  std::string reason, message;
};
struct Tick {};  // time has passed; deadlines are looked at

// What the batch system shows (model::Observation, NativeGone) or answered (Outcome).
using Event = std::variant<Admit, Preempt, Stop, Wait, Tick, model::Observation, model::NativeGone,
                           model::Outcome>;

struct Limits {  // from the site
  Duration start_timeout{};    // Starting longer than this: back to Pending, GangStartTimeout
  Duration unknown_timeout{};  // Unknown longer than this: Failed, NodeUnreachable
  Duration kill_timeout = std::chrono::seconds(60);  // after Kill: ask again
};

struct StepResult {
  model::Task task;
  std::vector<model::Action> actions;  // ids not set; run/outbox numbers them
  std::vector<model::TaskEvent> events;
};

// An event that does not apply (late, doubled, for another attempt) changes nothing.
StepResult Step(model::Task task, const Event& event, TimePoint now, const Limits& limits,
                host::Plugins& plugins);

}  // namespace cox::lifecycle
