// From a submission to a task: the one way in, whichever door it came by. Reads randomness for
// names and ids; all else follows from the arguments. Decision thread.
#pragma once

#include <string>

#include "base/ids.hpp"
#include "base/time.hpp"
#include "host/plugins.hpp"
#include "lifecycle/step.hpp"
#include "model/delta.hpp"
#include "spec/site.hpp"

namespace cox::run {

struct Accepted {
  std::string refused;          // not empty: why; `begun` is then a task that has failed (Rejected)
  lifecycle::StepResult begun;  // with an event for each warning (S21, D3)
};

// Judges it (judge.hpp), merges the owner's persistent variables (S15, S16), fills in region and
// cluster (S1), names it (S3).
Accepted Accept(const model::Submission& submission, const spec::Site& site, host::Plugins& plugins,
                TaskId id, TimePoint now);

}  // namespace cox::run
