// The figures that people compare, from what came of a workload. Pure. "Units" are GPUs, or CPUs
// where no node has a GPU. What each figure means to its reader stands in docs/simulate.md.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "simulate/record.hpp"

namespace cox::simulate {

struct Spread {  // seconds
  double mean = 0;
  int64_t median = 0, p99 = 0, most = 0;
};

// All jobs, those of a tenant, of a class, of a size.
struct Group {
  std::string by, name;  // "tenant", "nlp"
  int64_t jobs = 0, ended = 0, refused = 0, never_started = 0;
  Spread wait, jct;  // of those that started; of those that ended
  int64_t evictions = 0, starved = 0;
  double unit_hours = 0, lost_unit_hours = 0;
  double share = 0;  // of all unit-hours
};

// Means over equal steps of time, for plots.
struct Curves {
  int64_t step = 1;  // seconds
  std::vector<double> used, queued_jobs, queued_units,
      fragmented;                           // fragmented: share of what is free
  std::vector<std::string> tenants;         // the largest first; the last may be "others"
  std::vector<std::vector<double>> shares;  // by tenant: units in use
};

struct Report {
  std::string name;
  std::string unit;  // "GPU" or "CPU"
  double capacity = 0;
  Group all;
  std::vector<Group> groups;     // by tenant, class and size
  double allocation = 0;         // share of capacity in use until the last job has started
  double allocation_queued = 0;  // the same, of the time in which somebody waited
  double fragmentation = 0;      // share of what was free then that the next replica could not use
  double fairness = 0;           // Jain's index over tenants, 1 = all are served alike
  int64_t makespan = 0;
  uint64_t cycles = 0;
  Curves curves;
  std::vector<int64_t> wait_quantiles;  // at 0 %, 0.5 %, ... 100 % of the jobs that started
};

constexpr int64_t kStarvedSeconds = 86'400;

Report Measure(const Record& record);

}  // namespace cox::simulate
