// Was the outcome the right one? And does it depend on nothing but the file?
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"
#include "host/plugins.hpp"
#include "scenario/history.hpp"
#include "scenario/scenario.hpp"

namespace cox::scenario {

struct Difference {
  int64_t line = 0;  // of the file
  std::string what;  // "D.start", "t=20: a2 says", "totals.evictions"
  std::string expected, got;
};

std::vector<Difference> Compare(const Scenario& scenario, const History& history);

struct Verdict {
  History history;
  std::vector<Difference> differences;
  std::vector<std::string> broken;  // promises of every scenario

  bool passed() const { return differences.empty() && broken.empty(); }
};

// Runs it three times, of which one with the events of each second in another order: the history
// must be the same.
Result<Verdict> Judge(const Scenario& scenario, const host::Options& options);

}  // namespace cox::scenario
