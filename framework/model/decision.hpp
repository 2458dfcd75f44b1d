// What one cycle decided, and why each job that still waits does so.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/ids.hpp"
#include "base/time.hpp"
#include "model/gang.hpp"
#include "model/snapshot.hpp"

namespace cox::model {

struct Start {
  TaskId task;
  int64_t attempt = 0;  // precondition: the task is still at this attempt
  Placement placement;

  friend bool operator==(const Start&, const Start&) = default;
};

struct Eviction {  // of a whole gang
  TaskId victim;
  int64_t attempt = 0;
  TaskId preemptor;
  std::string message;        // "task <name> was preempted by another task" (S53), and by which of
                              // the same user's
  bool spot_reclaim = false;  // S49: cause SpotEvicted

  friend bool operator==(const Eviction&, const Eviction&) = default;
};

// One thing that keeps a job from starting now.
struct Blocker {
  std::string code;        // "InsufficientQuota", "InsufficientResources", "DemandExceedsNodes",
                           // "Fragmented", "NodePolicy", "SpotUnavailable", "IdleUnavailable",
                           // "WaitingForPreemption", "WouldDelayOther", "BackoffAfterFailure" (3.3)
  std::string text;        // for its owner: the level or nodes, the numbers, what would lift it
  std::string policy;      // ids of objects behind it
  int64_t candidate = -1;  // index; -1 = all of them
  std::optional<TimePoint> retry_at;  // earliest time at which a timer alone lifts it

  friend bool operator==(const Blocker&, const Blocker&) = default;
};

struct QueueRank {  // S47; 0-based counts of jobs that are looked at earlier
  int64_t rank_in_pool = 0, rank_in_user = 0;
  struct Ahead {
    int64_t high = 0, medium = 0, low = 0;
    friend bool operator==(const Ahead&, const Ahead&) = default;
  } ahead_in_pool, ahead_in_user;

  friend bool operator==(const QueueRank&, const QueueRank&) = default;
};

struct Explanation {
  TaskId task;
  std::vector<Blocker> blockers;  // not empty; in the order in which they were met
  QueueRank queue;
  std::optional<TimePoint> earliest;  // the smallest retry_at

  friend bool operator==(const Explanation&, const Explanation&) = default;
};

struct Decision {
  uint64_t generation = 0;  // of the snapshot it is about
  std::vector<Start> starts;
  std::vector<Eviction> evictions;
  std::vector<Nomination> nominations;  // all that shall stand after this cycle
  std::vector<Explanation> waiting;     // every pending job that is not started, by id
  std::optional<TimePoint> wake_at;     // decide again then, even if nothing happens

  friend bool operator==(const Decision&, const Decision&) = default;
};

}  // namespace cox::model
