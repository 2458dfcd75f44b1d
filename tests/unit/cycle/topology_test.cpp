// Gangs near each other, and gangs spread out. Scenarios b1c, b1d, b1e and c_p12 are the same on
// the loop; tests/property tries all places of small clusters.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/world.hpp"

namespace cox::test {
namespace {

using testing::HasSubstr;

// Two racks of two nodes of 8 GPUs, in one block.
struct Racks {
  World w;
  host::Plugins plugins = BuiltIns();
  Racks() {
    for (const char* name : {"a1", "a2", "b1", "b2"}) w.Node(name, 8);
    w.site.topology = {{"block", {{"x", {"a1", "a2", "b1", "b2"}}}},
                       {"rack", {{"a", {"a1", "a2"}}, {"b", {"b1", "b2"}}}}};
  }
  PendingJob& Requires(const std::string& name, int64_t replicas, int64_t gpus) {
    PendingJob& job = w.Pending(name, {.replicas = replicas, .gpus = gpus});
    job.topology.required = "rack";
    return job;
  }
};

TEST(Topology, ARequiredRackHoldsTheWholeGang) {
  Racks t;
  t.w.Running("r", {.gpus = 8}, {"a1"});
  t.Requires("two", 2, 8);
  EXPECT_EQ(Starts(t.w.Decide(t.plugins), t.w), "two@b1,b2");
}

TEST(Topology, WhoFitsIntoNoRackWaitsAndIsToldSoOnce) {
  Racks t;
  t.w.Running("r", {.gpus = 8}, {"a1"}).guaranteed = true;
  t.w.Running("s", {.gpus = 1}, {"b1"}).guaranteed = true;
  const TaskId two = t.Requires("two", 2, 8).id;
  const Decision d = t.w.Decide(t.plugins);
  EXPECT_EQ(Starts(d, t.w), "");
  EXPECT_EQ(Codes(d, two), "InsufficientResources");
  EXPECT_THAT(Texts(d, two), HasSubstr("within rack b"));  // the emptiest
  EXPECT_THAT(Texts(d, two), HasSubstr("; nor does it fit into the other one"));
}

TEST(Topology, AGangThatNoRackCanHoldEvictsNobody) {
  Racks t;
  t.w.Running("r", {.gpus = 8, .source = CapacityType::kSpot}, {"a1"});
  const TaskId three = t.Requires("three", 3, 8).id;
  const Decision d = t.w.Decide(t.plugins);
  EXPECT_EQ(Evicted(d, t.w), "");
  EXPECT_EQ(Codes(d, three), "DemandExceedsNodes");
}

TEST(Topology, OfTwoRacksTheLowerClassIsClearedThoughItIsMoreJobs) {
  Racks t;
  t.w.Running("low", {.replicas = 2, .gpus = 8}, {"a1", "a2"}, Priority::kLow);
  t.w.Running("i1", {.gpus = 8, .source = CapacityType::kIdle}, {"b1"});
  t.w.Running("i2", {.gpus = 8, .source = CapacityType::kIdle}, {"b2"});
  t.Requires("two", 2, 8);
  EXPECT_EQ(Evicted(t.w.Decide(t.plugins), t.w), "i1 i2");
}

TEST(Topology, QuotaIsSaidOnceAndNotOfARack) {
  Racks t;
  t.w.Quota(spec::QuotaLevel::kTenant, "acme", 8);
  const TaskId two = t.Requires("two", 2, 8).id;
  const Decision d = t.w.Decide(t.plugins);
  EXPECT_EQ(Codes(d, two), "DemandExceedsQuota");
  EXPECT_THAT(Texts(d, two), testing::Not(HasSubstr("rack")));
}

TEST(Topology, ADateIsThatOfTheRackThatIsFreeFirst) {
  Racks t;
  for (const char* node : {"a1", "b1"}) {
    RunningJob& job = t.w.Running(node, {.gpus = 8}, {node});
    job.guaranteed = true;
    job.ends_by = At(node == std::string("a1") ? 2000 : 1500);
  }
  const TaskId two = t.Requires("two", 2, 8).id;
  EXPECT_THAT(Texts(t.w.Decide(t.plugins), two),
              HasSubstr("first in line: b1, b2 kept for it from 1970-01-01T00:25:00Z"));
}

TEST(Topology, ALevelThatAReloadTookAwayIsNamed) {
  Racks t;
  const TaskId two = t.Requires("two", 2, 8).id;
  t.w.site.topology.pop_back();
  EXPECT_THAT(Texts(t.w.Decide(t.plugins), two),
              HasSubstr("requires one rack, which is no longer a level"));
}

TEST(Topology, APreferredRackWidensToItsBlock) {
  Racks t;
  t.w.Node("z1", 8);  // the fullest of all, but in no block
  t.w.Running("r", {.gpus = 4}, {"z1"});
  t.w.Running("s", {.gpus = 4}, {"a1"});
  t.w.Running("u", {.gpus = 4}, {"b1"});
  t.w.Pending("five", {.replicas = 5, .gpus = 4}).topology.preferred = "rack";
  EXPECT_EQ(Starts(t.w.Decide(t.plugins), t.w), "five@a1,a2,a2,b1,b2");
}

TEST(Topology, SpreadPutsNoTwoReplicasOnOneNode) {
  Racks t;
  t.w.Pending("four", {.replicas = 4, .gpus = 1}).spread = true;
  const TaskId five = t.w.Pending("five", {.replicas = 5, .gpus = 1}).id;
  t.w.snapshot.pending.back().spread = true;
  const Decision d = t.w.Decide(t.plugins);
  EXPECT_EQ(Starts(d, t.w), "four@a1,a2,b1,b2");
  EXPECT_EQ(Codes(d, five), "DemandExceedsNodes");
}

}  // namespace
}  // namespace cox::test
