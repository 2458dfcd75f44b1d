#include "lifecycle/user_rule.hpp"

#include <cox/plugin.h>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <string_view>

#include "base/pattern.hpp"

namespace cox::lifecycle {
namespace {

bool MatchesLog(const std::string& expression, std::string_view log) {
  const auto pattern = Pattern::Compile(expression);
  if (!pattern) return false;
  while (!log.empty()) {
    const size_t end = std::min(log.find('\n'), log.size());
    if (pattern->IsIn(log.substr(0, end))) return true;
    log.remove_prefix(std::min(end + 1, log.size()));
  }
  return false;
}

bool MatchesSignal(const std::string& name, int signal) {
  if (signal == 0) return false;
  const char* abbreviation = sigabbrev_np(signal);  // "KILL"
  return abbreviation != nullptr &&
         (name == abbreviation || name == std::string("SIG") + abbreviation);
}

bool Matches(const spec::FailureRule& rule, const model::Exit& exit) {
  const auto& codes = rule.on_exit_codes;
  const auto& signals = rule.on_signals;
  if (codes.empty() && signals.empty() && rule.on_log.empty()) return false;
  if (!codes.empty() &&
      (exit.signal != 0 || std::find(codes.begin(), codes.end(), exit.exit_code) == codes.end())) {
    return false;
  }
  if (!signals.empty() && std::none_of(signals.begin(), signals.end(), [&](const std::string& s) {
        return MatchesSignal(s, exit.signal);
      })) {
    return false;
  }
  return rule.on_log.empty() || MatchesLog(rule.on_log, exit.log_tail);
}

}  // namespace

uint32_t MatchRule(const std::vector<spec::FailureRule>& rules, const model::Exit& exit) {
  for (const spec::FailureRule& rule : rules) {
    if (!Matches(rule, exit)) continue;
    return rule.action == spec::FailureAction::kRetry ? COX_RULE_RETRY : COX_RULE_FAIL;
  }
  return COX_RULE_NONE;
}

}  // namespace cox::lifecycle
