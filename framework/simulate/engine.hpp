// A workload decided by the product's own functions in virtual time: run::Accept, cycle::Decide and
// lifecycle::Step with the site's plugins. Made up are the clock and a batch system that starts a
// gang at once, runs it as long as the trace says and uses all of the grace period when it is told
// to leave. Nothing is stored, published or explained to anybody: 100,000 jobs take seconds
// (decision 0081; a scenario file goes through run::Loop itself, decision 0080).
//
// Pure: the same plan gives the same record.
#pragma once

#include <cstdint>
#include <functional>

#include "base/result.hpp"
#include "simulate/plan.hpp"
#include "simulate/record.hpp"

namespace cox::simulate {

struct EngineOptions {
  // Shows only the first job in line of each pool, so that nobody overtakes: what to compare with.
  bool strict_fifo = false;
  // A job saves its work so often; 0 = never: when it is evicted it begins anew.
  int64_t checkpoint_seconds = 0;
  // Of equal jobs that wait, the scheduler sees so many; 0 = all (queue.hpp).
  size_t shown_of_equal = 0;
  // Called now and then with the second, the jobs that came so far and those that wait.
  std::function<void(int64_t second, size_t came, size_t waiting)> progress;
};

Result<Record> Play(const Workload& workload, Plan& plan, const EngineOptions& options);

}  // namespace cox::simulate
