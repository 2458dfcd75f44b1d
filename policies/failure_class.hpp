// What was a failure, and is it worth another attempt (2.1)? Two pure steps: the first row of a
// table that matches names the class; the class, the job's policy and its budgets decide.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/pattern.hpp"

namespace cox::policies {

enum class FailureClass { kPreempted, kNonRetryable, kInfra, kHang, kApp };

struct FailureRow {    // every list that is not empty must match
  std::string reason;  // "CommandNotFound"
  FailureClass failure_class = FailureClass::kApp;
  std::vector<int64_t> causes;  // as numbered by cox/plugin.h
  std::vector<int64_t> exit_codes, signals;
  std::optional<Pattern> log = {};  // LogPattern(): what a line of the log's tail looks like
};

struct Failure {
  int64_t cause = 0, exit_code = 0, signal = 0;
  std::string_view log = {};
};

// ^ and $ are the ends of a line. The error is RE2's text, without the expression.
Result<Pattern> LogPattern(const std::string& expression);

// The first row that matches; rows.size(): none.
size_t Classify(std::span<const FailureRow> rows, const Failure& failure);

enum class RetryPolicy { kOnFailure, kOnInfraFailure, kExitCodeAndLog, kNever };
enum class UserRule { kNone, kRetry, kFail };

struct RetryState {
  bool enabled = false;
  RetryPolicy policy = RetryPolicy::kOnFailure;
  UserRule user_rule = UserRule::kNone;
  int64_t max_retries = 0, retries_used = 0;
  int64_t max_preemption_retries = -1, preemptions = 0;  // max_...: -1 = no limit
  // Caps of the site for one class each, and what was used of them.
  int64_t max_infra = -1, infra = 0;
  int64_t max_hang = -1, hang = 0;
  int64_t max_app = -1, app = 0;
};

struct RetryRuling {
  bool retry = false;
  bool counts = false;        // against max_retries
  bool exclude_node = false;  // if the job wants it
  std::string why;            // "retry 2 of 3", "fault tolerance is off", ...
};

RetryRuling DecideRetry(FailureClass failure_class, const RetryState& state);

}  // namespace cox::policies
