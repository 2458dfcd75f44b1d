// What happens when something breaks: S66, S67, S76 (exclude list), S108, the table of 2.1.
#include <algorithm>
#include <array>

#include "base/pattern.hpp"
#include "spec/rules.hpp"
#include "spec/text.hpp"

namespace cox::spec {
namespace {

constexpr size_t kLongestPattern = 1024;

constexpr std::array kSignals = {"SIGHUP",  "SIGINT",  "SIGQUIT", "SIGILL",  "SIGTRAP", "SIGABRT",
                                 "SIGBUS",  "SIGFPE",  "SIGKILL", "SIGUSR1", "SIGSEGV", "SIGUSR2",
                                 "SIGPIPE", "SIGALRM", "SIGTERM", "SIGXCPU", "SIGXFSZ", "SIGSYS"};

void CheckRule(const std::string& path, const FailureRule& rule, Verdict& verdict) {
  if (rule.on_exit_codes.empty() && rule.on_signals.empty() && rule.on_log.empty()) {
    Reject(verdict, path, "matches nothing; write onExitCodes, onSignals or onLog", "S108");
  }
  for (size_t i = 0; i < rule.on_exit_codes.size(); ++i) {
    const int64_t code = rule.on_exit_codes[i];
    if (code >= 1 && code <= 255) continue;
    Reject(verdict, At(path + ".onExitCodes", i),
           std::to_string(code) + " is not the exit code of a failure, 1 to 255", "S108");
  }
  for (size_t i = 0; i < rule.on_signals.size(); ++i) {
    const std::vector<std::string> known(kSignals.begin(), kSignals.end());
    if (std::find(known.begin(), known.end(), rule.on_signals[i]) != known.end()) continue;
    Reject(verdict, At(path + ".onSignals", i),
           Quote(rule.on_signals[i]) + " is not a signal that ends a process" +
               DidYouMean(rule.on_signals[i], known),
           "S108");
  }
  if (rule.on_log.size() > kLongestPattern) {
    return Reject(verdict, path + ".onLog",
                  "has " + std::to_string(rule.on_log.size()) + " characters; at most " +
                      std::to_string(kLongestPattern),
                  "S108");
  }
  if (const auto compiled = Pattern::Compile(rule.on_log); !compiled) {
    Reject(verdict, path + ".onLog",
           Quote(rule.on_log) + " is not a regular expression: " + compiled.error().text, "S108");
  }
}

}  // namespace

void CheckFailure(const Case& c, Verdict& verdict) {
  const auto pulls = c.job.image.pull_max_retries;
  if (pulls && *pulls < -1) {
    Reject(verdict, "spec.image.pullPolicy.maxRetries",
           std::to_string(*pulls) +
               " is below -1; -1 = no limit, 0 = no retry, N = N retries, "
               "null = the site's number",
           "S67");
  }
  const FailurePolicy& policy = c.job.failure_policy;
  const std::string path = "spec.failurePolicy";
  if (policy.max_retries < 0) {
    Reject(verdict, path + ".maxRetries", std::to_string(policy.max_retries) + " is below 0",
           "S108");
  }
  if (policy.max_preemption_retries < -1) {
    Reject(verdict, path + ".maxPreemptionRetries",
           std::to_string(policy.max_preemption_retries) + " is below -1; -1 = no limit", "S108");
  }
  const int64_t ttl = policy.exclude_ttl_seconds;
  if (policy.exclude_failed_nodes && (ttl < kMinPolicySeconds || ttl > kMaxPolicySeconds)) {
    Reject(verdict, path + ".excludeFailedNodes.ttlSeconds",
           std::to_string(ttl) + " is not between 60 and 259200 (1 minute to 72 hours)", "S76");
  }
  for (size_t i = 0; i < policy.rules.size(); ++i) {
    CheckRule(At(path + ".rules", i), policy.rules[i], verdict);
  }
  const bool uses_rules = policy.policy == FailurePolicyKind::kExitCodeAndLog;
  if (!policy.rules.empty() && !uses_rules) {
    Warn(verdict, path + ".rules",
         std::string("policy ") + Name(policy.policy) +
             " does not look at them; ExitCodeAndLog does",
         "S108");
  }
}

}  // namespace cox::spec
