// Runs a scenario on the scheduler itself: the real loop with its store, Decide, Step, ledger and
// the site's plugins from their .so files; only the clock and the batch system are made up. A cycle
// runs at each second at which something happens, when all of it has been seen.
//
// Pure but for a folder of its own for the store: in $TMPDIR, else in memory (/dev/shm).
#pragma once

#include "base/result.hpp"
#include "host/loader.hpp"
#include "host/plugins.hpp"
#include "scenario/history.hpp"
#include "scenario/scenario.hpp"

namespace cox::scenario {

// `shuffle`: not 0 = what happens in the same second arrives in another order, drawn from it; only
// submissions keep theirs, because ids are given in that order, and so do policies. An error: the
// site or a plugin cannot be loaded, or the store cannot be written.
Result<History> Simulate(const Scenario& scenario, const host::Options& options,
                         uint64_t shuffle = 0);

}  // namespace cox::scenario
