#include "policies/failure_class.hpp"

#include <algorithm>
#include <utility>

namespace cox::policies {
namespace {

bool Has(const std::vector<int64_t>& list, int64_t value) {
  return list.empty() || std::ranges::find(list, value) != list.end();
}

RetryRuling No(std::string why) {
  return {false, false, false, std::move(why)};
}

bool Exhausted(int64_t used, int64_t max) {
  return max >= 0 && used >= max;
}

std::string OfMax(int64_t n, int64_t max) {
  return std::to_string(n) + (max < 0 ? " (no limit)" : " of " + std::to_string(max));
}

RetryRuling AfterPreemption(const RetryState& s) {
  if (Exhausted(s.preemptions, s.max_preemption_retries))
    return No("all " + std::to_string(s.max_preemption_retries) +
              " restarts after preemption are used");
  return {true, false, false,
          "restart after preemption " + OfMax(s.preemptions + 1, s.max_preemption_retries)};
}

// Does the job's policy want this class retried?
bool Wanted(FailureClass c, const RetryState& s) {
  if (s.policy == RetryPolicy::kExitCodeAndLog && s.user_rule == UserRule::kRetry) return true;
  if (c == FailureClass::kNonRetryable) return false;
  return c == FailureClass::kInfra || c == FailureClass::kHang ||
         s.policy == RetryPolicy::kOnFailure;
}

}  // namespace

Result<Pattern> LogPattern(const std::string& expression) {
  return Pattern::Compile("(?m)" + expression);
}

size_t Classify(std::span<const FailureRow> rows, const Failure& failure) {
  const auto row = std::ranges::find_if(rows, [&](const FailureRow& r) {
    return Has(r.causes, failure.cause) && Has(r.exit_codes, failure.exit_code) &&
           Has(r.signals, failure.signal) &&
           (!r.log || r.log->IsIn(failure.log));  // last, since it is the dear one
  });
  return static_cast<size_t>(row - rows.begin());
}

RetryRuling DecideRetry(FailureClass c, const RetryState& s) {
  if (!s.enabled) return No("fault tolerance is off");
  if (s.policy == RetryPolicy::kNever) return No("the job's policy is Never");
  if (c == FailureClass::kPreempted) return AfterPreemption(s);
  if (s.policy == RetryPolicy::kExitCodeAndLog && s.user_rule == UserRule::kFail)
    return No("a rule of the job says Fail");
  if (!Wanted(c, s))
    return No(c == FailureClass::kNonRetryable ? "NonRetryable: another attempt would fail equally"
                                               : "the job's policy retries Infra and Hang only");
  if (s.retries_used >= s.max_retries)
    return No("all " + std::to_string(s.max_retries) + " retries are used");
  const bool site_cap = (c == FailureClass::kInfra && Exhausted(s.infra, s.max_infra)) ||
                        (c == FailureClass::kHang && Exhausted(s.hang, s.max_hang)) ||
                        (c == FailureClass::kApp && Exhausted(s.app, s.max_app));
  if (site_cap) return No("the site's cap of retries for this class of failure is used");
  const bool exclude = c == FailureClass::kInfra ||
                       (c == FailureClass::kHang && s.policy != RetryPolicy::kOnFailure);
  return {true, true, exclude, "retry " + OfMax(s.retries_used + 1, s.max_retries)};
}

}  // namespace cox::policies
