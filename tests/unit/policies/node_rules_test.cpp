#include "policies/node_rules.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace cox::policies {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr uint32_t kN0[] = {0}, kN1[] = {1}, kN01[] = {0, 1}, kN2[] = {2};

NodeRule In(RuleScope scope, std::span<const uint32_t> nodes, int64_t expires = INT64_MAX) {
  return {true, scope, expires, nodes};
}
NodeRule NotIn(RuleScope scope, std::span<const uint32_t> nodes, int64_t expires = INT64_MAX) {
  return {false, scope, expires, nodes};
}

std::vector<int32_t> Judged(const std::vector<NodeRule>& rules, int64_t now = 0, size_t n = 4) {
  std::vector<int32_t> out(n, -1);
  Judge(rules, now, out);
  return out;
}

TEST(NodeRules, WithoutRulesEveryNodeIsAllowed) {
  EXPECT_THAT(Judged({}), ElementsAre(kAllowed, kAllowed, kAllowed, kAllowed));
}

TEST(NodeRules, NodeInsOfOneScopeAddUp) {
  EXPECT_THAT(Judged({In(RuleScope::kUser, kN0), In(RuleScope::kUser, kN2)}),
              ElementsAre(kAllowed, kNotListed, kAllowed, kNotListed));
}

TEST(NodeRules, NodeInsOfDifferentScopesIntersect) {
  EXPECT_THAT(Judged({In(RuleScope::kUser, kN01), In(RuleScope::kTenant, kN1)}),
              ElementsAre(kNotListed, kAllowed, kNotListed, kNotListed));
  EXPECT_THAT(Judged({In(RuleScope::kJob, kN0), In(RuleScope::kTenant, kN1)}),
              ElementsAre(kNotListed, kNotListed, kNotListed, kNotListed));
}

TEST(NodeRules, DenyWinsOverEveryNodeIn) {
  EXPECT_THAT(Judged({In(RuleScope::kJob, kN01), NotIn(RuleScope::kTenant, kN1)}),
              ElementsAre(kAllowed, kBlocked, kNotListed, kNotListed));
}

TEST(NodeRules, ANodeThatIsNotListedIsNotCalledBlocked) {  // lifting the block would not help
  EXPECT_THAT(Judged({In(RuleScope::kJob, kN0), NotIn(RuleScope::kUser, kN1)}),
              ElementsAre(kAllowed, kNotListed, kNotListed, kNotListed));
}

TEST(NodeRules, ExclusionAfterFailureIsARulingOfItsOwnAndABlockGoesBeforeIt) {
  EXPECT_THAT(Judged({NotIn(RuleScope::kUser, kN0), NotIn(RuleScope::kFailure, kN01)}),
              ElementsAre(kBlocked, kExcluded, kAllowed, kAllowed));
}

TEST(NodeRules, ARuleEndsAtItsExpiryNotAfterIt) {  // S78
  const std::vector<NodeRule> rules = {NotIn(RuleScope::kUser, kN0, 100)};
  EXPECT_EQ(Judged(rules, 99)[0], kBlocked);
  EXPECT_EQ(Judged(rules, 100)[0], kAllowed);
  const std::vector<NodeRule> in = {In(RuleScope::kUser, kN0, 100)};
  EXPECT_EQ(Judged(in, 99)[1], kNotListed);
  EXPECT_EQ(Judged(in, 100)[1], kAllowed);
}

TEST(NodeRules, ANodeInThatNamesNoKnownNodeAllowsNone) {
  EXPECT_THAT(Judged({In(RuleScope::kUser, {})}, 0, 2), ElementsAre(kNotListed, kNotListed));
}

TEST(NodeRules, RowsOutsideTheClusterAreIgnored) {
  const uint32_t far[] = {77};
  EXPECT_THAT(Judged({NotIn(RuleScope::kUser, far)}, 0, 1), ElementsAre(kAllowed));
}

TEST(NodeRules, CausesAreAllRulesWithAPartInIt) {
  const std::vector<NodeRule> rules = {NotIn(RuleScope::kUser, kN0),
                                       NotIn(RuleScope::kTenant, kN01),
                                       NotIn(RuleScope::kTenant, kN2), In(RuleScope::kJob, kN0)};
  EXPECT_THAT(Causes(rules, 0, kBlocked, kN0), ElementsAre(0, 1));
  EXPECT_THAT(Causes(rules, 0, kNotListed, kN1), ElementsAre(3));
  EXPECT_THAT(Causes(rules, 0, kExcluded, kN0), IsEmpty());
}

TEST(NodeRules, AScopeThatListsTheNodeIsNotACause) {
  const std::vector<NodeRule> rules = {In(RuleScope::kUser, kN0), In(RuleScope::kUser, kN1),
                                       In(RuleScope::kTenant, kN2)};
  EXPECT_THAT(Causes(rules, 0, kNotListed, kN1), ElementsAre(2));
}

TEST(NodeRules, TheEarliestLiftIsThatOfTheFirstNodeWhoseLastRuleEnds) {
  const std::vector<NodeRule> rules = {NotIn(RuleScope::kUser, kN01, 50),
                                       NotIn(RuleScope::kTenant, kN0, 90)};
  EXPECT_EQ(EarliestLift(rules, 0, kBlocked, kN0), 90);
  EXPECT_EQ(EarliestLift(rules, 0, kBlocked, kN01), 50);
  EXPECT_EQ(EarliestLift({}, 0, kBlocked, kN01), INT64_MAX);
}

TEST(NodeRulesProperty, EqualsTheSetAlgebraAndDoesNotDependOnTheOrderOfRules) {
  std::mt19937_64 rng(13);
  for (int round = 0; round < 3'000; ++round) {
    std::vector<std::vector<uint32_t>> sets(rng() % 6);
    std::vector<NodeRule> rules;
    for (auto& set : sets) {
      for (uint32_t n = 0; n < 5; ++n)
        if (rng() % 2) set.push_back(n);
      rules.push_back({rng() % 2 == 0, static_cast<RuleScope>(rng() % 4),
                       static_cast<int64_t>(rng() % 20), set});
    }
    const int64_t now = rng() % 20;
    const auto judged = Judged(rules, now, 5);
    for (uint32_t n = 0; n < 5; ++n) {
      bool denied = false;
      bool restricted[4] = {}, listed[4] = {};
      for (const NodeRule& rule : rules) {
        if (now >= rule.expires_ns) continue;
        const bool has = std::ranges::count(rule.nodes, n) > 0;
        if (!rule.allow) denied |= has;
        if (rule.allow) restricted[int(rule.scope)] = true;
        if (rule.allow) listed[int(rule.scope)] |= has;
      }
      bool allowed = !denied;
      for (int s = 0; s < 4; ++s) allowed &= !restricted[s] || listed[s];
      EXPECT_EQ(judged[n] == kAllowed, allowed);
    }
    std::ranges::shuffle(rules, rng);
    EXPECT_EQ(Judged(rules, now, 5), judged);
  }
}

}  // namespace
}  // namespace cox::policies
