#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <iostream>
#include <iterator>
#include <thread>

#include "base/file.hpp"
#include "run/control.hpp"
#include "tools/cox/verbs.hpp"

namespace {

cox::Result<std::string> ReadFileOrInput(const std::string& path) {
  if (path != "-") return cox::ReadFile(path);
  return std::string(std::istreambuf_iterator<char>(std::cin), {});
}

}  // namespace

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_DFL);  // `cox list | head` ends quietly
  const cox::SystemClock clock;
  const char* no_colour = std::getenv("NO_COLOR");
  cox::cli::Context context;
  context.out = &std::cout;
  context.err = &std::cerr;
  context.colour = isatty(STDOUT_FILENO) == 1 && (no_colour == nullptr || *no_colour == '\0');
  context.progress = isatty(STDERR_FILENO) == 1;
  context.clock = &clock;
  context.call = [](const std::string& socket, const std::string& request) {
    return cox::run::Call(socket, request);
  };
  context.read_file = ReadFileOrInput;
  context.wait = [](cox::Duration duration) { std::this_thread::sleep_for(duration); };
  return cox::cli::Run(std::move(context), {argv + 1, argv + argc});
}
