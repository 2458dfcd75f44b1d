#include "base/time_zone.hpp"

#include <algorithm>
#include <sstream>

#include "base/file.hpp"

namespace cox {

std::vector<std::string> SystemTimeZones(const std::string& folder) {
  const auto text = ReadFile(folder + "/tzdata.zi");
  if (!text) return {};
  std::vector<std::string> zones;
  std::istringstream lines(*text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string kind, name, alias;
    words >> kind >> name >> alias;
    if (kind == "Z") zones.push_back(name);   // zone: name, rules
    if (kind == "L") zones.push_back(alias);  // link: target, alias
  }
  std::ranges::sort(zones);
  return zones;
}

}  // namespace cox
