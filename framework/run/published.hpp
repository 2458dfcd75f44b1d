// What everybody but the decision thread sees: an immutable picture of the state after a turn.
// Made by the loop when the turn is durable, handed out by shared_ptr; costs a reader one pointer.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/time.hpp"
#include "host/plugins.hpp"
#include "model/decision.hpp"
#include "model/ledger.hpp"
#include "model/node.hpp"
#include "model/task.hpp"
#include "spec/site.hpp"

namespace cox::run {

struct Counters {  // totals since the start of the process
  uint64_t turns = 0, cycles = 0, cycle_nanos = 0;
  uint64_t starts = 0, evictions = 0, retries = 0, bind_conflicts = 0;
  uint64_t actions = 0, actions_overdue = 0, late_outcomes = 0;
  uint64_t store_errors = 0, reloads = 0, reload_errors = 0, recorder_dropped = 0;
};

struct Published {
  TimePoint now{};
  uint64_t generation = 0;
  std::string not_ready;  // why nothing is decided ("no baseline yet"); "" = deciding
  std::string degraded;   // "store: disk full"; "" = healthy
  std::shared_ptr<const spec::Site> site;
  std::shared_ptr<host::Plugins> plugins;  // for the observer's Observe() only
  std::vector<host::InstanceStatus> instances;
  std::vector<model::Node> nodes;  // by name
  std::map<uint64_t, std::shared_ptr<const model::Task>> tasks;
  std::vector<spec::NodePolicy> policies;
  std::shared_ptr<const model::Ledger> ledger;
  std::string ledger_error;                         // "" = sum(live allocations) == usage
  std::shared_ptr<const model::Decision> decision;  // the last one
  Counters counters;
};

}  // namespace cox::run
