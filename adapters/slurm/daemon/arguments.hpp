// The command line of cox-slurm.
#pragma once

#include <string>

#include "base/result.hpp"

namespace cox::slurm {

struct Arguments {
  std::string config = "/etc/coxswain/site.yaml";
  std::string state_dir;  // "" = as the site file says
  std::string record;     // "" = cycles are not recorded
  bool foreground = false;
  bool debug = false;
  bool help = false;
};

extern const char kUsage[];

Result<Arguments> ParseArguments(int argc, char** argv);

}  // namespace cox::slurm
