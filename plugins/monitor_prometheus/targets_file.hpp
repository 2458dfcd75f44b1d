// The scrape targets of running jobs as a file_sd file (S121-S123): one group a target, with the
// labels given and its path as __metrics_path__. Replaced as a whole, and only when it changes, so
// that Prometheus never reads half a file. Used by the observer's thread.
#pragma once

#include <cox/plugin.h>

#include <string>

class TargetsFile {
 public:
  explicit TargetsFile(std::string path) : path_(std::move(path)) {}

  // Throws when the file cannot be written.
  void Write(const cox_targets& targets);

 private:
  const std::string path_;
  std::string written_;
};

// The text of the file.
std::string TargetsJson(const cox_targets& targets);
