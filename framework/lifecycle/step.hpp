// A task's life, as a pure function: the only state machine (semantics 3.3), driven equally by
// every adapter. No clock, I/O, log, lock or global.
//
// What always holds: a task holds a placement exactly while its state is charged; it is charged
// until its last process is gone; a terminal state is never left; each transition emits one event;
// the version grows with each change. An event that does not apply (late, doubled, for another
// attempt) changes nothing.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/result.hpp"
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

// The adapter's answer to one order. run/outbox knows from the action's id which one it was, and
// never passes on Unavailable: it asks again.
struct Answered {
  enum class Order { kCreate, kPlace, kTerminate, kKill, kRequeue, kDiscard, kAnnotate };
  Order order = Order::kPlace;
  int64_t attempt = 0;
  std::optional<Error> error;
  std::string native_id;     // kCreate
  bool not_started = false;  // kKill
};

using Event =
    std::variant<Admit, Preempt, Stop, Wait, Tick, Answered, model::Observation, model::NativeGone>;

struct Limits {                // from the site
  Duration start_timeout{};    // Admitted or Starting longer than this: GangStartTimeout
  Duration unknown_timeout{};  // Unknown longer than this: given up as NodeUnreachable
  Duration kill_timeout = std::chrono::seconds(60);  // after Kill: ask again
};

// GangStartTimeouts in a row after which a task is given up: it would hold nodes for ever in turns.
inline constexpr int64_t kMaxStartTimeouts = 5;

// What the site's fault plugins say about a failure; host::Plugins::Judge in the product.
using FaultJudge = std::function<host::FaultVerdict(const cox_failure&)>;

struct StepResult {
  model::Task task;
  std::vector<model::Action> actions;  // ids not set; run/outbox numbers them
  std::vector<model::TaskEvent> events;
};

// A task that has just been accepted: Pending, its first event, its Create if it has no native
// object.
StepResult Begin(model::Task task, TimePoint now);

// A submission by the batch system's own door that cannot be accepted: Failed, `Rejected`.
StepResult Refuse(model::Task task, const std::string& why, TimePoint now);

StepResult Step(model::Task task, const Event& event, TimePoint now, const Limits& limits,
                const FaultJudge& judge);

// The orders that a task's state calls for, whoever may have given them before: what is sent again
// after a restart or when no answer came. Each is idempotent.
std::vector<model::Action> Orders(const model::Task& task, TimePoint now);

}  // namespace cox::lifecycle
