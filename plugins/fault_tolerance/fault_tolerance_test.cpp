#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cox/conformance.hpp>
#include <cox/harness.hpp>
#include <string>
#include <string_view>

namespace {

using cox::harness::Plugin;
using testing::HasSubstr;

constexpr int64_t kSecond = 1'000'000'000;

// `log` must outlive the failure.
cox_failure Failure(uint32_t cause, int32_t exit_code = 0, std::string_view log = "") {
  cox_failure f{};
  f.cause = cause;
  f.exit_code = exit_code;
  f.enabled = 1;
  f.max_retries = 3;
  f.max_preemption_retries = -1;
  f.exclude_enabled = 1;
  f.exclude_ttl_ns = 1800 * kSecond;
  f.log_tail = {log.data(), log.size()};
  return f;
}

struct Row {
  uint32_t cause;
  int32_t exit_code;
  const char* log;
  uint32_t failure_class;
  const char* reason;
};
class DefaultTable : public testing::TestWithParam<Row> {};
TEST_P(DefaultTable, Holds) {
  Plugin plugin(COX_PLUGIN_UNDER_TEST);
  const Row row = GetParam();
  const std::string log = row.log;
  const cox_fault_verdict verdict = plugin.Judge(Failure(row.cause, row.exit_code, log));
  EXPECT_EQ(verdict.failure_class, row.failure_class) << verdict.text;
  EXPECT_STREQ(verdict.reason, row.reason);
  EXPECT_EQ(verdict.retry, row.failure_class != COX_CLASS_NON_RETRYABLE) << verdict.text;
}
INSTANTIATE_TEST_SUITE_P(
    Semantics21, DefaultTable,
    testing::Values(
        Row{COX_CAUSE_PREEMPTED, 143, "", COX_CLASS_PREEMPTED, "Preempted"},
        Row{COX_CAUSE_SPOT_EVICTED, 143, "", COX_CLASS_PREEMPTED, "SpotEvicted"},
        Row{COX_CAUSE_IMAGE, 0, "", COX_CLASS_NON_RETRYABLE, "ImagePullFailed"},
        Row{COX_CAUSE_EXIT, 126, "", COX_CLASS_NON_RETRYABLE, "CommandNotExecutable"},
        Row{COX_CAUSE_EXIT, 127, "", COX_CLASS_NON_RETRYABLE, "CommandNotFound"},
        Row{COX_CAUSE_SETUP, 1, "", COX_CLASS_NON_RETRYABLE, "SetupFailed"},
        Row{COX_CAUSE_OOM, 137, "", COX_CLASS_NON_RETRYABLE, "OutOfMemory"},
        Row{COX_CAUSE_EXIT, 1, "step 3\nRuntimeError: CUDA error: out of memory\nbye",
            COX_CLASS_NON_RETRYABLE, "CudaOutOfMemory"},
        Row{COX_CAUSE_EXIT, 1, "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate",
            COX_CLASS_NON_RETRYABLE, "CudaOutOfMemory"},
        Row{COX_CAUSE_RUNTIME, 0, "", COX_CLASS_NON_RETRYABLE, "RayRuntimeMissing"},
        Row{COX_CAUSE_TIME_LIMIT, 0, "", COX_CLASS_NON_RETRYABLE, "TimeLimit"},
        Row{COX_CAUSE_NODE, 0, "", COX_CLASS_INFRA, "NodeFailure"},
        Row{COX_CAUSE_LAUNCH, 0, "", COX_CLASS_INFRA, "LaunchFailed"},
        Row{COX_CAUSE_EXIT, 1, "NVRM: Xid (PCI:0000:3b:00): 79", COX_CLASS_INFRA, "GpuFault"},
        Row{COX_CAUSE_EXIT, 1, "CUDA error: uncorrectable ECC error encountered", COX_CLASS_INFRA,
            "GpuFault"},
        Row{COX_CAUSE_EXIT, 1, "n1:77 NCCL WARN NET/IB : Got completion with error 12",
            COX_CLASS_INFRA, "NetworkFault"},
        Row{COX_CAUSE_HANG, 0, "", COX_CLASS_HANG, "Hang"},
        Row{COX_CAUSE_EXIT, 134, "Watchdog caught collective operation timeout: WorkNCCL",
            COX_CLASS_HANG, "NcclWatchdogTimeout"},
        Row{COX_CAUSE_EXIT, 1, "ValueError", COX_CLASS_APP, "ExitCode"},
        Row{COX_CAUSE_EXIT, 0, "", COX_CLASS_APP, "ExitCode"}),
    [](const testing::TestParamInfo<Row>& row) {
      return std::string(row.param.reason) + "_" + std::to_string(row.index);
    });

TEST(FaultTolerance, RetriesWithBackoffUntilTheBudgetIsUsed) {  // S108: 3 retries, 4 runs
  Plugin plugin(COX_PLUGIN_UNDER_TEST);
  cox_failure failure = Failure(COX_CAUSE_EXIT, 1);
  const int64_t waits[] = {10, 20, 40};
  for (uint32_t used = 0; used < 3; ++used) {
    failure.retries_used = used;
    const cox_fault_verdict verdict = plugin.Judge(failure);
    EXPECT_TRUE(verdict.retry && verdict.counts);
    EXPECT_EQ(verdict.backoff_ns, waits[used] * kSecond);
  }
  failure.retries_used = 3;
  const cox_fault_verdict last = plugin.Judge(failure);
  EXPECT_FALSE(last.retry);
  EXPECT_STREQ(last.text, "App, ExitCode (exit code 1): not retried: all 3 retries are used");
}

TEST(FaultTolerance, SaysWhatItWasAndWhatHappensNext) {
  Plugin plugin(COX_PLUGIN_UNDER_TEST);
  EXPECT_STREQ(plugin.Judge(Failure(COX_CAUSE_EXIT, 1)).text,
               "App, ExitCode (exit code 1): retry 1 of 3 in 10 s");
  cox_failure killed = Failure(COX_CAUSE_EXIT);
  killed.signal = 11;
  EXPECT_THAT(plugin.Judge(killed).text, HasSubstr("(signal 11)"));
  EXPECT_STREQ(plugin.Judge(Failure(COX_CAUSE_EXIT, 127)).text,
               "NonRetryable, CommandNotFound (exit code 127): not retried: NonRetryable: another "
               "attempt would fail equally");
}

TEST(FaultTolerance, OffMeansFailedWhateverItWas) {  // D17
  Plugin plugin(COX_PLUGIN_UNDER_TEST);
  for (uint32_t cause = COX_CAUSE_EXIT; cause <= COX_CAUSE_SPOT_EVICTED; ++cause) {
    cox_failure failure = Failure(cause, 1);
    failure.enabled = 0;
    EXPECT_FALSE(plugin.Judge(failure).retry) << cause;
  }
}

TEST(FaultTolerance, PreemptionNeitherCountsNorWaitsAndHasItsOwnCap) {
  Plugin plugin(COX_PLUGIN_UNDER_TEST);
  cox_failure failure = Failure(COX_CAUSE_PREEMPTED);
  failure.retries_used = 3;
  failure.preemptions = 7;
  cox_fault_verdict verdict = plugin.Judge(failure);
  EXPECT_TRUE(verdict.retry);
  EXPECT_FALSE(verdict.counts);
  EXPECT_FALSE(verdict.exclude_node);
  EXPECT_EQ(verdict.backoff_ns, 0);
  failure.max_preemption_retries = 7;
  EXPECT_FALSE(plugin.Judge(failure).retry);
}

TEST(FaultTolerance, AvoidsTheNodeOfAnInfraFailureForAsLongAsTheJobAsks) {
  Plugin plugin(COX_PLUGIN_UNDER_TEST);
  cox_failure failure = Failure(COX_CAUSE_NODE);
  EXPECT_EQ(plugin.Judge(failure).exclude_node, 1U);
  EXPECT_EQ(plugin.Judge(failure).exclude_ttl_ns, 1800 * kSecond);
  failure.exclude_ttl_ns = 0;
  EXPECT_EQ(plugin.Judge(failure).exclude_ttl_ns, 3600 * kSecond);
  failure.exclude_enabled = 0;
  EXPECT_EQ(plugin.Judge(failure).exclude_node, 0U);
  EXPECT_EQ(plugin.Judge(failure).exclude_ttl_ns, 0);
  EXPECT_EQ(plugin.Judge(Failure(COX_CAUSE_EXIT, 1)).exclude_node, 0U);
}

TEST(FaultTolerance, PoliciesDecideWhatIsRetried) {
  Plugin plugin(COX_PLUGIN_UNDER_TEST);
  cox_failure app = Failure(COX_CAUSE_EXIT, 1), hang = Failure(COX_CAUSE_HANG);
  app.policy = hang.policy = COX_POLICY_ON_INFRA_FAILURE;
  EXPECT_FALSE(plugin.Judge(app).retry);
  EXPECT_TRUE(plugin.Judge(hang).retry);
  EXPECT_EQ(plugin.Judge(hang).exclude_node, 1U);
  app.policy = hang.policy = COX_POLICY_NEVER;
  EXPECT_FALSE(plugin.Judge(hang).retry);
  app.policy = COX_POLICY_EXIT_CODE_AND_LOG;
  EXPECT_FALSE(plugin.Judge(app).retry);
  app.user_rule = COX_RULE_RETRY;
  EXPECT_TRUE(plugin.Judge(app).retry);
}

TEST(FaultTolerance, ASiteMayReplaceTheTableAndCapAClass) {
  Plugin plugin(COX_PLUGIN_UNDER_TEST, R"({
    "classification": [{"reason": "LicenseServer", "class": "Infra", "exit_codes": [42],
                        "log": "no license"}],
    "max_retries_of_class": {"Infra": 1}, "backoff_base_s": 0})");
  cox_failure failure = Failure(COX_CAUSE_EXIT, 42, "lmgrd: no license left");
  const cox_fault_verdict verdict = plugin.Judge(failure);
  EXPECT_STREQ(verdict.reason, "LicenseServer");
  EXPECT_TRUE(verdict.retry);
  EXPECT_EQ(verdict.backoff_ns, 0);
  failure.infra_failures = 1;
  EXPECT_FALSE(plugin.Judge(failure).retry);
  EXPECT_STREQ(plugin.Judge(Failure(COX_CAUSE_EXIT, 1)).reason, "Unclassified");
}

