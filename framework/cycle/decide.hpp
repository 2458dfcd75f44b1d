// One scheduling cycle, as a pure function: equal arguments give equal bytes, on any machine, in
// any order of the input rows. No clock, I/O, log, lock or global. framework/README.md walks
// through it step by step; each step is one file of this folder.
#pragma once

#include "host/plugins.hpp"
#include "model/decision.hpp"
#include "model/snapshot.hpp"

namespace cox::cycle {

// `plugins` judge; they see views made of `snapshot` (net of what this cycle has placed so far).
model::Decision Decide(const model::Snapshot& snapshot, host::Plugins& plugins);

}  // namespace cox::cycle
