// The daemon between its start and its end: the parts wired in the order in which they depend on
// each other, the decision loop on the calling thread, and all taken apart in the opposite order.
#pragma once

#include "arguments.hpp"
#include "base/log.hpp"
#include "base/result.hpp"
#include "run/config.hpp"
#include "slurm/wire.hpp"

namespace cox::slurm {

struct Loaded {
  Settings settings;
  run::Config config;
};

// The site file and its plugins.
Result<Loaded> Load(const Arguments& arguments);

// Returns after SIGTERM; the error says what could not be begun. Takes what was loaded: a second
// owner of the first plugins would keep them, and their ports, past a reload.
Result<void> Serve(const Arguments& arguments, Loaded loaded, Log& log);

}  // namespace cox::slurm
