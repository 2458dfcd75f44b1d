// One question to the daemon over its Unix socket, and never longer than told.
//
// Called by slurmctld inside a submission, which other submissions wait for: connect, write and
// read share one deadline, and the socket never blocks.
#pragma once

#include <chrono>
#include <string>

#include "base/result.hpp"

namespace cox::slurm {

inline constexpr size_t kReplyMaxBytes = 1 << 20;

// Sends `line` and a newline; returns the reply up to its newline. kUnavailable when nobody
// answers in time, the peer hangs up early, or the reply is longer than kReplyMaxBytes.
Result<std::string> Ask(const std::string& socket, const std::string& line,
                        std::chrono::milliseconds timeout);

}  // namespace cox::slurm
