// What a trace tells, whatever its format: nodes where it knows them, and jobs, each with the time
// it was submitted and the time it ran. Plain data. Times are seconds from `origin`.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/resources.hpp"
#include "model/node.hpp"
#include "scenario/scenario.hpp"
#include "spec/training_job.hpp"

namespace cox::simulate {

struct TraceJob {
  std::string id, user, project, tenant, pool;  // "" = the trace does not say
  int64_t submit = 0, run = 0;
  std::optional<int64_t> wall;  // what its user asked for; the scheduler knows it
  int64_t replicas = 1;
  Resources need;                      // of one replica; 0 CPUs and memory = not said
  std::vector<std::string> gpu_types;  // any of these; empty = any at all
  spec::CapacityType capacity = spec::CapacityType::kReserved;
  spec::Priority priority = spec::Priority::kMedium;
  bool guaranteed = false;
  // Of a recording, which has the job's own words: the size above is then for reports only.
  std::shared_ptr<const spec::TrainingJob> job;
};

struct Workload {
  std::string file, format;        // "swf", ...
  int64_t origin = 946'684'800;    // Unix seconds of second 0; 2000-01-01 when the trace has none
  std::vector<model::Node> nodes;  // empty = the trace does not say
  std::vector<TraceJob> jobs;      // by submit
  std::vector<std::string> notes;  // for the reader of the report: what was left out, and why
  std::string site_text;           // of a recording: the site file that was in force
  std::shared_ptr<const scenario::Scenario> scenario;  // of a scenario file; nothing else is set
};

}  // namespace cox::simulate
