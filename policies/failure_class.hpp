// What was a failure, and is it worth another attempt (2.1)? Two pure steps: the first row of a
// table that matches names the class; the class, the job's policy and its budgets decide.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace cox::policies {

enum class FailureClass { kPreempted, kNonRetryable, kInfra, kHang, kApp };

struct FailureRow {    // every list that is not empty must match
  std::string reason;  // "CommandNotFound"
  FailureClass failure_class = FailureClass::kApp;
  std::vector<int64_t> causes;  // as numbered by cox/plugin.h
  std::vector<int64_t> exit_codes, signals;
  bool looks_at_log = false;
};

struct Failure {
  int64_t cause = 0, exit_code = 0, signal = 0;
};

// The first row that matches; rows.size(): none. `log_matches(row)` is asked last and only for rows
// that look at the log, because a search through it is dear.
template <class LogMatches>
size_t Classify(std::span<const FailureRow> rows, const Failure& failure,
                LogMatches&& log_matches) {
  const auto matches = [](const std::vector<int64_t>& list, int64_t value) {
    for (const int64_t item : list)
      if (item == value) return true;
    return list.empty();
  };
  for (size_t i = 0; i < rows.size(); ++i)
    if (matches(rows[i].causes, failure.cause) && matches(rows[i].exit_codes, failure.exit_code) &&
        matches(rows[i].signals, failure.signal) && (!rows[i].looks_at_log || log_matches(i)))
      return i;
  return rows.size();
}

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
