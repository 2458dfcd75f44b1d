// cox.conf, the plug-in's settings beside slurm.conf: `Key=Value` lines and # comments as in
// slurm.conf. Read at start and again when the file has changed; pure but for Read().
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

namespace cox::slurm {

struct Config {
  std::string socket = "/run/coxswain/submit.sock";
  std::chrono::milliseconds timeout{100};
  std::vector<std::string> partitions;  // the managed ones; jobs of others are left alone

  // Why it is kept beside the rest: with a broken line managed jobs must still be known as such,
  // so that they are held, and others are not.
  std::vector<std::string> errors;

  bool Manages(std::string_view partition) const;
  std::string PartitionList() const;  // "train,gold"
};

// `path` is only named in errors.
Config ParseConfig(std::string_view text, const std::string& path);

Config ReadConfig(const std::string& path);

}  // namespace cox::slurm
