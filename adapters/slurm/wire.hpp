// Everything of this folder that is JSON: the lines of submit_protocol.md, the options in an admin
// comment, the `slurm:` block of the site file. Pure; wire.cpp alone includes the JSON parser.
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "slurm/native_job.hpp"
#include "slurm/slurm_api.hpp"
#include "spec/site.hpp"

namespace cox::slurm {

struct Question {
  std::string op;                          // "submit", "hold", "release" or "kick"
  std::chrono::milliseconds timeout{100};  // later nobody listens any more
  std::string uuid;
  JobRecord record;  // submit: what was asked for. uid: who asks, no user name
  Options options;
};
Result<Question> ParseQuestion(std::string_view line);

struct Acceptance {
  std::string admin_comment;
  std::map<std::string, std::string> environment;           // replaces the user's
  std::map<std::string, std::string> environment_defaults;  // the user's wins (S16)
  int64_t nodes = 1, cpus_per_node = 1, mem_mib_per_node = 1;
  std::string tres_per_node;  // "" = as the user asked
};
std::string AcceptLine(const Acceptance& acceptance);
std::string RejectLine(const std::string& text);
std::string DoneLine();
std::string RefusedLine(const std::string& code);  // of hold and release

Result<Options> ParseOptions(std::string_view json);
std::string OptionsJson(const Options& options);

struct Settings {  // the site file's `slurm:` block; defaults in the site's schema
  std::string slurm_conf;
  std::chrono::milliseconds poll, verify;
  std::string submit_socket, control_socket;
  std::string state_dir, plugin_dir;
};
// The error is a site file without that block: it is no Slurm's.
Result<Settings> SettingsOf(const spec::Site& site);

}  // namespace cox::slurm
