// Sizes that no wait makes possible are told so in numbers and are in nobody's way; a job pinned to
// a full node waits for room, not for a policy (S73).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/world.hpp"

namespace cox::test {
namespace {

using testing::HasSubstr;
using testing::Not;
using Scope = model::PolicyRow::Scope;

struct Possible {
  World w;
  host::Plugins plugins = BuiltIns();
  Possible() {
    w.Node("n1", 8);
    w.Node("n2", 8);
  }
  void Pin(TaskId task, std::vector<std::string> nodes) {
    model::PolicyRow& rule = w.Policy("own", Scope::kJob, "", std::move(nodes));
    rule.type = spec::NodePolicyType::kNodeIn;
    rule.task = task;
  }
};

TEST(Possible, AReplicaLargerThanEveryNodeIsToldTheLargest) {
  Possible t;
  const TaskId job = t.w.Pending("j", {.gpus = 16}).id;
  const Decision d = t.w.Decide(t.plugins);
  EXPECT_EQ(Codes(d, job), "DemandExceedsNodes");
  EXPECT_THAT(Texts(d, job),
              HasSubstr("no node in pool p of flavor gpu has 16 GPU, 16 CPU, 16 GiB for one "
                        "replica: the largest, n1, has 8 GPU, 64 CPU, 512 GiB"));
}

TEST(Possible, MoreReplicasThanAllNodesHoldAreToldHowManyFit) {
  Possible t;
  t.w.Running("r", {.gpus = 8}, {"n1"});
  const TaskId job = t.w.Pending("j", {.replicas = 5, .gpus = 4}).id;
  const Decision d = t.w.Decide(t.plugins);
  EXPECT_EQ(Codes(d, job), "DemandExceedsNodes");
  EXPECT_THAT(Texts(d, job), HasSubstr("5 times; 2 nodes in pool p of flavor gpu could hold 4 with "
                                       "nothing else on them"));
  t.w.Pending("fits", {.replicas = 4, .gpus = 4});
  EXPECT_EQ(Codes(t.w.Decide(t.plugins), {3}), "InsufficientResources");
}

TEST(Possible, OneReplicaANodeCountsNodes) {  // decision 0052
  Possible t;
  t.w.site.adapter = "slurm";
  const TaskId job = t.w.Pending("j", {.replicas = 3, .gpus = 1}).id;
  EXPECT_THAT(Texts(t.w.Decide(t.plugins), job), HasSubstr("could hold 2 with nothing else"));
}

TEST(Possible, AHeadAndWorkersThatFitOnlyApartAreToldSo) {
  Possible t;
  PendingJob& job = t.w.Pending("j", {.replicas = 3, .gpus = 8});
  job.candidates[0].roles[0].resources = {64'000, 1024, 0};
  EXPECT_EQ(Codes(t.w.Decide(t.plugins), job.id), "DemandExceedsNodes");
  EXPECT_THAT(Texts(t.w.Decide(t.plugins), job.id), HasSubstr("but not both at once"));
  job.candidates[0].roles[0].resources = {56'000, 1024, 0};
  EXPECT_EQ(Starts(t.w.Decide(t.plugins), t.w), "j@n1,n1,n2");
}

TEST(Possible, AFlavorThatNoNodeHasIsNamed) {
  Possible t;
  const TaskId job = t.w.Pending("j", {.flavor = "h200"}).id;
  EXPECT_EQ(Codes(t.w.Decide(t.plugins), job), "DemandExceedsNodes");
  EXPECT_THAT(Texts(t.w.Decide(t.plugins), job), HasSubstr("no node in pool p serves flavor h200"));
}

TEST(Possible, ANodeThatIsDownMayComeBack) {
  Possible t;
  t.w.snapshot.nodes[0].ready = t.w.snapshot.nodes[1].ready = false;
  const TaskId job = t.w.Pending("j", {.gpus = 8}).id;
  EXPECT_EQ(Codes(t.w.Decide(t.plugins), job), "InsufficientResources");
  EXPECT_THAT(Texts(t.w.Decide(t.plugins), job),
              HasSubstr("no node there that serves flavor gpu is ready"));
}

TEST(Possible, ANewNodeMakesItPossible) {  // S45
  Possible t;
  t.w.Pending("j", {.gpus = 16});
  t.w.Node("n3", 16);
  EXPECT_EQ(Starts(t.w.Decide(t.plugins), t.w), "j@n3");
}

TEST(Possible, WhoNeverFitsEvictsNobodyAndKeepsNothing) {
  Possible t;
  t.w.site.starvation_bound_seconds = 1;
  t.w.Running("v1", {.gpus = 8, .source = CapacityType::kSpot}, {"n1"});
  for (int i = 0; i < 40; ++i) t.w.Pending("giant", {.gpus = 16}, Priority::kHigh);
  t.w.Pending("small", {.gpus = 8});
  const Decision d = t.w.Decide(t.plugins);
  EXPECT_EQ(Starts(d, t.w), "small@n2");
  EXPECT_EQ(Evicted(d, t.w), "");
  EXPECT_THAT(Texts(d, {3}), Not(HasSubstr("kept")));
}

TEST(Possible, FortyGiantsInFrontCostTheNextOneNoDate) {
  Possible t;
  t.w.Running("r", {.replicas = 2, .gpus = 8}, {"n1", "n2"}).ends_by = At(1100);
  for (int i = 0; i < 40; ++i) t.w.Pending("giant", {.gpus = 16}, Priority::kHigh);
  const TaskId job = t.w.Pending("j", {.gpus = 8}).id;
  EXPECT_THAT(Texts(t.w.Decide(t.plugins), job), HasSubstr("first in line"));
}

TEST(Pin, AFullNodeIsAMatterOfRoom) {  // S73
  Possible t;
  t.w.Running("r", {.gpus = 8}, {"n1"});
  const TaskId job = t.w.Pending("j", {.gpus = 8}).id;
  t.Pin(job, {"n1"});
  const Decision d = t.w.Decide(t.plugins);
  EXPECT_EQ(Codes(d, job), "InsufficientResources");
  EXPECT_THAT(Texts(d, job), HasSubstr("in pool p, among its own NodeIn n1; best n1: 56 CPU"));
  t.w.snapshot.running.clear();
  EXPECT_EQ(Starts(t.w.Decide(t.plugins), t.w), "j@n1");
}

TEST(Pin, ANodeThatIsNotThereIsToldSo) {
  Possible t;
  const TaskId job = t.w.Pending("j", {.gpus = 8}).id;
  t.Pin(job, {"n9"});
  const Decision d = t.w.Decide(t.plugins);
  EXPECT_EQ(Codes(d, job), "DemandExceedsNodes");
  EXPECT_THAT(Texts(d, job), HasSubstr("among its own NodeIn n9 serves flavor gpu"));
}

TEST(Pin, ABlockOfItsNodeIsStillABlock) {  // S80
  Possible t;
  const TaskId job = t.w.Pending("j", {.gpus = 8}).id;
  t.Pin(job, {"n1"});
  t.w.Policy("out", Scope::kTenant, "acme", {"n1"}, At(2000));
  EXPECT_THAT(Texts(t.w.Decide(t.plugins), job),
              HasSubstr("quota check failed due to node blacklist: n1"));
}

TEST(Pin, APinnedJobGetsADateForItsNode) {
  Possible t;
  t.w.Running("r1", {.gpus = 8}, {"n1"}).ends_by = At(1500);
  t.w.Running("r2", {.gpus = 8}, {"n2"}).ends_by = At(1100);
  const TaskId job = t.w.Pending("j", {.gpus = 8}).id;
  t.Pin(job, {"n1"});
  EXPECT_THAT(Texts(t.w.Decide(t.plugins), job),
              HasSubstr("first in line: n1 kept for it from 1970-01-01T00:25:00Z"));
}

}  // namespace
}  // namespace cox::test
