// The command line as plain data. arguments.cpp alone knows CLI11 and holds every help text.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/result.hpp"

namespace cox::cli {

// What a script can rely on; `cox --help` prints the same list.
enum ExitCode {
  kOk = 0,
  kFailed = 1,  // refused, not possible now, or it went wrong
  kUsage = 2,   // the command line itself
  kNoSuch = 3,  // not there, or not yours to see
  kForbidden = 4,
  kNoDaemon = 5,  // nobody answers at the socket, or not just now
};

enum class Format { kTable, kJson, kYaml };

struct Arguments {
  std::string verb;  // "submit", "nodepolicy create", ...
  std::string socket;
  Format format = Format::kTable;

  std::string target;  // a task, file, subject, policy id or plugin
  bool dry_run = false;
  bool mine = false, all = false;
  std::map<std::string, std::string> labels;
  std::vector<std::string> states;
  std::string capacity_type;
  bool follow = false;
  std::string role;
  std::optional<int64_t> attempt;

  std::string type = "NodeNotIn";  // nodepolicy create
  std::vector<std::string> nodes;
  int64_t ttl_seconds = 0;
  bool tenant_scope = false;
  std::string reason, from_job;

  std::string plugin_config, plugin_directory;

  std::vector<std::string> files;  // scenario run
  bool show = false;

  std::vector<std::string> configs, cluster;  // simulate; the trace is `target`
  std::string trace_format, tenant, html;
  bool baseline = false;
  int64_t checkpoint_seconds = 0;
  std::optional<std::pair<int64_t, int64_t>> window;  // seconds
};

// Either what to do, or what to print and the code to leave with (help, version, usage error).
struct Leave {
  int code = kOk;
  std::string out, err;
};
std::variant<Arguments, Leave> ParseArguments(const std::vector<std::string>& words);

// "90", "90s", "15m", "2h", "1d" -> seconds.
Result<int64_t> ParseSeconds(const std::string& text);

}  // namespace cox::cli
