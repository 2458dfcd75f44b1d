// What a site may choose: the order of flavors against evictions (B3), a minimum run before a
// preemption, headroom that spot leaves (S50).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/world.hpp"

namespace cox::test {
namespace {

using testing::HasSubstr;

// B3: two H100 and two A100 nodes; M wants 2x8 H100 reserved, or one H100 node as spot.
struct B3 {
  World w;
  host::Plugins plugins = BuiltIns();
  B3() {
    w.Node("h1", 8, "h100");
    w.Node("h2", 8, "h100");
    w.Node("a1", 8, "a100");
    w.Node("a2", 8, "a100");
    w.Running("L1", {.gpus = 8, .flavor = "h100", .source = CapacityType::kSpot}, {"h1"});
    w.Running("other", {.gpus = 8, .flavor = "gpu"}, {"a1"}).guaranteed = true;
    PendingJob& m = w.Pending("M", {.replicas = 2, .gpus = 8, .flavor = "h100"});
    Candidate second = MakeCandidate({.replicas = 2, .gpus = 8, .source = CapacityType::kSpot});
    for (auto& role : second.roles) role.gpu_type = "a100";
    m.candidates.push_back(second);
    m.candidates.push_back(
        MakeCandidate({.gpus = 8, .flavor = "h100", .source = CapacityType::kSpot}));
  }
};

TEST(Options, B3_AvoidPreemptionTakesALaterFlavorThatHasRoom) {
  B3 t;
  const Decision d = t.w.Decide(t.plugins);
  EXPECT_EQ(Starts(d, t.w), "M@h2");
  EXPECT_EQ(Evicted(d, t.w), "");
}

TEST(Options, B3_PreferOrderEvictsForTheFirstFlavor) {
  B3 t;
  t.w.site.prefer_flavor_order = true;
  const Decision d = t.w.Decide(t.plugins);
  EXPECT_EQ(Starts(d, t.w), "");
  EXPECT_EQ(Evicted(d, t.w), "L1");
  ASSERT_EQ(d.nominations.size(), 1U);
  EXPECT_EQ(d.nominations[0].placement.replicas.size(), 2U);
}

TEST(Options, B3_PreferOrderFallsBackWhereNoEvictionHelps) {
  B3 t;
  t.w.site.prefer_flavor_order = true;
  t.w.snapshot.running[0].capacity = CapacityType::kReserved;
  t.w.snapshot.running[0].guaranteed = true;
  EXPECT_EQ(Starts(t.w.Decide(t.plugins), t.w), "M@h2");
}

TEST(Options, NobodyIsPreemptedBeforeHisMinimumRun) {
  World w;
  w.Node("n1", 8);
  w.Running("v", {.gpus = 8, .source = CapacityType::kSpot}, {"n1"}).started_at = At(900);
  w.Pending("j", {.gpus = 8});
  w.site.min_run_seconds = 300;
  auto plugins = BuiltIns();
  const Decision d = w.Decide(plugins);
  EXPECT_EQ(Evicted(d, w), "");
  EXPECT_EQ(d.waiting[0].earliest, At(1200));
  EXPECT_EQ(d.wake_at, At(1200));
  w.snapshot.now = At(1200);
  EXPECT_EQ(Evicted(w.Decide(plugins), w), "v");
}

TEST(Options, AJobThatIsStillStartingHasNotRunAtAll) {
  World w;
  w.Node("n1", 8);
  w.Running("v", {.gpus = 8, .source = CapacityType::kSpot}, {"n1"});
  w.Pending("j", {.gpus = 8});
  w.site.min_run_seconds = 1;
  auto plugins = BuiltIns();
  EXPECT_EQ(Evicted(w.Decide(plugins), w), "");
}

TEST(Options, S50_SpotLeavesTheHeadroomFree) {
  World w;
  w.Node("n1", 8);
  w.Node("n2", 8);
  w.site.spot_headroom_percent = 25;  // 4 of 16
  w.Running("r", {.gpus = 6}, {"n1"});
  const TaskId large = w.Pending("large", {.gpus = 7, .source = CapacityType::kSpot}).id;
  w.Pending("small", {.gpus = 6, .source = CapacityType::kSpot});
  const TaskId more = w.Pending("more", {.gpus = 1, .source = CapacityType::kSpot}).id;
  w.Pending("reserved", {.gpus = 2});
  auto plugins = BuiltIns();
  const Decision d = w.Decide(plugins);
  EXPECT_EQ(Starts(d, w), "small@n2 reserved@n1");
  EXPECT_EQ(Codes(d, large), "SpotUnavailable");
  EXPECT_THAT(Texts(d, more), HasSubstr("4 GPU of 16 GPU are free, and spot jobs leave 4 GPU"));
}

}  // namespace
}  // namespace cox::test
