// One moment of the whole cluster, immutable: all that a decision may depend on. The decision
// thread freezes it from the Cluster; Decide, the recorder, the CLI and shadow runs read it.
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
#include "model/node.hpp"
#include "spec/site.hpp"

namespace cox::model {

struct PendingJob {
  TaskId id;
  std::string name;
  Owner owner;
  spec::CapacityType capacity = spec::CapacityType::kReserved;  // asked for
  spec::Priority priority = spec::Priority::kMedium;
  bool guaranteed = false;
  TimePoint submitted_at{};
  TimePoint waiting_since{};  // of this attempt; zero = since it was submitted
  int64_t attempt = 0;
  TimePoint not_before{};                     // back-off after a failure
  std::string held;                           // by a person: who, and how it is let go
  std::optional<int64_t> time_limit_seconds;  // wall time, where the user states one
  spec::Topology topology;
  bool spread = false;  // no two replicas on one node
  std::vector<Candidate> candidates;

  friend bool operator==(const PendingJob&, const PendingJob&) = default;
};

struct RunningJob {  // everything charged
  TaskId id;
  std::string name;
  Owner owner;
  spec::CapacityType capacity = spec::CapacityType::kReserved;  // in effect
  spec::Stability stability = spec::Stability::kLow;            // idle only
  spec::Priority priority = spec::Priority::kMedium;
  bool guaranteed = false;
  TimePoint submitted_at{}, started_at{};
  int64_t attempt = 0;
  bool leaving = false;  // Preempting or Stopping: its nodes come back by `leaves_by`
  TimePoint leaves_by = kNever;
  TimePoint ends_by = kNever;  // start (or now, before it) + wall time, where one is known
  Placement placement;

  friend bool operator==(const RunningJob&, const RunningJob&) = default;
};

// Nodes kept for a preemptor until its victims are gone (2.6). Nobody else may take them.
struct Nomination {
  TaskId task;
  Placement placement;
  TimePoint expires_at = kNever;

  friend bool operator==(const Nomination&, const Nomination&) = default;
};

// A node policy that is in effect, or a job's own rule or exclusion.
struct PolicyRow {
  enum class Scope { kJob, kUser, kTenant, kFailure } scope = Scope::kUser;
  std::string id;
  spec::NodePolicyType type = spec::NodePolicyType::kNodeNotIn;
  std::string subject;  // user or tenant; unused for kJob and kFailure
  TaskId task;          // kJob and kFailure
  std::vector<std::string> node_names;
  TimePoint expires_at = kNever;

  friend bool operator==(const PolicyRow&, const PolicyRow&) = default;
};

struct Snapshot {
  uint64_t generation = 0;
  TimePoint now{};
  uint64_t seed = 0;
  std::shared_ptr<const spec::Site> site;
  std::vector<Node> nodes;              // by name
  std::vector<PendingJob> pending;      // by id
  std::vector<RunningJob> running;      // by id
  std::vector<Nomination> nominations;  // by task
  std::vector<PolicyRow> policies;      // by scope, id
  Ledger ledger;
};

}  // namespace cox::model
