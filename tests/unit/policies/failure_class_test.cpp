#include "policies/failure_class.hpp"

#include <gtest/gtest.h>

namespace cox::policies {
namespace {

TEST(Classify, TheFirstRowThatMatchesWins) {
  const FailureRow rows[] = {{"A", FailureClass::kInfra, {0}, {1, 2}, {}},
                             {"B", FailureClass::kApp, {0}, {}, {}}};
  EXPECT_EQ(Classify(rows, {0, 2, 0}), 0U);
  EXPECT_EQ(Classify(rows, {0, 3, 0}), 1U);
  EXPECT_EQ(Classify(rows, {1, 2, 0}), 2U) << "no row: size()";
}

TEST(Classify, EveryListThatIsNotEmptyMustMatch) {
  const FailureRow rows[] = {{"A", FailureClass::kApp, {}, {137}, {9}}};
  EXPECT_EQ(Classify(rows, {0, 137, 0}), 1U);
  EXPECT_EQ(Classify(rows, {0, 137, 9}), 0U);
}

FailureRow LogRow(const std::string& reason, const std::string& expression) {
  FailureRow row;
  row.reason = reason;
  row.log = *LogPattern(expression);
  return row;
}

TEST(Classify, ALineOfTheLogDecidesAfterTheRest) {
  FailureRow other = LogRow("Other", "");
  other.causes = {5};
  const FailureRow rows[] = {
      other, LogRow("Memory", "^CUDA out of memory$"), {"Rest", {}, {}, {}, {}, {}}};
  EXPECT_EQ(Classify(rows, {0, 1, 0, "one\nCUDA out of memory\nthree"}), 1U);
  EXPECT_EQ(Classify(rows, {0, 1, 0, "not CUDA out of memory"}), 2U) << "^ is a line's begin";
  EXPECT_EQ(Classify(rows, {5, 1, 0, ""}), 0U);
}

TEST(LogPattern, WhatIsNoExpressionIsToldInWords) {
  EXPECT_EQ(LogPattern("a(b").error().text.substr(0, 9), "missing )");
}

RetryState On(RetryPolicy policy = RetryPolicy::kOnFailure) {
  RetryState state;
  state.enabled = true;
  state.policy = policy;
  state.max_retries = 3;
  return state;
}

TEST(DecideRetry, OffMeansNever) {
  RetryState state = On();
  state.enabled = false;
  for (const auto c : {FailureClass::kPreempted, FailureClass::kInfra, FailureClass::kApp})
    EXPECT_FALSE(DecideRetry(c, state).retry);
}

struct Row {
  RetryPolicy policy;
  FailureClass failure_class;
  bool retry, exclude;
};
class PolicyTable : public testing::TestWithParam<Row> {};
TEST_P(PolicyTable, Holds) {  // semantics 2.1, the table of policies
  const auto [policy, failure_class, retry, exclude] = GetParam();
  const RetryRuling ruling = DecideRetry(failure_class, On(policy));
  EXPECT_EQ(ruling.retry, retry) << ruling.why;
  EXPECT_EQ(ruling.exclude_node, exclude);
}
using P = RetryPolicy;
using C = FailureClass;
INSTANTIATE_TEST_SUITE_P(Semantics21, PolicyTable,
                         testing::Values(Row{P::kOnFailure, C::kApp, true, false},
                                         Row{P::kOnFailure, C::kHang, true, false},
                                         Row{P::kOnFailure, C::kInfra, true, true},
                                         Row{P::kOnFailure, C::kNonRetryable, false, false},
                                         Row{P::kOnFailure, C::kPreempted, true, false},
                                         Row{P::kOnInfraFailure, C::kApp, false, false},
                                         Row{P::kOnInfraFailure, C::kHang, true, true},
                                         Row{P::kOnInfraFailure, C::kInfra, true, true},
                                         Row{P::kOnInfraFailure, C::kNonRetryable, false, false},
                                         Row{P::kOnInfraFailure, C::kPreempted, true, false},
                                         Row{P::kExitCodeAndLog, C::kApp, false, false},
                                         Row{P::kExitCodeAndLog, C::kInfra, true, true},
                                         Row{P::kNever, C::kInfra, false, false},
                                         Row{P::kNever, C::kPreempted, false, false}));

TEST(DecideRetry, AUserRuleGoesFirstUnderExitCodeAndLogOnly) {
  RetryState state = On(RetryPolicy::kExitCodeAndLog);
  state.user_rule = UserRule::kRetry;
  EXPECT_TRUE(DecideRetry(FailureClass::kApp, state).retry);
  EXPECT_TRUE(DecideRetry(FailureClass::kNonRetryable, state).retry);
  state.user_rule = UserRule::kFail;
  EXPECT_FALSE(DecideRetry(FailureClass::kInfra, state).retry);
  state.policy = RetryPolicy::kOnFailure;
  EXPECT_TRUE(DecideRetry(FailureClass::kInfra, state).retry);
}

TEST(DecideRetry, RetriesAreCountedToTheNumber) {  // S108: maxRetries 3 = 4 runs
  RetryState state = On();
  for (state.retries_used = 0; state.retries_used < 3; ++state.retries_used) {
    const RetryRuling ruling = DecideRetry(FailureClass::kApp, state);
    EXPECT_TRUE(ruling.retry && ruling.counts);
    EXPECT_EQ(ruling.why, "retry " + std::to_string(state.retries_used + 1) + " of 3");
  }
  EXPECT_FALSE(DecideRetry(FailureClass::kApp, state).retry);
}

TEST(DecideRetry, PreemptionHasItsOwnBudgetAndDoesNotCount) {
  RetryState state = On();
  state.retries_used = 3;
  state.preemptions = 100;
  EXPECT_TRUE(DecideRetry(FailureClass::kPreempted, state).retry);
  EXPECT_FALSE(DecideRetry(FailureClass::kPreempted, state).counts);
  state.max_preemption_retries = 100;
  EXPECT_FALSE(DecideRetry(FailureClass::kPreempted, state).retry);
  state.preemptions = 99;
  EXPECT_TRUE(DecideRetry(FailureClass::kPreempted, state).retry);
}

TEST(DecideRetry, ASiteMayCapEachClass) {
  RetryState state = On();
  state.max_infra = 1;
  state.infra = 1;
  EXPECT_FALSE(DecideRetry(FailureClass::kInfra, state).retry);
  EXPECT_TRUE(DecideRetry(FailureClass::kHang, state).retry);
  state.max_hang = 0;
  EXPECT_FALSE(DecideRetry(FailureClass::kHang, state).retry);
  state.max_app = 0;
  EXPECT_FALSE(DecideRetry(FailureClass::kApp, state).retry);
}

}  // namespace
}  // namespace cox::policies
