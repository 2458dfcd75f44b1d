// Orders on their way to the adapter. Numbers them, lets at most one of a kind be on its way for a
// task's attempt, turns outcomes back into answers, and notices the ones that never come. It never
// repeats an order by itself: Due() names the task, and what its state calls for by then is sent.
// So a restart, a lost outcome and an Unavailable adapter are one case.
//
// Owner: the loop; decision thread only. Ids are unique over restarts: the upper half counts the
// starts of the store.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <tuple>
#include <vector>

#include "adapter.hpp"
#include "base/ids.hpp"
#include "base/time.hpp"
#include "lifecycle/step.hpp"
#include "model/action.hpp"
#include "model/delta.hpp"

namespace cox::run {

class Outbox {
 public:
  Outbox(Actuator& actuator, uint64_t starts) : actuator_(actuator), next_id_(starts << 32 | 1) {}

  // Drops what is already on its way. A second Annotate of a task waits for the first one's
  // outcome; of several, only the newest is kept.
  void Send(std::vector<model::Action> actions, TimePoint now);

  struct Settled {
    TaskId task;
    lifecycle::Answered answer;
  };
  // None: the outcome is late, doubled, of an earlier process, or the order is tried again.
  std::optional<Settled> Settle(const model::Outcome& outcome, TimePoint now);

  // Tasks with an order that is to be tried again. Each is named once; the order is forgotten.
  std::vector<TaskId> Due(TimePoint now);
  TimePoint NextDue() const;

  uint64_t sent() const { return sent_; }
  uint64_t overdue() const { return overdue_; }
  uint64_t late() const { return late_; }

 private:
  using Order = lifecycle::Answered::Order;
  using Key = std::tuple<uint64_t, int64_t, Order>;  // task, attempt, kind
  struct InFlight {
    Key key;
    TimePoint sent_at{};
    std::optional<model::Action> annotation;  // to be sent again as it is
  };
  struct Retry {
    TimePoint at{};
    int failures = 0;
    bool waits = false;  // false: its order is on its way again
  };

  static Key KeyOf(const model::Action& action);
  void Forget(uint64_t id);
  void ReadyAnnotation(uint64_t task);

  Actuator& actuator_;
  uint64_t next_id_;
  std::map<uint64_t, InFlight> in_flight_;  // by action id
  std::map<Key, uint64_t> ids_;             // of what is in flight
  std::map<Key, Retry> retries_;
  std::map<uint64_t, model::Action> next_annotation_;  // by task
  std::vector<model::Action> ready_;                   // annotations whose turn has come
  uint64_t sent_ = 0, overdue_ = 0, late_ = 0;
};

}  // namespace cox::run
