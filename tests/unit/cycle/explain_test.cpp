// Why jobs wait, in which order they are looked at, and when to decide again (S47, S56, S57,
// S71-S80).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cox/plugin.hpp>
#include <random>

#include "cycle/text.hpp"
#include "support/world.hpp"

namespace cox::test {
namespace {

using testing::HasSubstr;
using testing::Not;
using Scope = model::PolicyRow::Scope;

TEST(Order, PriorityThenSubmissionThenId) {  // S56
  World w;
  w.Node("n1", 8);
  w.Pending("medium", {});
  w.Pending("later", {}).submitted_at = At(500);
  w.Pending("low", {}, Priority::kLow);
  w.Pending("idle", {.source = CapacityType::kIdle}, Priority::kHigh);
  w.Pending("high", {}, Priority::kHigh);
  w.Pending("twin", {}).submitted_at = At(500);
  for (const auto& plugins :
       {std::vector<std::string>{}, std::vector<std::string>{"priority_multifactor"}}) {
    auto loaded = BuiltIns(plugins);
    const Decision d = w.Decide(loaded);
    std::string order;
    for (const auto& start : d.starts) order += std::to_string(start.task.value);
    if (plugins.empty()) {
      EXPECT_EQ(order, "512634") << "idle has no priority and comes last";
    }
    EXPECT_LT(order.find('5'), order.find('1'));
    EXPECT_LT(order.find('1'), order.find('3'));
  }
}

TEST(Order, PriorityNeverBypassesQuota) {  // S57
  World w;
  w.Node("n1", 8);
  w.Quota(spec::QuotaLevel::kUser, "u1", 2);
  const TaskId high = w.Pending("high", {.gpus = 4}, Priority::kHigh).id;
  w.Pending("low", {.gpus = 2}, Priority::kLow);
  auto plugins = BuiltIns();
  const Decision d = w.Decide(plugins);
  EXPECT_EQ(Starts(d, w), "low@n1");
  EXPECT_EQ(Codes(d, high), "DemandExceedsQuota");
}

// Counts what it is asked.
class Strict final : public cox::Quota {
 public:
  explicit Strict(const cox::Config&) {}
  void Admit(const cox_view&, const cox_asks& asks, cox::Span<cox_verdict> out) override {
    ++calls;
    for (uint32_t a = 0; a < asks.count; ++a) out[a] = asks.units[a] > 1 ? 1 : COX_ALLOW;
  }
  void Explain(const cox_view&, const cox_asks& asks, uint32_t ask, cox_verdict,
               cox_reason& out) override {
    ++explained;
    cox::Put(out.text, "units " + std::to_string(asks.units[ask]));
  }
  static inline int calls = 0, explained = 0;
};

TEST(Admit, ABlockedQueueIsAskedInFewCallsAndEqualAsksAreExplainedOnce) {
  World w;
  w.Node("n1", 8);
  for (int i = 0; i < 60; ++i) w.Pending("j", {.gpus = 2 + i % 2});
  w.Pending("starts", {.gpus = 1}, Priority::kLow);
  static const cox_plugin table = MakePlugin<Strict>("t.strict", "1", "refuses", "{}");
  spec::PluginConfig config;
  config.name = "strict";
  auto plugins = host::Plugins::Create({host::StaticPlugin{&table, config}});
  Strict::calls = Strict::explained = 0;
  const Decision d = w.Decide(*plugins);
  EXPECT_EQ(Starts(d, w), "starts@n1");
  EXPECT_EQ(Strict::calls, 6) << "1, 2, 4, 8, 16 and the rest";
  EXPECT_EQ(Strict::explained, 2);
  for (uint64_t id = 1; id <= 60; ++id) {
    EXPECT_EQ(Texts(d, {id}), id % 2 == 1 ? "units 2" : "units 3");
  }
}

TEST(Eligible, AHeldJobWaitsForItsRelease) {
  World w;
  w.Node("n1", 8);
  w.Pending("j", {}).held = "held by ann";
  auto plugins = BuiltIns();
  const Decision d = w.Decide(plugins);
  EXPECT_EQ(Codes(d, {1}), "Held");
  EXPECT_EQ(Texts(d, {1}), "held by ann");
  EXPECT_EQ(d.wake_at, std::nullopt);
}

TEST(Eligible, ABackOffEndsByItsTimer) {
  World w;
  w.Node("n1", 8);
  w.Pending("j", {}).not_before = At(1010);
  auto plugins = BuiltIns();
  Decision d = w.Decide(plugins);
  EXPECT_EQ(Codes(d, {1}), "BackoffAfterFailure");
  EXPECT_THAT(Texts(d, {1}), HasSubstr("1970-01-01T00:16:50Z"));
  EXPECT_EQ(d.waiting[0].earliest, At(1010));
  EXPECT_EQ(d.wake_at, At(1010));
  w.snapshot.now = At(1010);
  EXPECT_EQ(Starts(w.Decide(plugins), w), "j@n1");
}

TEST(Eligible, AJobWithoutCandidatesIsToldSo) {
  World w;
  w.Pending("j", {}).candidates.clear();
  auto plugins = BuiltIns();
  EXPECT_EQ(Codes(w.Decide(plugins), {1}), "InsufficientResources");
}

struct D9 {
  World w;
  host::Plugins plugins = BuiltIns();
  D9() {
    for (const char* name : {"n1", "n2", "n3"}) w.Node(name, 8);
    w.Policy("P1", Scope::kUser, "u1", {"n1"}, At(50));
    w.Policy("P2", Scope::kTenant, "T1", {"n2"}, At(100));
    w.snapshot.now = At(0);
    w.Pending("J1", {.replicas = 2, .gpus = 8}).owner = {"u1", "p", "T1"};
  }
};

TEST(NodePolicy, D9_NamesEachPolicyThatIsInTheWayAndTheEarliestEnd) {
  D9 t;
  const Decision d = t.w.Decide(t.plugins);
  EXPECT_EQ(Starts(d, t.w), "");
  EXPECT_THAT(Texts(d, {1}), HasSubstr("quota check failed due to node blacklist: n1,n2 ("));
  EXPECT_THAT(Texts(d, {1}), HasSubstr("P1 until 1970-01-01T00:00:50Z"));
  EXPECT_THAT(Texts(d, {1}), HasSubstr("P2 until 1970-01-01T00:01:40Z"));
  EXPECT_EQ(Codes(d, {1}), "NodePolicy");
  EXPECT_EQ(d.waiting[0].earliest, At(50));
  EXPECT_EQ(d.wake_at, At(50));
}

TEST(NodePolicy, D9_ATenantsPolicyHitsItsOtherUsersAUsersDoesNot) {
  D9 t;
  t.w.Pending("J2", {.replicas = 2, .gpus = 8}).owner = {"u2", "p", "T1"};
  t.w.Pending("J3", {.gpus = 8}).owner = {"u3", "p", "T2"};
  EXPECT_EQ(Starts(t.w.Decide(t.plugins), t.w), "J2@n1,n3 J3@n2");
}

TEST(NodePolicy, D9_TheJobStartsAtTheVeryEndOfThePolicy) {  // S78
  D9 t;
  t.w.snapshot.now = At(49);
  EXPECT_EQ(Starts(t.w.Decide(t.plugins), t.w), "");
  t.w.snapshot.now = At(50);
  EXPECT_EQ(Starts(t.w.Decide(t.plugins), t.w), "J1@n1,n3");
}

TEST(NodePolicy, AFullClusterIsNotBlamedOnABlacklist) {  // S80
  D9 t;
  t.w.Running("full", {.replicas = 3, .gpus = 4}, {"n1", "n2", "n3"}, Priority::kHigh);
  const Decision d = t.w.Decide(t.plugins);
  EXPECT_EQ(Codes(d, {1}), "InsufficientResources");
  EXPECT_THAT(Texts(d, {1}), Not(HasSubstr("blacklist")));
}

TEST(NodePolicy, OnlyThePolicyWhoseEndWouldHelpIsNamed) {
  D9 t;  // n2 is busy: lifting P2 alone would not help
  t.w.Running("r", {.gpus = 8}, {"n2"}, Priority::kHigh);
  const Decision d = t.w.Decide(t.plugins);
  EXPECT_THAT(Texts(d, {1}), HasSubstr("blacklist: n1 ("));
  EXPECT_THAT(Texts(d, {1}), Not(HasSubstr("P2")));
}

TEST(NodePolicy, RefusalsThatBlockOnlyTogetherAreAllNamed) {
  World w;  // one node not listed, the other blocked; both are needed
  w.Node("n1", 8);
  w.Node("n2", 8);
  w.Policy("in", Scope::kUser, "u1", {"n1"}).type = spec::NodePolicyType::kNodeIn;
  w.Policy("out", Scope::kTenant, "acme", {"n1"});
  w.Pending("j", {.replicas = 2, .gpus = 8});
  auto plugins = BuiltIns();
  EXPECT_EQ(Codes(w.Decide(plugins), {1}), "NodePolicy NodePolicy");
}

TEST(NodePolicy, RunningJobsAreNotTouched) {  // D26
  D9 t;
  t.w.Running("r", {.gpus = 8}, {"n1"}).owner = {"u1", "p", "T1"};
  EXPECT_EQ(Evicted(t.w.Decide(t.plugins), t.w), "");
}

TEST(NodePolicy, PreemptionKeepsToAllowedNodes) {
  World w;
  w.Node("n1", 8);
  w.Node("n2", 8);
  w.Running("v1", {.gpus = 8, .source = CapacityType::kSpot}, {"n1"});
  w.Running("v2", {.gpus = 8, .source = CapacityType::kSpot}, {"n2"}).started_at = At(-100);
  w.Policy("out", Scope::kUser, "u1", {"n1"});
  w.Pending("j", {.gpus = 8}, Priority::kHigh);
  auto plugins = BuiltIns();
  EXPECT_EQ(Evicted(w.Decide(plugins), w), "v2");
}

TEST(QueueRank, CountsThoseLookedAtEarlierThatStillWait) {  // S47
  World w;
  w.Node("n1", 8);
  w.Pending("starts", {.gpus = 8});
  w.Pending("a", {.gpus = 8}, Priority::kLow);
  w.Pending("b", {.gpus = 8}).owner.user = "u2";
  const TaskId c = w.Pending("c", {.gpus = 8}, Priority::kLow).id;
  auto plugins = BuiltIns();
  const Decision d = w.Decide(plugins);
  const model::QueueRank rank = Why(d, c)->queue;
  EXPECT_EQ(rank.rank_in_pool, 2);
  EXPECT_EQ(rank.ahead_in_pool, (model::QueueRank::Ahead{.medium = 1, .low = 1}));
  EXPECT_EQ(rank.rank_in_user, 1);
  EXPECT_EQ(rank.ahead_in_user, (model::QueueRank::Ahead{.low = 1}));
}

TEST(Room, NamesTheEarliestKnownEnd) {
  World w;
  w.Node("n1", 8);
  w.Running("long", {.gpus = 4}, {"n1"}).ends_by = At(9000);
  w.Running("short", {.gpus = 4}, {"n1"}).ends_by = At(2000);
  w.Pending("j", {.gpus = 8});
  w.Pending("his", {.gpus = 8}).owner.user = "u0";  // as those who run
  auto plugins = BuiltIns();
  const Decision d = w.Decide(plugins);
  EXPECT_THAT(Texts(d, {3}),
              HasSubstr("earliest known end: a task of another user at 1970-01-01T00:33:20Z"));
  EXPECT_THAT(Texts(d, {4}), HasSubstr("earliest known end: task short at 1970-01-01T00:33:20Z"));
}

TEST(Decide, AnyOrderOfTheRowsIsTheSameDecision) {
  World w;
  for (int n = 0; n < 5; ++n) w.Node("n" + std::to_string(n), 8);
  for (int j = 0; j < 4; ++j) {
    w.Running("r" + std::to_string(j), {.gpus = 6, .source = CapacityType::kSpot},
              {"n" + std::to_string(j)});
  }
  for (int j = 0; j < 6; ++j) w.Pending("p" + std::to_string(j), {.gpus = 2 + j});
  w.Policy("a", Scope::kUser, "u1", {"n4"}, At(2000));
  w.Policy("b", Scope::kTenant, "acme", {"n3"}, At(3000));
  auto plugins = BuiltIns();
  const Decision expected = w.Decide(plugins);
  EXPECT_FALSE(expected.starts.empty());
  EXPECT_FALSE(expected.evictions.empty());
  std::mt19937 random(1);
  for (int i = 0; i < 20; ++i) {
    World shuffled = w;
    std::ranges::shuffle(shuffled.snapshot.nodes, random);
    std::ranges::shuffle(shuffled.snapshot.pending, random);
    std::ranges::shuffle(shuffled.snapshot.running, random);
    std::ranges::shuffle(shuffled.snapshot.policies, random);
    EXPECT_EQ(shuffled.Decide(plugins), expected);
  }
}

TEST(Text, NamesOwnTasksAndCountsThoseOfOthers) {  // S5
  const std::string reader = "ann";
  cycle::TasksFor tasks(reader);
  tasks.Add("bob", "b1");
  EXPECT_EQ(tasks.Text(), "1 task of others");
  for (const char* name : {"a1", "a2", "a3", "a4"}) tasks.Add("ann", name);
  tasks.Add("bob", "b2");
  EXPECT_EQ(tasks.Text(), "a1, a2, a3 and 1 more and 2 tasks of others");
  EXPECT_EQ(tasks.count(), 6);
  EXPECT_EQ(cycle::TaskFor("ann", "ann", "a1"), "task a1");
  EXPECT_EQ(cycle::TaskFor("ann", "bob", "b1"), "a task of another user");
}

TEST(Text, AmountsAndTimesReadWell) {
  EXPECT_EQ(cycle::Amount({64'000, 512 * 1024, 8'000}), "8 GPU, 64 CPU, 512 GiB");
  EXPECT_EQ(cycle::Amount({500, 1500, 1'250}), "1.25 GPU, 0.5 CPU, 1500 MiB");
  EXPECT_EQ(cycle::Utc(At(1'700'000'000)), "2023-11-14T22:13:20Z");
  EXPECT_EQ(cycle::Count(1, "node"), "1 node");
  EXPECT_EQ(cycle::Count(2, "node"), "2 nodes");
}

}  // namespace
}  // namespace cox::test
