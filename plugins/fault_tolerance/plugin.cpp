// What was this failure, and is it worth another attempt (2.1)? The shell around
// policies/failure_class and policies/backoff.
#include <algorithm>
#include <cox/plugin.hpp>
#include <string>

#include "policies/backoff.hpp"
#include "policies/failure_class.hpp"
#include "schema.hpp"
#include "table.hpp"

namespace {

using namespace cox::policies;

constexpr int64_t kSecond = 1'000'000'000;
constexpr const char* kClassName[] = {"Preempted", "NonRetryable", "Infra", "Hang", "App"};

class FaultTolerance final : public cox::Fault {
 public:
  explicit FaultTolerance(const cox::Config& config)
      : table_(config),
        backoff_base_ns_(config.Int("backoff_base_s") * kSecond),
        backoff_cap_ns_(config.Int("backoff_cap_s") * kSecond),
        exclude_ttl_ns_(config.Int("exclude_ttl_s") * kSecond),
        max_infra_(config.Int("max_retries_of_class.Infra")),
        max_hang_(config.Int("max_retries_of_class.Hang")),
        max_app_(config.Int("max_retries_of_class.App")) {}

  void Judge(const cox_failure& failure, cox_fault_verdict& out) override {
    const FailureRow* row = table_.Find(failure);
    const FailureClass c = row != nullptr ? row->failure_class : FailureClass::kApp;
    const std::string reason = row != nullptr ? row->reason : "Unclassified";
    const RetryRuling ruling = DecideRetry(c, State(failure));

    out.failure_class = static_cast<uint32_t>(c);
    out.retry = ruling.retry;
    out.counts = ruling.counts;
    // A preempted job need not wait: nothing is wrong with it, and admission makes it queue.
    if (ruling.counts)
      out.backoff_ns = Backoff(backoff_base_ns_, backoff_cap_ns_, failure.retries_used);
    out.exclude_node = ruling.exclude_node && failure.exclude_enabled != 0;
    if (out.exclude_node != 0)
      out.exclude_ttl_ns = failure.exclude_ttl_ns > 0 ? failure.exclude_ttl_ns : exclude_ttl_ns_;
    cox::Put(out.reason, reason);
    cox::Put(
        out.text,
        std::string(kClassName[out.failure_class]) + ", " + reason + Details(failure) +
            (ruling.retry ? ": " : ": not retried: ") + ruling.why +
            (out.backoff_ns > 0 ? " in " + std::to_string(out.backoff_ns / kSecond) + " s" : ""));
  }

 private:
  static std::string Details(const cox_failure& failure) {
    if (failure.signal != 0) return " (signal " + std::to_string(failure.signal) + ")";
    if (failure.cause == COX_CAUSE_EXIT)
      return " (exit code " + std::to_string(failure.exit_code) + ")";
    return "";
  }

  RetryState State(const cox_failure& f) const {
    RetryState s;
    s.enabled = f.enabled != 0;
    s.policy = static_cast<RetryPolicy>(f.policy);
    s.user_rule = static_cast<UserRule>(f.user_rule);
    s.max_retries = f.max_retries;
    s.retries_used = f.retries_used;
    s.max_preemption_retries = f.max_preemption_retries;
    s.preemptions = f.preemptions;
    s.max_infra = max_infra_;
    s.infra = f.infra_failures;
    s.max_hang = max_hang_;
    s.hang = f.hang_failures;
    s.max_app = max_app_;
    s.app = f.app_failures;
    return s;
  }

  const ClassTable table_;
  const int64_t backoff_base_ns_, backoff_cap_ns_, exclude_ttl_ns_;
  const int64_t max_infra_, max_hang_, max_app_;
};

}  // namespace

COX_PLUGIN(FaultTolerance, "io.coxswain.fault-tolerance", "1.0.0",
           "classify a failure; retry, back off and avoid nodes within the job's budgets", kSchema)
