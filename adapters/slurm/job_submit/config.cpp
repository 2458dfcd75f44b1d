#include "config.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <fstream>
#include <iterator>

namespace cox::slurm {
namespace {

std::string_view Trim(std::string_view text) {
  const char* kBlanks = " \t\r";
  const size_t begin = text.find_first_not_of(kBlanks);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlanks) - begin + 1);
}

bool SameKey(std::string_view a, std::string_view b) {  // slurm.conf does not mind case either
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](unsigned char x, unsigned char y) {
    return std::tolower(x) == std::tolower(y);
  });
}

std::vector<std::string> Split(std::string_view list) {
  std::vector<std::string> items;
  while (!list.empty()) {
    const size_t end = std::min(list.find(','), list.size());
    if (const auto item = Trim(list.substr(0, end)); !item.empty()) items.emplace_back(item);
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  return items;
}

// Empty when the line is good, else what is wrong with it.
std::string Apply(std::string_view key, std::string_view value, Config& config) {
  if (SameKey(key, "Socket")) {
    config.socket = value;
    return value.starts_with('/') ? "" : "must be an absolute path";
  }
  if (SameKey(key, "TimeoutMs")) {
    int64_t ms = 0;
    const auto [end, error] = std::from_chars(value.begin(), value.end(), ms);
    if (error != std::errc() || end != value.end() || ms < 1 || ms > 1000)
      return "must be a whole number from 1 to 1000, slurmctld waits that long";
    config.timeout = std::chrono::milliseconds(ms);
    return "";
  }
  if (SameKey(key, "Partitions")) {
    config.partitions = Split(value);
    return config.partitions.empty() ? "must name a partition" : "";
  }
  return "is no key of this file, they are Socket, TimeoutMs and Partitions";
}

}  // namespace

bool Config::Manages(std::string_view partition) const {
  return std::find(partitions.begin(), partitions.end(), partition) != partitions.end();
}

std::string Config::PartitionList() const {
  std::string list;
  for (const std::string& partition : partitions) {
    if (!list.empty()) list += ',';
    list += partition;
  }
  return list;
}

Config ParseConfig(std::string_view text, const std::string& path) {
  Config config;
  for (int number = 1; !text.empty(); ++number) {
    const size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    line = Trim(line.substr(0, line.find('#')));
    if (line.empty()) continue;
    const size_t equals = std::min(line.find('='), line.size());
    const std::string_view key = Trim(line.substr(0, equals));
    const std::string_view value =
        equals < line.size() ? Trim(line.substr(equals + 1)) : std::string_view();
    const std::string wrong = Apply(key, value, config);
    if (wrong.empty()) continue;
    std::string error = path;
    error.append(":").append(std::to_string(number)).append(": ");
    error.append(line).append(": ").append(wrong);
    config.errors.push_back(std::move(error));
  }
  if (config.partitions.empty())
    config.errors.push_back(path + ": Partitions= is missing, it names the managed partitions");
  return config;
}

Config ReadConfig(const std::string& path) {
  std::ifstream file(path);
  if (!file) {
    Config config;
    config.errors.push_back(path + ": cannot be read, it must stand beside slurm.conf");
    return config;
  }
  return ParseConfig(std::string(std::istreambuf_iterator<char>(file), {}), path);
}

}  // namespace cox::slurm
