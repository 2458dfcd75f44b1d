// The two lines of ../submit_protocol.md as values: what is asked and what is answered.
// Pure; message.cpp is the plug-in's only file with a JSON parser in it, and it throws nothing.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "base/result.hpp"

namespace cox::slurm {

struct Request {
  uint32_t uid = 0;
  std::chrono::milliseconds timeout{100};      // how long the answer is waited for
  std::string uuid, kind;                      // kind: "batch" or "interactive"
  std::map<std::string, std::string> text;     // name, partition, account, ...; no empty ones
  std::map<std::string, int64_t> number;       // nodes, time_limit_s, ...; no unset ones
  std::map<std::string, std::string> options;  // --cox-<key>; a flag has the value "true"
  std::map<std::string, std::string> slurm;    // native fields of the user, as Slurm writes them
  std::map<std::string, int64_t> slurm_number;
};

struct Reply {
  bool accepted = false;
  std::string text;           // rejected: why; accepted: shown to the user when not empty
  std::string admin_comment;  // begins with "cox:<uuid>"
  std::map<std::string, std::string> environment;           // replaces what the user set
  std::map<std::string, std::string> environment_defaults;  // S16: the user's own value wins
  std::optional<uint32_t> nodes, cpus_per_node;
  std::optional<uint64_t> mem_mib_per_node;
  std::optional<std::string> tres_per_node;
};

std::string RequestLine(const Request& request);

// `op` is hold or release; the task's uuid, and who asks.
std::string ChangeLine(const std::string& op, const std::string& uuid, uint32_t uid);

// "done", or why not: "started", "later", "not_his". The error: it is no such answer.
Result<std::string> ParseChangeReply(const std::string& line);

// "{...}" in one line, as it stands in the admin comment of a job that waits for the daemon.
std::string OptionsJson(const Request& request);

// kInvalidArgument names what is wrong with the line.
Result<Reply> ParseReply(const std::string& line, const std::string& uuid);

}  // namespace cox::slurm
