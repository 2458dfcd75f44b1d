// A trace under several configurations, side by side. The one door for the command line.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "host/plugins.hpp"
#include "simulate/measure.hpp"
#include "simulate/record.hpp"
#include "simulate/workload.hpp"

namespace cox::simulate {

struct Configuration {
  std::string name, site_text;  // "" = the trace's own or the built-in site
  bool strict_fifo = false;     // what to compare with: nobody overtakes anybody
};

struct Progress {
  std::string name;
  size_t jobs = 0, came = 0, waiting = 0;
  int64_t second = 0;
};

struct Settings {
  host::Options host;
  int64_t checkpoint_seconds = 0;
  std::function<void(const Progress&)> progress;
};

// Only the jobs of this tenant. An error names the tenants there are.
Result<void> KeepTenant(Workload& workload, const std::string& tenant);

Result<Record> Simulate(const Workload& workload, const Configuration& configuration,
                        const Settings& settings);

}  // namespace cox::simulate
