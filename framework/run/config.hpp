// The site file and the plugins it names, loaded together or not at all. A reload is a second
// MakeConfig(): when it fails, whoever holds the old Config keeps it whole, and the error is for
// the person who asked.
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
  // Where `site` came from; the recorder keeps it, so that a recording can be replayed anywhere.
  std::string site_file, site_text;
};

// Checks the text of `site_file` and creates every plugin instance. The error names file and line.
// Decision thread, or before there is one: plugins are made while no cycle runs.
Result<Config> MakeConfig(std::string site_text, const std::string& site_file,
                          const host::Options& options);

// Where the daemon is and whom it serves is settled when it starts: region, cluster, and the
// adapter's block but for its pluginDir. A `fresh` site that differs there is refused whole, since
// a part of it in effect would be what no file says.
Result<void> CheckReload(const spec::Site& running, const spec::Site& fresh);

}  // namespace cox::run
