// Who makes room for whom (2.6, D3, D24, scenarios D4-D7).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/world.hpp"

namespace cox::test {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr CapacityType kSpot = CapacityType::kSpot, kIdle = CapacityType::kIdle;

RunningJob& StartedAt(RunningJob& job, int64_t s) {
  job.started_at = At(s);
  return job;
}

World FourSpotJobs() {  // D4
  World w;
  w.snapshot.now = At(10);
  w.Node("n1", 8);
  w.Node("n2", 8);
  return w;
}

TEST(Preempt, D4_TheVictimThatLosesLeastGoesAlone) {
  World w = FourSpotJobs();
  StartedAt(w.Running("V1", {.gpus = 4, .source = kSpot}, {"n1"}), 4);
  StartedAt(w.Running("V2", {.gpus = 4, .source = kSpot}, {"n1"}), 5);
  StartedAt(w.Running("V3", {.gpus = 2, .source = kSpot}, {"n2"}), 1);
  StartedAt(w.Running("V4", {.gpus = 6, .source = kSpot}, {"n2"}), 2);
  w.Pending("P", {.gpus = 4}, Priority::kHigh);
  auto plugins = BuiltIns();
  const Decision d = w.Decide(plugins);
  EXPECT_EQ(Evicted(d, w), "V2");
  ASSERT_EQ(d.nominations.size(), 1U);
  EXPECT_EQ(d.nominations[0].placement.replicas[0].node, "n1");
}

TEST(Preempt, D4b_AGangIsCountedWhole) {
  World w = FourSpotJobs();
  StartedAt(w.Running("V1", {.gpus = 4, .source = kSpot}, {"n1"}), 4);
  RunningJob& g = w.Running("G", {.gpus = 4, .source = kSpot}, {"n1"});
  StartedAt(g, 5).placement.replicas.push_back({Role::kWorker, 1, "n2", Gpus(2)});
  StartedAt(w.Running("V4", {.gpus = 6, .source = kSpot}, {"n2"}), 2);
  w.Pending("P", {.gpus = 4}, Priority::kHigh);
  auto plugins = BuiltIns();
  EXPECT_EQ(Evicted(w.Decide(plugins), w), "V1");
}

TEST(Preempt, D4c_OneOfManyIsEnough) {
  World w;
  w.Node("n1", 11);
  for (int i = 0; i < 11; ++i) {
    w.Running("v" + std::to_string(i), {.source = kSpot}, {"n1"});
  }
  w.Pending("P", {}, Priority::kHigh);
  auto plugins = BuiltIns();
  EXPECT_EQ(w.Decide(plugins).evictions.size(), 1U);
}

TEST(Preempt, D5_AnInfeasiblePreemptorTouchesNobody) {
  World w;
  w.Node("n1", 8);
  w.Node("n2", 8);
  w.Running("N1", {.gpus = 4}, {"n1"}).guaranteed = true;
  w.Running("L1", {.gpus = 4, .source = kSpot}, {"n1"});
  w.Running("N2", {.gpus = 4}, {"n2"}).guaranteed = true;
  w.Running("L2", {.gpus = 4, .source = kSpot}, {"n2"});
  const TaskId h = w.Pending("H", {.gpus = 8}, Priority::kHigh).id;
  auto plugins = BuiltIns();
  for (int cycle = 0; cycle < 10; ++cycle) {
    const Decision d = w.Decide(plugins);
    EXPECT_EQ(Evicted(d, w), "");
    EXPECT_THAT(Texts(d, h), HasSubstr("needs 8 GPU"));
    EXPECT_THAT(Texts(d, h), HasSubstr("best n1: 4 GPU"));
    EXPECT_THAT(Texts(d, h), HasSubstr("after preempting all preemptible"));
  }
  std::erase_if(w.snapshot.running, [](const RunningJob& job) { return job.name == "N1"; });
  EXPECT_EQ(Evicted(w.Decide(plugins), w), "L1");
}

TEST(Preempt, D6_IdleGoesBeforeSpotAndNobodyWithoutQuotaPreempts) {
  World w;
  w.Node("n1", 8);
  w.Node("n2", 8);
  w.Quota(spec::QuotaLevel::kTenant, "A", 8);
  w.Quota(spec::QuotaLevel::kTenant, "B", 8);
  w.Running("a1", {.gpus = 8}, {"n1"}).owner = {"ua", "pa", "A"};
  w.Running("a3", {.gpus = 4, .source = kSpot}, {"n2"}).owner = {"ua", "pa", "A"};
  w.Running("a4", {.gpus = 4, .source = kIdle}, {"n2"}).owner = {"ua", "pa", "A"};
  const TaskId a2 = w.Pending("a2", {.gpus = 4}, Priority::kHigh).id;
  w.snapshot.pending.back().owner = {"ua", "pa", "A"};
  for (const char* name : {"b1", "b2", "b3"}) {
    w.Pending(name, {.gpus = 4}).owner = {"ub", "pb", "B"};
  }
  auto plugins = BuiltIns();
  const Decision d = w.Decide(plugins);
  EXPECT_EQ(Codes(d, a2), "InsufficientQuota");
  EXPECT_EQ(Evicted(d, w), "a3 a4");
  ASSERT_EQ(d.evictions.size(), 2U);
  EXPECT_EQ(d.evictions[0].victim, TaskId{3}) << "b1 takes the idle one";
  EXPECT_EQ(d.evictions[1].victim, TaskId{2}) << "b2 the spot one";
  EXPECT_EQ(Codes(d, {7}), "InsufficientQuota") << "b3: 8 of 8, as what is kept counts";
}

// 3x2 preemptors by 3x2 victims, all reserved: the golden table of 2.6.
TEST(Preempt, TheMatrixOfPriorityAndGuarantee) {
  const std::pair<Priority, bool> kinds[] = {{Priority::kLow, false},   {Priority::kMedium, false},
                                             {Priority::kHigh, false},  {Priority::kLow, true},
                                             {Priority::kMedium, true}, {Priority::kHigh, true}};
  std::string table;
  auto plugins = BuiltIns();
  for (const auto& [p, p_guaranteed] : kinds) {
    for (const auto& [v, v_guaranteed] : kinds) {
      World w;
      w.Node("n1", 8);
      w.Running("v", {.gpus = 8}, {"n1"}, v).guaranteed = v_guaranteed;
      w.Pending("p", {.gpus = 8}, p).guaranteed = p_guaranteed;
      table += w.Decide(plugins).evictions.empty() ? '.' : 'x';
    }
    table += '\n';
  }
  //               victim: low medium high, then guaranteed low medium high
  EXPECT_EQ(table,
            "......\n"
            "x.....\n"
            "xx....\n"
            "x.....\n"  // D24: a guaranteed job against an equal one without guarantee
            "xx....\n"
            "xxx...\n");
}

TEST(Preempt, IdleAndSpotYieldToAnyJobWithQuotaAndNeverPreempt) {  // D3, D25
  std::string table;
  auto plugins = BuiltIns();
  for (const CapacityType p : {CapacityType::kReserved, CapacityType::kOnDemand, kSpot, kIdle}) {
    for (const CapacityType v : {CapacityType::kReserved, CapacityType::kOnDemand, kSpot, kIdle}) {
      World w;
      w.Node("n1", 8);
      w.Running("v", {.gpus = 8, .source = v}, {"n1"}, Priority::kHigh).guaranteed = v == kSpot;
      w.Pending("p", {.gpus = 8, .source = p}, Priority::kLow);
      table += w.Decide(plugins).evictions.empty() ? '.' : 'x';
    }
    table += '\n';
  }
  EXPECT_EQ(table, "..xx\n..xx\n....\n....\n");
}

TEST(Preempt, NoBandIsTouchedWhileALowerOneSuffices) {
  World w;
  w.Node("n1", 8);
  w.Node("n2", 8);
  w.Running("i1", {.gpus = 4, .source = kIdle}, {"n1"});
  w.Running("i2", {.gpus = 4, .source = kIdle}, {"n1"});
  w.Running("low", {.gpus = 8}, {"n2"}, Priority::kLow);
  w.Pending("p", {.gpus = 8}, Priority::kHigh);
  auto plugins = BuiltIns();
  EXPECT_EQ(Evicted(w.Decide(plugins), w), "i1 i2");
}

TEST(Preempt, IdleOfLowStabilityGoesFirst) {
  World w;
  w.Node("n1", 8);
  w.Running("high", {.gpus = 4, .source = kIdle}, {"n1"}).stability = spec::Stability::kHigh;
  w.Running("low", {.gpus = 4, .source = kIdle}, {"n1"}).stability = spec::Stability::kLow;
  w.Pending("p", {.gpus = 4}, Priority::kLow);
  auto plugins = BuiltIns();
  EXPECT_EQ(Evicted(w.Decide(plugins), w), "low");
}

TEST(Preempt, FewestJobsThenTheLatestStart) {
  World w;
  w.Node("n1", 8);
  w.Node("n2", 8);
  w.Node("n3", 8);
  for (const char* name : {"a", "b", "c", "d"})
    w.Running(name, {.gpus = 2}, {"n1"}, Priority::kLow);
  StartedAt(w.Running("old", {.gpus = 8}, {"n2"}, Priority::kLow), 10);
  StartedAt(w.Running("young", {.gpus = 8}, {"n3"}, Priority::kLow), 20);
  w.Pending("p", {.gpus = 8}, Priority::kHigh);
  auto plugins = BuiltIns();
  EXPECT_EQ(Evicted(w.Decide(plugins), w), "young");
}

TEST(Preempt, ALargeSearchStillSendsNobodyAwayInVain) {
  World w;  // 40 victims: beyond the exact search for a gang of 8
  for (int n = 0; n < 40; ++n) {
    const std::string node = "n" + std::to_string(10 + n);
    w.Node(node, 8);
    w.Running("v" + std::to_string(n), {.gpus = 6}, {node}, Priority::kLow);
  }
  w.Pending("p", {.replicas = 8, .gpus = 8}, Priority::kHigh);
  auto plugins = BuiltIns();
  EXPECT_EQ(w.Decide(plugins).evictions.size(), 8U);
}

TEST(Preempt, TheVictimReadsTheWordsOfTheContract) {  // S53
  World w;
  w.Node("n1", 8);
  w.Running("victim", {.gpus = 8, .source = kSpot}, {"n1"}).attempt = 3;
  const TaskId p = w.Pending("strong", {.gpus = 8}, Priority::kHigh).id;
  auto plugins = BuiltIns();
  const Decision d = w.Decide(plugins);
  ASSERT_EQ(d.evictions.size(), 1U);
  EXPECT_EQ(d.evictions[0].message, "task victim was preempted by another task");
  EXPECT_EQ(d.evictions[0].attempt, 3);
  EXPECT_EQ(d.evictions[0].preemptor, p);
  EXPECT_TRUE(d.evictions[0].spot_reclaim);
  EXPECT_EQ(Codes(d, p), "WaitingForPreemption InsufficientResources");
  EXPECT_THAT(Texts(d, p), HasSubstr("preempts 1 task of others; n1 kept for it"));
}

// The first may not use the node on which a victim would help; that said nothing about the second.
TEST(Regress, ABlockOfOneJobsNodesDoesNotMakeItsTwinHopeless) {
  World w;
  w.Node("n1", 8);
  w.Running("v", {.gpus = 8, .source = kSpot}, {"n1"});
  w.Policy("np", model::PolicyRow::Scope::kUser, "u1", {"n1"}, At(2000));
  w.Pending("blocked", {.gpus = 8}, Priority::kHigh);
  w.Pending("twin", {.gpus = 8}, Priority::kHigh).owner.user = "u2";
  auto plugins = BuiltIns();
  const Decision d = w.Decide(plugins);
  EXPECT_EQ(Evicted(d, w), "v");
  ASSERT_EQ(d.nominations.size(), 1U);
  EXPECT_EQ(d.nominations[0].task, TaskId{3});
}

TEST(Preempt, OnlyTasksOfTheSameUserAreNamed) {  // S5
  World w;
  w.Node("n1", 8);
  w.Node("n2", 8);
  w.Running("mine", {.gpus = 8, .source = kSpot}, {"n1"}).owner.user = "u1";
  w.Running("secret", {.gpus = 8, .source = kSpot}, {"n2"});
  const TaskId p = w.Pending("strong", {.replicas = 2, .gpus = 8}, Priority::kHigh).id;
  auto plugins = BuiltIns();
  const Decision d = w.Decide(plugins);
  ASSERT_EQ(d.evictions.size(), 2U);
  EXPECT_EQ(d.evictions[0].message, "task mine was preempted by another task strong");
  EXPECT_EQ(d.evictions[1].message, "task secret was preempted by another task");
  EXPECT_THAT(Texts(d, p), HasSubstr("preempts mine and 1 task of others; n1, n2 kept for it"));
  EXPECT_THAT(Texts(d, p), Not(HasSubstr("secret")));
}

// The next cycle: the evicted leave by `leaves_by`, what was nominated stays so.
void Carry(World& w, const Decision& d, int64_t now, int64_t leaves_by) {
  for (const model::Eviction& e : d.evictions) {
    for (RunningJob& job : w.snapshot.running) {
      if (job.id != e.victim) continue;
      job.leaving = true;
      job.leaves_by = At(leaves_by);
    }
  }
  w.snapshot.nominations = d.nominations;
  w.snapshot.now = At(now);
}

void Gone(World& w, const std::string& name) {
  std::erase_if(w.snapshot.running, [&](const RunningJob& job) { return job.name == name; });
}

void Cancelled(World& w, const std::string& name) {
  std::erase_if(w.snapshot.pending, [&](const PendingJob& job) { return job.name == name; });
}

// D7: two victims that leave at different times.
struct TwoNodes {
  World w;
  host::Plugins plugins = BuiltIns();
  TwoNodes() {
    w.snapshot.now = At(10);
    w.Node("n1", 8);
    w.Node("n2", 8);
    w.Running("A", {.gpus = 8, .source = kSpot}, {"n1"});
    w.Running("B", {.gpus = 8, .source = kSpot}, {"n2"});
    w.Pending("H", {.replicas = 2, .gpus = 8}, Priority::kHigh);
    const Decision d = w.Decide(plugins);
    EXPECT_EQ(Evicted(d, w), "A B");
    Carry(w, d, 12, 40);
  }
};

TEST(Nominate, D7_VictimsAreEvictedOnceAndTheFirstFreeNodeIsKept) {
  TwoNodes t;
  Decision d = t.w.Decide(t.plugins);
  EXPECT_EQ(Evicted(d, t.w), "");
  EXPECT_EQ(Codes(d, {3}), "WaitingForPreemption InsufficientResources");
  Carry(t.w, d, 16, 40);
  Gone(t.w, "A");
  const TaskId c = t.w.Pending("C", {.gpus = 4}, Priority::kMedium).id;
  d = t.w.Decide(t.plugins);
  EXPECT_EQ(Starts(d, t.w), "") << "n1 is free, but kept";
  EXPECT_EQ(Evicted(d, t.w), "");
  EXPECT_THAT(Texts(d, c), HasSubstr("n1 is kept for task H"));
  Carry(t.w, d, 40, 40);
  Gone(t.w, "B");
  d = t.w.Decide(t.plugins);
  EXPECT_EQ(Starts(d, t.w), "H@n1,n2");
  EXPECT_TRUE(d.nominations.empty());
}

TEST(Nominate, D7_ACancelledPreemptorsNodesAreFreeInTheSameCycle) {
  TwoNodes t;
  Gone(t.w, "A");
  Cancelled(t.w, "H");
  t.w.Pending("C", {.gpus = 4});
  const Decision d = t.w.Decide(t.plugins);
  EXPECT_EQ(Starts(d, t.w), "C@n1");
  EXPECT_TRUE(d.nominations.empty());
}

TEST(Nominate, AHeldPreemptorKeepsNothing) {
  TwoNodes t;
  Gone(t.w, "A");
  t.w.snapshot.pending[0].held = "held by ann";
  t.w.Pending("C", {.gpus = 4});
  EXPECT_EQ(Starts(t.w.Decide(t.plugins), t.w), "C@n1");
}

TEST(Nominate, APreemptorThatBacksOffKeepsNothing) {
  TwoNodes t;
  Gone(t.w, "A");
  t.w.snapshot.pending[0].not_before = At(100'000);
  t.w.Pending("C", {.gpus = 4});
  EXPECT_EQ(Starts(t.w.Decide(t.plugins), t.w), "C@n1");
}

TEST(Nominate, AVictimThatNeverLeavesDoesNotKeepNodesForEver) {
  TwoNodes t;
  Decision d = t.w.Decide(t.plugins);
  ASSERT_EQ(d.nominations.size(), 1U);
  EXPECT_EQ(d.nominations[0].expires_at, At(100)) << "the grace ends at 40, and a minute";
  EXPECT_EQ(d.wake_at, At(100));
  Carry(t.w, d, 100, 40);
  Gone(t.w, "A");
  t.w.Pending("C", {.gpus = 4});
  d = t.w.Decide(t.plugins);
  EXPECT_EQ(Starts(d, t.w), "C@n1");
  EXPECT_TRUE(d.nominations.empty());
}

TEST(Nominate, TheQuotaOfANomineeIsKeptToo) {
  World w;
  w.Node("n1", 8);
  w.Node("n2", 8);
  w.Quota(spec::QuotaLevel::kTenant, "acme", 8);
  w.Running("v", {.gpus = 8, .source = kSpot}, {"n1"});
  w.Running("x", {.gpus = 4, .source = kSpot}, {"n2"});
  w.Pending("H", {.gpus = 8}, Priority::kHigh);
  const TaskId c = w.Pending("C", {.gpus = 4}).id;
  auto plugins = BuiltIns();
  const Decision d = w.Decide(plugins);
  EXPECT_EQ(Starts(d, w), "") << "C would fit beside x, but its quota is H's";
  EXPECT_EQ(Codes(d, c), "InsufficientQuota");
}

TEST(Nominate, WhoLeavesAnywayIsRoomEnough) {
  World w;
  w.Node("n1", 8);
  w.Node("n2", 8);
  RunningJob& stopping = w.Running("stopping", {.gpus = 8}, {"n1"});
  stopping.leaving = true;
  stopping.leaves_by = At(1030);
  w.Running("v", {.gpus = 8, .source = kSpot}, {"n2"});
  const TaskId p = w.Pending("p", {.gpus = 8}, Priority::kHigh).id;
  auto plugins = BuiltIns();
  const Decision d = w.Decide(plugins);
  EXPECT_EQ(Evicted(d, w), "");
  EXPECT_EQ(Codes(d, p), "WaitingForPreemption InsufficientResources");
}

TEST(Nominate, WhatComesBackServesOnePreemptorOnly) {
  World w;
  w.Node("n1", 8);
  w.Node("n2", 8);
  RunningJob& stopping = w.Running("stopping", {.gpus = 8}, {"n1"});
  stopping.leaving = true;
  stopping.leaves_by = At(1030);
  w.Running("v", {.gpus = 8, .source = kSpot}, {"n2"});
  w.Pending("p", {.gpus = 8}, Priority::kHigh);
  w.Pending("q", {.gpus = 8}, Priority::kHigh);
  auto plugins = BuiltIns();
  const Decision d = w.Decide(plugins);
  EXPECT_EQ(Evicted(d, w), "v");
  EXPECT_EQ(d.nominations.size(), 2U);
}

TEST(Nominate, RoomGivenUpByANomineeIsOfferedAtOnce) {
  TwoNodes t;  // H loses its quota; C, looked at before it, must not wait for another event
  Gone(t.w, "A");
  t.w.Quota(spec::QuotaLevel::kUser, "u1", 0);
  t.w.Pending("C", {.gpus = 4}, Priority::kHigh).owner.user = "u2";
  t.w.snapshot.pending.back().submitted_at = At(0);
  Decision d = t.w.Decide(t.plugins);
  EXPECT_EQ(Starts(d, t.w), "");
  EXPECT_EQ(d.wake_at, t.w.snapshot.now);
  t.w.snapshot.nominations = d.nominations;
  EXPECT_EQ(Starts(t.w.Decide(t.plugins), t.w), "C@n1");
}

// R leaves 4 GPUs on n1, where 4 are kept for H and P needs 2: from then on S, who was looked at
// before P, could start on what is free there now.
TEST(Regress, RoomThatALaterEvictionUncoversIsSeenAtOnce) {
  auto plugins = BuiltIns();
  World w;
  w.Node("n1", 8);
  w.Node("n2", 4);
  w.Running("R", {.gpus = 4}, {"n1"}, Priority::kLow);
  RunningJob& leaving = w.Running("L", {.gpus = 4}, {"n2"}, Priority::kLow);
  leaving.leaving = true;
  leaving.leaves_by = At(1010);
  w.Pending("H", {.replicas = 2, .gpus = 4}, Priority::kHigh);
  w.Pending("S", {.gpus = 2, .source = CapacityType::kSpot});
  w.Pending("P", {.gpus = 2, .source = CapacityType::kOnDemand});
  const Decision d = w.Decide(plugins);
  EXPECT_EQ(Starts(d, w), "");
  EXPECT_EQ(Evicted(d, w), "R");
  EXPECT_EQ(d.wake_at, w.snapshot.now);
}

}  // namespace
}  // namespace cox::test
