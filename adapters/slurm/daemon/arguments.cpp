#include "arguments.hpp"

#include <string_view>

namespace cox::slurm {

const char kUsage[] =
    "usage: cox-slurm [--config FILE] [--state-dir DIR] [--record FILE] [--foreground] [--debug]\n"
    "Coxswain's daemon beside slurmctld. SIGHUP reads the site file again, SIGTERM ends it; jobs "
    "go "
    "on.\n"
    "  --config FILE    the site file (/etc/coxswain/site.yaml)\n"
    "  --state-dir DIR  where the store is kept, instead of slurm.stateDir\n"
    "  --record FILE    append what each cycle sees and decides, at most 1 GiB, for cox-replay\n"
    "  --foreground     stay attached and log to stderr, as service managers like it\n"
    "  --debug          log every cycle\n";

Result<Arguments> ParseArguments(int argc, char** argv) {
  Arguments arguments;
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    const size_t equals = word.find('=');
    const std::string_view name = word.substr(0, equals);
    const auto value = [&](std::string& into) -> Result<void> {
      if (equals != word.npos) {
        into = word.substr(equals + 1);
      } else if (i + 1 < argc) {
        into = argv[++i];
      } else {
        return InvalidArgument(std::string(name) + ": needs a value");
      }
      return {};
    };
    Result<void> done;
    if (name == "--config") {
      done = value(arguments.config);
    } else if (name == "--state-dir") {
      done = value(arguments.state_dir);
    } else if (name == "--record") {
      done = value(arguments.record);
    } else if (word == "--foreground") {
      arguments.foreground = true;
    } else if (word == "--debug") {
      arguments.debug = true;
    } else if (word == "--help") {
      arguments.help = true;
    } else {
      return InvalidArgument(std::string(word) + ": is not an option");
    }
    if (!done) return done.error();
  }
  return arguments;
}

}  // namespace cox::slurm
