// Makes recorded decisions again (run/recorder writes them). The same snapshot, site file and
// plugins must give the same bytes; where they do not, a plugin has changed or is not pure.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>

#include "run/config.hpp"

namespace cox::replay {

struct Report {
  uint64_t cycles = 0, different = 0;
  std::string error;  // not empty: the recording could not be read on, and where
};

// `differences` gets one block a cycle that differs: its generation, then a JSON Patch from the
// recorded decision to the one made now.
Report Replay(std::istream& recording, const host::Options& options, std::ostream& differences);

}  // namespace cox::replay