TEST(FaultTolerance, ARegularExpressionThatCannotBeMeantNamesItsRow) {
  try {
    Plugin plugin(COX_PLUGIN_UNDER_TEST, R"({"classification": [
      {"reason": "Fine", "class": "App"},
      {"reason": "Broken", "class": "App", "log": "a(b"}]})");
    FAIL() << "was created";
  } catch (const std::runtime_error& x) {
    EXPECT_THAT(x.what(),
                HasSubstr("classification.1 (Broken): log \"a(b\" is no regular expression"));
  }
}

TEST(FaultTolerance, ALongLogIsReadWholeWithoutExhaustingTheStack) {
  Plugin plugin(COX_PLUGIN_UNDER_TEST, R"({"classification": [
      {"reason": "Greedy", "class": "App", "log": "^(x|y)*z$"}]})");
  const std::string log = std::string(4'000'000, 'x') + "\n\n" + std::string(1023, 'y') + "z";
  EXPECT_STREQ(plugin.Judge(Failure(COX_CAUSE_EXIT, 1, log)).reason, "Greedy");
  const std::string early = "z\n" + std::string(20'000, 'x');
  EXPECT_STREQ(plugin.Judge(Failure(COX_CAUSE_EXIT, 1, early)).reason, "Greedy");
  const std::string middle = "y" + std::string(20'000, 'x') + "z.";
  EXPECT_STREQ(plugin.Judge(Failure(COX_CAUSE_EXIT, 1, middle)).reason, "Unclassified");
}

TEST(FaultTolerance, Conforms) {
  EXPECT_EQ(cox::conformance::Failures(COX_PLUGIN_UNDER_TEST), "");
}

}  // namespace
