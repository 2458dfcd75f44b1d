// What came of a scenario: written while it runs, compared with what was expected afterwards.
// Times are seconds of the scenario. Plain data; equal runs have equal histories.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "scenario/scenario.hpp"

namespace cox::scenario {

struct AttemptHistory {  // of one attempt
  int64_t start = 0, end = -1;
  std::vector<std::string> nodes;  // sorted

  friend bool operator==(const AttemptHistory&, const AttemptHistory&) = default;
};

struct JobHistory {
  std::string id;
  int64_t submitted = 0;
  std::vector<AttemptHistory> runs;
  Times evicted;
  std::string state, says;  // at the end; `says` is "State Reason: message"
  int64_t retries = 0, preemptions = 0;

  friend bool operator==(const JobHistory&, const JobHistory&) = default;
};

struct MomentHistory {  // what a Moment asks for, as it was
  std::map<std::string, std::string> says;
  std::map<std::string, int64_t> earliest;
  std::vector<std::string> running;  // sorted
  std::map<std::pair<spec::QuotaLevel, std::string>, int64_t> used;
  std::map<std::string, int64_t> free_gpus;

  friend bool operator==(const MomentHistory&, const MomentHistory&) = default;
};

struct History {
  std::vector<JobHistory> jobs;        // as in the scenario
  std::vector<MomentHistory> moments;  // likewise
  int64_t until = 0;
  // Promises that hold in every scenario and did not in this one, each with its time.
  std::vector<std::string> broken;

  friend bool operator==(const History&, const History&) = default;
};

}  // namespace cox::scenario
