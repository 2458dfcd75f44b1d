// What came of a workload under one configuration. Plain data; measure.hpp makes figures of it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/resources.hpp"

namespace cox::simulate {

struct Run {  // one attempt
  uint32_t job = 0;
  int64_t start = 0, end = 0;
  int64_t lost = 0;  // seconds of it that a later attempt had to do again
  bool evicted = false;
  std::vector<uint32_t> nodes;  // one a replica
};

struct JobRecord {
  std::string id, user, tenant, group;  // group: "reserved, medium"
  int64_t submit = 0, run = 0;          // run: as the trace says
  Resources need;                       // of one replica
  int64_t replicas = 1;
  int64_t priority = 0;
  int64_t start = -1, end = -1;  // its first start, its last end; -1 = never
  int64_t evictions = 0;
  std::string refused;  // not empty: why it was not accepted

  bool ended() const { return end >= 0; }
};

struct Record {
  std::string name;  // of the configuration
  std::vector<JobRecord> jobs;
  std::vector<Run> runs;  // by start
  struct Node {
    std::string name;
    Resources capacity;
  };
  std::vector<Node> nodes;
  int64_t origin = 0;  // Unix seconds of second 0
  int64_t until = 0;   // the last second at which anything happened
  uint64_t cycles = 0;
  std::vector<std::string> notes;
};

}  // namespace cox::simulate
