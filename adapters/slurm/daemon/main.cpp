// cox-slurm: the process around serve.cpp. Its command line, its lock, its log, its way into the
// background.
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <optional>
#include <utility>

#include "arguments.hpp"
#include "base/log.hpp"
#include "serve.hpp"
#include "threads.hpp"

namespace cox::slurm {
namespace {

int Fail(const Error& error) {
  std::fprintf(stderr, "cox-slurm: %s\n", error.text.c_str());
  return 1;
}

// Two daemons on one store would each undo what the other did. The lock goes with the process.
Result<void> LockStateDir(const std::string& dir) {
  const std::string file = dir + "/lock";
  if (mkdir(dir.c_str(), 0700) != 0 && errno != EEXIST)
    return Unavailable("state folder " + dir + ": " + std::strerror(errno));
  const int lock = open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (lock < 0) return Unavailable(file + ": " + std::strerror(errno));
  if (flock(lock, LOCK_EX | LOCK_NB) != 0)
    return Conflict(dir + ": another cox-slurm uses this state folder");
  return {};
}

int Main(int argc, char** argv) {
  auto arguments = ParseArguments(argc, argv);
  if (!arguments) return Fail(arguments.error());
  // They must be found again when the daemon has gone to "/".
  for (std::string* file : {&arguments->config, &arguments->record})
    if (!file->empty()) *file = std::filesystem::absolute(*file).string();
  if (arguments->help) {
    std::fputs(kUsage, stdout);
    return 0;
  }
  auto loaded = Load(*arguments);
  if (!loaded) return Fail(loaded.error());
  if (auto locked = LockStateDir(loaded->settings.state_dir); !locked) return Fail(locked.error());
  const auto level = arguments->debug ? Log::Level::kDebug : Log::Level::kInfo;
  if (!arguments->foreground && daemon(/*nochdir=*/0, /*noclose=*/0) != 0)
    return Fail(Unavailable(std::string("going to the background: ") + std::strerror(errno)));
  SignalWaiter::Block();
  std::optional<Log> log;
  if (arguments->foreground) {
    log.emplace("cox-slurm", level);
  } else {
    log.emplace("cox-slurm", level, loaded->settings.state_dir + "/cox-slurm.log");
  }
  if (auto served = Serve(*arguments, *std::move(loaded), *log); !served) {
    log->Error("cannot serve", {{"error", served.error().text}});
    return 1;
  }
  return 0;
}

}  // namespace
}  // namespace cox::slurm

int main(int argc, char** argv) {
  return cox::slurm::Main(argc, argv);
}
