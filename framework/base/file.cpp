#include "base/file.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

namespace cox {

Result<std::string> ReadFile(const std::string& path) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rbe"),
                                                             std::fclose);
  if (!file) return NotFound(path + ": " + std::strerror(errno));
  std::string text;
  char buffer[65536];
  while (const size_t size = std::fread(buffer, 1, sizeof buffer, file.get())) {
    text.append(buffer, size);
  }
  if (std::ferror(file.get()) != 0) return NotFound(path + ": " + std::strerror(errno));
  return text;
}

}  // namespace cox
