// How safe idle capacity is from those who may take it back (2.3). High is what no quota entitles
// anybody to. Medium is what is entitled but was not used at the peak of a window; until a usage
// history is kept the window is this moment, so medium and low offer the same: all that is idle
// (decision 0033). Pure; the one place that knows, for the cycle and for `cox pool`.
#pragma once

#include <span>
#include <string>

#include "model/gang.hpp"
#include "model/ledger.hpp"
#include "model/node.hpp"
#include "spec/site.hpp"

namespace cox::model {

// What the ready nodes of the pools that lend have beyond all quotas, used or not; of one pool, or
// "" = of all of them.
Resources Surplus(const spec::Site& site, std::span<const Node> nodes, const Ledger& ledger,
                  const std::string& pool);

// Does what runs so take from the surplus of `pool`, or of all, ""? Only idle jobs of level high
// do.
bool UsesSurplus(const Candidate& candidate, const std::string& pool);

}  // namespace cox::model
