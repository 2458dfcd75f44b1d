#include <gtest/gtest.h>

#include <algorithm>

#include "lifecycle/env_contract.hpp"
#include "lifecycle/user_rule.hpp"
#include "lifecycle/uuid.hpp"
#include "unit/lifecycle/builders.hpp"

namespace cox::lifecycle::test {
namespace {

std::string Value(const Env& env, const std::string& name) {
  for (const auto& [key, value] : env) {
    if (key == name) return value;
  }
  return "<unset>";
}

TEST(EnvContract, HasTheContextAndTheMachinesOfThePlacedJob) {
  World w;
  w.Do(Admit{OnTwoNodes()});
  const Env env = EnvContract(w.task());
  EXPECT_EQ(Value(env, "X_USER_NAME"), "alice");
  EXPECT_EQ(Value(env, "X_ORG_NAME"), "acme-org");
  EXPECT_EQ(Value(env, "X_TENANT_ID"), "acme");
  EXPECT_EQ(Value(env, "X_REGION"), "north");
  EXPECT_EQ(Value(env, "X_CLUSTER"), "auriga");
  EXPECT_EQ(Value(env, "TASK_UUID"), kRoot);
  EXPECT_EQ(Value(env, "RETRY_INDEX"), "0");
  EXPECT_EQ(Value(env, "WORLD_SIZE"), "2");
  EXPECT_EQ(Value(env, "MASTER_ADDR"), "n1");
  EXPECT_EQ(Value(env, "MASTER_PORT"), "21234");
  EXPECT_EQ(Value(env, "TZ"), "UTC");
  EXPECT_EQ(Value(env, "RANK"), "<unset>");
  EXPECT_EQ(Value(RankEnv(w.task(), 1), "RANK"), "1");
  EXPECT_EQ(Value(EnvContract(w.task(), "10.0.0.1"), "MASTER_ADDR"), "10.0.0.1");
}

TEST(EnvContract, PlatformVariablesWinOverTheJobsAndTheJobsOwnStay) {
  spec::TrainingJob job = Job();
  job.env = {
      {"LR", "1e-4,\n2", false}, {"TASK_UUID", "spoofed", false}, {"TZ", "Asia/Shanghai", false}};
  World w(job);
  const Env env = EnvContract(w.task());
  EXPECT_EQ(Value(env, "LR"), "1e-4,\n2");
  EXPECT_EQ(Value(env, "TASK_UUID"), kRoot);
  EXPECT_EQ(Value(env, "TZ"), "Asia/Shanghai");
  EXPECT_EQ(std::count_if(env.begin(), env.end(), [](const auto& p) { return p.first == "TZ"; }),
            1);
}

TEST(EnvContract, TheZoneOfTheJobIsThatOfItsProcesses) {  // S6
  spec::TrainingJob job = Job();
  job.time_zone = "Asia/Tokyo";
  EXPECT_EQ(Value(EnvContract(World(job).task()), "TZ"), "Asia/Tokyo");
}

TEST(EnvContract, ARayJobGetsTheContextButNoRanks) {
  World w(DebuggedRayJob());
  w.Do(Admit{OnTwoNodes()});
  const Env env = EnvContract(w.task());
  EXPECT_EQ(Value(env, "X_USER_NAME"), "alice");
  EXPECT_EQ(Value(env, "WORLD_SIZE"), "<unset>");
  EXPECT_TRUE(RankEnv(w.task(), 0).empty());
}

TEST(EnvContract, NeighbouringJobsGetDifferentPorts) {
  EXPECT_NE(MasterPort("100"), MasterPort("101"));
  EXPECT_EQ(MasterPort("12001"), 20001);
  EXPECT_EQ(MasterPort("llama-x"), 23456);
  EXPECT_EQ(MasterPort(""), 23456);
}

TEST(Uuid, OfALaterAttemptFollowsFromTheRootAndTheCount) {
  EXPECT_EQ(AttemptUuid(kRoot, 0), kRoot);
  // Python: uuid.uuid5(uuid.UUID(root), "1")
  EXPECT_EQ(AttemptUuid(kRoot, 1), "f96d77ae-0a10-5aeb-805f-4fa2edaac99a");
  EXPECT_NE(AttemptUuid(kRoot, 1), AttemptUuid(kRoot, 2));
  EXPECT_EQ(AttemptUuid("not a uuid", 2), "not a uuid-2");
  EXPECT_NE(NewUuid(), NewUuid());
  EXPECT_EQ(NewUuid().size(), 36u);
}

spec::FailureRule Rule(spec::FailureAction action) {
  spec::FailureRule rule;
  rule.action = action;
  return rule;
}

TEST(UserRule, TheFirstThatMatchesWins) {
  auto codes = Rule(spec::FailureAction::kRetry);
  codes.on_exit_codes = {42, 43};
  auto log = Rule(spec::FailureAction::kFail);
  log.on_log = "Loss [Nn]an$";
  model::Exit exit = ExitCode(43);
  exit.log_tail = "step 1\nLoss nan\nbye";
  EXPECT_EQ(MatchRule({codes, log}, exit), uint32_t{COX_RULE_RETRY});
  EXPECT_EQ(MatchRule({log, codes}, exit), uint32_t{COX_RULE_FAIL});
  EXPECT_EQ(MatchRule({codes, log}, ExitCode(1)), uint32_t{COX_RULE_NONE});
}

TEST(UserRule, EveryListThatIsNotEmptyMustMatch) {
  auto rule = Rule(spec::FailureAction::kRetry);
  rule.on_exit_codes = {42};
  rule.on_log = "timeout";
  EXPECT_EQ(MatchRule({rule}, ExitCode(42)), uint32_t{COX_RULE_NONE});
  model::Exit exit = ExitCode(42);
  exit.log_tail = "timeout";
  EXPECT_EQ(MatchRule({rule}, exit), uint32_t{COX_RULE_RETRY});
}

TEST(UserRule, SignalsAreMatchedByName) {
  auto rule = Rule(spec::FailureAction::kRetry);
  rule.on_signals = {"SIGSEGV", "SIGKILL"};
  model::Exit exit;
  exit.signal = 9;
  EXPECT_EQ(MatchRule({rule}, exit), uint32_t{COX_RULE_RETRY});
  exit.signal = 15;
  EXPECT_EQ(MatchRule({rule}, exit), uint32_t{COX_RULE_NONE});
  rule.on_signals.clear();
  rule.on_exit_codes = {0};
  EXPECT_EQ(MatchRule({rule}, exit), uint32_t{COX_RULE_NONE}) << "killed is not exit code 0";
}

TEST(UserRule, AnEmptyRuleOrABadExpressionMatchesNothing) {
  auto rule = Rule(spec::FailureAction::kRetry);
  EXPECT_EQ(MatchRule({rule}, ExitCode(1)), uint32_t{COX_RULE_NONE});
  rule.on_log = "(unclosed";
  EXPECT_EQ(MatchRule({rule}, ExitCode(1)), uint32_t{COX_RULE_NONE});
}

TEST(Regress, AnExpressionCannotHoldTheDecisionThread) {
  auto rule = Rule(spec::FailureAction::kRetry);
  model::Exit exit;
  exit.log_tail = std::string(20'000, 'a') + "\nc";
  for (const char* expression : {"(a*)*b", "(a|aa)+$b", "(.*)*x", "((a?){30}){30}b"}) {
    rule.on_log = expression;
    EXPECT_EQ(MatchRule({rule}, exit), uint32_t{COX_RULE_NONE}) << expression;
  }
  rule.on_log = "(a|b)*c";
  EXPECT_EQ(MatchRule({rule}, exit), uint32_t{COX_RULE_RETRY});
}

}  // namespace
}  // namespace cox::lifecycle::test
