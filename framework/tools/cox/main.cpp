#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <iterator>
#include <thread>

#include "run/control.hpp"
#include "tools/cox/verbs.hpp"

namespace {

cox::Result<std::string> ReadFile(const std::string& path) {
  std::ifstream file;
  if (path != "-") file.open(path, std::ios::binary);
  std::istream& in = path == "-" ? std::cin : file;
  if (!in) return cox::NotFound(path + ": cannot be opened; is the name right, may you read it?");
  std::string text(std::istreambuf_iterator<char>(in), {});
  if (in.bad()) return cox::NotFound(path + ": cannot be read; is it a file?");
  return text;
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
  context.clock = &clock;
  context.call = [](const std::string& socket, const std::string& request) {
    return cox::run::Call(socket, request);
  };
  context.read_file = ReadFile;
  context.wait = [](cox::Duration duration) { std::this_thread::sleep_for(duration); };
  return cox::cli::Run(std::move(context), {argv + 1, argv + argc});
}
