// The site file and the plugins it names, loaded together or not at all. A reload is a second
// Load(): when it fails, whoever holds the old Config keeps it whole, and the error is for the
// person who asked.
#pragma once

#include <memory>
#include <string>

#include "base/result.hpp"
#include "host/plugins.hpp"
#include "spec/site.hpp"

namespace cox::run {

struct Config {
  std::shared_ptr<const spec::Site> site;
  // Decision thread; Observe() also from the observer, which is why it is shared.
  std::shared_ptr<host::Plugins> plugins;
  // A second set of instances, for Judge: a submission is judged on other threads while the
  // decision thread uses the first set.
  std::shared_ptr<host::Plugins> judging_plugins;
};

// Reads `site_file`, checks it and creates every plugin instance. The error names file and line.
Result<Config> LoadConfig(const std::string& site_file, const host::Options& options);

}  // namespace cox::run
