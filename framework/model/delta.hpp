// What adapters tell the framework. Level-triggered: a delta states what is, not what changed, so
// a lost, late or doubled one does no harm; a Baseline may come at any time.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/ids.hpp"
#include "base/result.hpp"
#include "base/time.hpp"
#include "model/node.hpp"
#include "model/task.hpp"

namespace cox::model {

// One attempt of one task as the batch system has it now.
struct Observation {
  enum class Phase {
    kHeld,      // exists, will not start by itself
    kReleased,  // may start at any moment
    kStarting,  // has its nodes; not all replicas run yet
    kRunning,   // all replicas run
    kLeaving,   // ended, processes may still be there (a debugged Ray job: its submitter ended)
    kEnded,     // no process is left
  };
  std::string native_id, root_uuid;
  int64_t attempt = 0;  // how often the batch system has restarted it
  Phase phase = Phase::kHeld;
  std::vector<std::string> nodes;  // rank order
  TimePoint started_at{}, ended_at{};
  std::string held;           // kHeld, by a person: who, and how it is let go; "" = by us alone
  std::string requeued;       // kLeaving, kEnded: somebody had it run again; in what words
  TimePoint again_from{};     // with `requeued`: its nodes take no start of it before then
  bool contact_lost = false;  // a node of it does not answer
  bool cancelled = false;     // ended by its user or an administrator, by the system's own command
  std::string cancelled_by;
  std::optional<Exit> exit;  // kLeaving, kEnded: none = success

  friend bool operator==(const Observation&, const Observation&) = default;
};

// A job that came by the system's own door (sbatch, kubectl) and is not known yet, or by
// `cox submit`.
struct Submission {
  std::string native_id;  // "" = the framework shall create the native object
  std::string root_uuid;
  std::string user, project, name;  // name "" = made from generateName
  bool interactive = false;
  std::shared_ptr<const spec::TrainingJob> job;
  TimePoint submitted_at{};
  std::string rejected;  // not empty: the job cannot be understood or is invalid; refuse it so
};

struct Baseline {  // all there is: what is not listed is gone
  std::vector<Node> nodes;
  std::vector<Observation> attempts;
  std::vector<Submission> submissions;
};

struct NodeUpdate {
  Node node;
};
struct NodeGone {
  std::string name;
};
struct Observed {
  Observation attempt;
};
struct NativeGone {  // the batch system no longer knows it
  std::string native_id, root_uuid;
};

struct Outcome {
  ActionId action;
  TaskId task;
  int64_t attempt = 0;
  std::optional<Error> error;  // Conflict: the precondition did not hold; Unavailable: retry
  std::string native_id;       // answer to Create
  bool not_started = false;    // answer to Kill: nothing of the attempt had started; it is held
};

using Delta =
    std::variant<Baseline, NodeUpdate, NodeGone, Submission, Observed, NativeGone, Outcome>;

}  // namespace cox::model
