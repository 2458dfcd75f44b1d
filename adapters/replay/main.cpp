// cox-replay FILE [PLUGIN_DIRECTORY]: 0 = every decision is made again as it was, 1 = some are not,
// 2 = the recording cannot be read.
#include <fstream>
#include <iostream>

#include "replay/replay.hpp"

int main(int argc, char** argv) {
  if (argc < 2 || argc > 3) {
    std::cerr << "usage: cox-replay FILE [PLUGIN_DIRECTORY]\n";
    return 2;
  }
  std::ifstream file(argv[1]);
  if (!file) {
    std::cerr << "cox-replay: cannot open " << argv[1] << "\n";
    return 2;
  }
  cox::host::Options options;
  if (argc == 3) options.plugin_directory = argv[2];
  const cox::replay::Report report = cox::replay::Replay(file, options, std::cout);
  if (!report.error.empty()) {
    std::cerr << "cox-replay: " << argv[1] << ": " << report.error << "\n";
    return 2;
  }
  std::cout << report.cycles << " cycles, " << report.different << " different\n";
  return report.different == 0 ? 0 : 1;
}
