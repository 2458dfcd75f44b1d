// Gangs, fragmentation, flavors, sources: what starts and where (S38, S41-S45, 2.4, 2.5).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/world.hpp"

namespace cox::test {
namespace {

using testing::HasSubstr;

TEST(Gang, AllReplicasStartOrNone) {  // S44
  World w;
  w.Node("n1", 8);
  w.Node("n2", 8);
  w.Running("r", {.gpus = 4}, {"n2"});
  const TaskId twins = w.Pending("twins", {.replicas = 2, .gpus = 8}).id;
  auto plugins = BuiltIns();
  const Decision d = w.Decide(plugins);
  EXPECT_EQ(Starts(d, w), "");
  EXPECT_EQ(Codes(d, twins), "InsufficientResources");
}

TEST(Gang, StartsWithoutUserActionOnceTheRoomIsThere) {  // S45
  World w;
  w.Node("n1", 8);
  w.Node("n2", 8);
  w.Pending("twins", {.replicas = 2, .gpus = 8});
  auto plugins = BuiltIns();
  EXPECT_EQ(Starts(w.Decide(plugins), w), "twins@n1,n2");
}

TEST(Gang, TheSumOfFragmentsIsNoRoom) {  // S43, S54: 4+4 free, one replica of 8
  World w;
  w.Node("n1", 8);
  w.Node("n2", 8);
  w.Running("r", {.replicas = 2, .gpus = 4}, {"n1", "n2"});
  const TaskId job = w.Pending("j", {.gpus = 8}).id;
  auto plugins = BuiltIns();
  const Decision d = w.Decide(plugins);
  EXPECT_EQ(Codes(d, job), "Fragmented");
  EXPECT_THAT(Texts(d, job), HasSubstr("needs 8 GPU"));
  EXPECT_THAT(Texts(d, job), HasSubstr("best n1: 4 GPU"));
}

TEST(Gang, ANodeThatWasBlockedUntilNowIsUsedLast) {  // complaint N4
  World w;
  w.Node("n1", 8);
  w.Node("n2", 8);
  w.Running("r", {.gpus = 1}, {"n1"});  // by itself the better fit
  w.Policy("np", model::PolicyRow::Scope::kUser, "somebody", {"n1"}, At(1000));
  auto plugins = BuiltIns();
  w.Pending("j", {.gpus = 2});
  EXPECT_EQ(Starts(w.Decide(plugins), w), "j@n2");
  w.snapshot.pending[0].candidates = {MakeCandidate({.gpus = 2, .flavor = "cpu"})};
  w.snapshot.pending[0].candidates[0].roles[0].resources.gpu_milli = 0;
  EXPECT_EQ(Starts(w.Decide(plugins), w), "j@n2");
  w.snapshot.pending[0].candidates = {MakeCandidate({.replicas = 3, .gpus = 4})};
  EXPECT_EQ(Starts(w.Decide(plugins), w), "j@n1,n2,n2") << "last, but used";
  w.snapshot.now = At(1000 + 3600);
  w.snapshot.pending[0].candidates = {MakeCandidate({.gpus = 2})};
  EXPECT_EQ(Starts(w.Decide(plugins), w), "j@n1");
}

TEST(Gang, SeveralReplicasMayShareANode) {
  World w;
  w.Node("n1", 8);
  w.Pending("j", {.replicas = 4, .gpus = 2});
  auto plugins = BuiltIns();
  EXPECT_EQ(Starts(w.Decide(plugins), w), "j@n1,n1,n1,n1");
}

// Decision 0052: two pods may share a node, a Slurm job has each node once.
TEST(Gang, OnSlurmNoTwoReplicasShareANode) {
  World w;
  w.site.adapter = "slurm";
  w.Node("n1", 8);
  w.Pending("j", {.replicas = 2, .gpus = 2});
  auto plugins = BuiltIns();
  EXPECT_EQ(Starts(w.Decide(plugins), w), "");
  w.Node("n2", 2);
  EXPECT_EQ(Starts(w.Decide(plugins), w), "j@n1,n2");
}

TEST(Gang, TheFullestNodeThatFitsIsTaken) {
  World w;
  w.Node("n1", 8);
  w.Node("n2", 8);
  w.Node("n3", 8);
  w.Running("r2", {.gpus = 5}, {"n2"});
  w.Running("r3", {.gpus = 7}, {"n3"});
  w.Pending("j", {.gpus = 3});
  auto plugins = BuiltIns();
  EXPECT_EQ(Starts(w.Decide(plugins), w), "j@n2");
}

TEST(Gang, EqualNodesAreTakenByName) {
  World w;
  w.Node("b", 8);
  w.Node("a", 8);
  w.Pending("j", {.gpus = 3});
  auto plugins = BuiltIns();
  EXPECT_EQ(Starts(w.Decide(plugins), w), "j@a");
}

TEST(Gang, NobodyIsPlacedOnANodeThatIsNotReadyOrInAnotherPoolOrOfAnotherType) {
  World w;
  w.Node("n1", 8, "h100").ready = false;
  w.Node("n2", 8, "h100").pools = {"q"};
  w.Node("n3", 8, "h200");
  w.Node("n4", 8, "h100");
  w.Pending("j", {.gpus = 1, .flavor = "h100"});
  auto plugins = BuiltIns();
  EXPECT_EQ(Starts(w.Decide(plugins), w), "j@n4");
}

TEST(Gang, UnmanagedUseCounts) {
  World w;
  w.Node("n1", 8).unmanaged = Gpus(5);
  w.Pending("j", {.gpus = 4});
  auto plugins = BuiltIns();
  EXPECT_EQ(Starts(w.Decide(plugins), w), "");
}

Candidate HeadAndWorkers(int64_t head_cpus, int64_t workers, int64_t gpus) {
  Candidate c = MakeCandidate({.replicas = workers + 1, .gpus = gpus});
  c.roles[0] = {Role::kHead, 1, "cpu", head_cpus, {head_cpus * 1000, 1024, 0}, ""};
  return c;
}

TEST(Gang, HeadAndWorkersStartTogether) {  // S35
  World w;
  w.Node("cpu1", 0);
  w.Node("n1", 8);
  w.Node("n2", 8);
  w.Pending("ray", {}).candidates = {HeadAndWorkers(4, 2, 8)};
  auto plugins = BuiltIns();
  EXPECT_EQ(Starts(w.Decide(plugins), w), "ray@cpu1,n1,n2");
}

TEST(Gang, AHeadThatWouldTakeTheWorkersRoomGoesElsewhere) {
  // Best fit puts the large head on n1, beside which the worker no longer fits; on n2 both fit.
  World w;
  w.Node("n1", 2).capacity = {10'000, 1 << 20, 2'000};
  w.Node("n2", 0).capacity = {60'000, 1 << 20, 0};
  Candidate c = HeadAndWorkers(8, 1, 2);
  c.roles[1].resources = {4'000, 1024, 2'000};
  c.roles[0].resources = {8'000, 1024, 0};
  w.Pending("ray", {}).candidates = {c};
  auto plugins = BuiltIns();
  EXPECT_EQ(Starts(w.Decide(plugins), w), "ray@n2,n1");
}

TEST(Gang, ASmallerHeadGoesWhereItCostsNoWorker) {
  // The workers (1 GPU, largest first) fill the node that the head needs; only placing the head
  // where it costs least lets all in.
  World w;
  w.Node("n1", 1).capacity = {8'000, 1 << 20, 1'000};
  w.Node("n2", 2).capacity = {2'000, 1 << 20, 2'000};
  Candidate c = HeadAndWorkers(8, 2, 1);
  c.roles[0].resources = {8'000, 1024, 0};
  c.roles[1].resources = {1'000, 1024, 1'000};
  w.Pending("ray", {}).candidates = {c};
  auto plugins = BuiltIns();
  EXPECT_EQ(Starts(w.Decide(plugins), w), "ray@n1,n2,n2");
}

TEST(Quota, TheWholeGangIsJudgedNotOneReplica) {  // S41: remaining 6, job 2x4
  World w;
  w.Node("n1", 8);
  w.Quota(spec::QuotaLevel::kUser, "u1", 6);
  const TaskId job = w.Pending("j", {.replicas = 2, .gpus = 4}).id;
  auto plugins = BuiltIns();
  const Decision d = w.Decide(plugins);
  EXPECT_EQ(Starts(d, w), "");
  EXPECT_EQ(Codes(d, job), "DemandExceedsQuota");
}

TEST(Quota, WhatThisCycleStartsCounts) {
  World w;
  w.Node("n1", 8);
  w.Quota(spec::QuotaLevel::kTenant, "acme", 6);
  w.Pending("a", {.gpus = 4});
  const TaskId b = w.Pending("b", {.gpus = 4}).id;
  auto plugins = BuiltIns();
  const Decision d = w.Decide(plugins);
  EXPECT_EQ(Starts(d, w), "a@n1");
  EXPECT_EQ(Codes(d, b), "InsufficientQuota");
}

TEST(Quota, TheOwnJobsThatHoldTheUnitsAreNamed) {
  World w;
  w.Node("n1", 8);
  w.Quota(spec::QuotaLevel::kTenant, "acme", 6);
  w.Running("holder", {.gpus = 4}, {"n1"}).owner.user = "u1";
  const TaskId b = w.Pending("b", {.gpus = 4}).id;
  auto plugins = BuiltIns();
  EXPECT_THAT(Texts(w.Decide(plugins), b), HasSubstr("; in use by holder (4)"));
}

TEST(Regress, ThePrivateJobsOfOthersAreCountedAndNotNamed) {
  World w;
  w.Node("n1", 8);
  w.Quota(spec::QuotaLevel::kTenant, "acme", 6);
  w.Running("secret", {.gpus = 1}, {"n1"});
  w.Running("secret too", {.gpus = 3}, {"n1"});
  const TaskId b = w.Pending("b", {.gpus = 4}).id;
  auto plugins = BuiltIns();
  EXPECT_THAT(Texts(w.Decide(plugins), b), HasSubstr("; in use by 2 jobs of others (4)"));
}

TEST(Quota, AJobBehindABlockedOneIsNotHeldUp) {
  World w;
  w.Node("n1", 8);
  w.Pending("big", {.replicas = 2, .gpus = 8});
  w.Pending("small", {.gpus = 1});
  auto plugins = BuiltIns();
  EXPECT_EQ(Starts(w.Decide(plugins), w), "small@n1");
}

TEST(Quota, ADedicatedPoolServesItsTenantOnly) {  // S26
  World w;
  w.site.pools[0].dedicated = true;
  w.site.pools[0].tenant = "other";
  w.Node("n1", 8);
  const TaskId j = w.Pending("j", {}).id;
  auto plugins = BuiltIns();
  Decision d = w.Decide(plugins);
  EXPECT_EQ(Starts(d, w), "");
  EXPECT_EQ(Texts(d, j), "pool p is dedicated to tenant other; tenant acme has no part in it");
  w.site.pools[0].tenant = "acme";
  EXPECT_EQ(Starts(w.Decide(plugins), w), "j@n1");
}

World TwoFlavors() {
  World w;
  w.Node("a", 8, "h200");
  w.Node("b", 8, "h100");
  w.Node("c", 8, "h100");
  PendingJob& job = w.Pending("j", {});
  job.candidates = {MakeCandidate({.replicas = 2, .gpus = 4, .flavor = "h200"}),
                    MakeCandidate({.replicas = 2, .gpus = 4, .flavor = "h100"})};
  return w;
}

TEST(Flavors, TheFirstThatFitsIsTakenEvenWhenAnotherIsEmptier) {  // S38
  World w = TwoFlavors();
  auto plugins = BuiltIns();
  EXPECT_EQ(Starts(w.Decide(plugins), w), "j@a,a");
}

TEST(Flavors, TheWholeGangFallsBackAndNeverMixes) {  // S38
  World w = TwoFlavors();
  w.Running("r", {.gpus = 4, .flavor = "h200"}, {"a"}).guaranteed = true;
  w.Quota(spec::QuotaLevel::kTenant, "acme", 8, "h100");
  auto plugins = BuiltIns();
  const Decision d = w.Decide(plugins);
  EXPECT_EQ(Starts(d, w), "j@b,b");
  EXPECT_EQ(d.starts[0].placement.candidate.roles[0].flavor, "h100");
}

TEST(Flavors, EachOneThatLostSaysWhy) {
  World w = TwoFlavors();
  w.Running("r", {.gpus = 4, .flavor = "h200"}, {"a"}).guaranteed = true;
  w.Quota(spec::QuotaLevel::kTenant, "acme", 7, "h100");
  auto plugins = BuiltIns();
  const Decision d = w.Decide(plugins);
  EXPECT_EQ(Codes(d, {1}), "InsufficientResources DemandExceedsQuota");
  EXPECT_EQ(d.waiting[0].blockers[0].candidate, 0);
  EXPECT_EQ(d.waiting[0].blockers[1].candidate, 1);
}

World ReservedOrIdle(std::vector<CapacityType> sources) {
  World w;
  w.Node("n1", 8);
  PendingJob& job = w.Pending("j", {});
  job.candidates.clear();
  for (const CapacityType source : sources) {
    job.candidates.push_back(MakeCandidate({.gpus = 4, .source = source}));
  }
  return w;
}

TEST(Idle, AcceptedIsUsedOnlyWhenReservedIsExhausted) {  // S27, 2.5
  World w = ReservedOrIdle({CapacityType::kReserved, CapacityType::kIdle});
  auto plugins = BuiltIns();
  w.Quota(spec::QuotaLevel::kTenant, "acme", 4);
  EXPECT_EQ(w.Decide(plugins).starts[0].placement.candidate.source, CapacityType::kReserved);
  w.Running("r", {.gpus = 2}, {"n1"});
  EXPECT_EQ(w.Decide(plugins).starts[0].placement.candidate.source, CapacityType::kIdle);
}

TEST(Idle, PreferredIsUsedThoughQuotaIsFree) {  // S27
  World w = ReservedOrIdle({CapacityType::kIdle, CapacityType::kReserved});
  w.Quota(spec::QuotaLevel::kTenant, "acme", 4);
  auto plugins = BuiltIns();
  EXPECT_EQ(w.Decide(plugins).starts[0].placement.candidate.source, CapacityType::kIdle);
}

TEST(Idle, NotAcceptedQueues) {  // S27
  World w = ReservedOrIdle({CapacityType::kReserved});
  w.Quota(spec::QuotaLevel::kTenant, "acme", 4);
  w.Running("r", {.gpus = 2}, {"n1"});
  auto plugins = BuiltIns();
  EXPECT_EQ(Starts(w.Decide(plugins), w), "");
}

TEST(Idle, NeedsNoQuotaButAPoolThatLends) {  // S30
  World w = ReservedOrIdle({CapacityType::kIdle});
  w.Quota(spec::QuotaLevel::kTenant, "acme", 0);
  auto plugins = BuiltIns();
  EXPECT_EQ(Starts(w.Decide(plugins), w), "j@n1");
  w.site.pools[0].lends_idle = false;
  EXPECT_EQ(Codes(w.Decide(plugins), {1}), "IdleUnavailable");
}

TEST(Idle, StabilityHighIsOnlyWhatNoQuotaPromises) {  // 2.3
  World w = ReservedOrIdle({CapacityType::kIdle});
  w.snapshot.pending[0].candidates[0].min_stability = spec::Stability::kHigh;
  w.Quota(spec::QuotaLevel::kTenant, "acme", 4);
  w.Quota(spec::QuotaLevel::kUser, "u1", 8);  // divides what the tenant has
  auto plugins = BuiltIns();
  EXPECT_EQ(Starts(w.Decide(plugins), w), "j@n1");
  w.Quota(spec::QuotaLevel::kTenant, "rival", 1);
  const Decision d = w.Decide(plugins);
  EXPECT_EQ(Codes(d, {1}), "IdleUnavailable");
  EXPECT_THAT(Texts(d, {1}), HasSubstr("beyond all quotas: 3 GPU"));
}

TEST(Idle, StabilityHighIsNotGivenTwice) {
  World w = ReservedOrIdle({CapacityType::kIdle});
  w.Node("n2", 8);
  w.Quota(spec::QuotaLevel::kTenant, "acme", 10);  // 6 of 16 beyond it
  w.snapshot.pending[0].candidates[0].min_stability = spec::Stability::kHigh;
  w.Pending("k", {.gpus = 4, .source = CapacityType::kIdle}).candidates[0].min_stability =
      spec::Stability::kHigh;
  auto plugins = BuiltIns();
  EXPECT_EQ(Starts(w.Decide(plugins), w), "j@n1");
}

TEST(Spot, NothingFreeIsCalledSpotUnavailable) {  // S29
  World w;
  w.Node("n1", 8);
  w.Running("r", {.gpus = 8}, {"n1"});
  const TaskId s = w.Pending("s", {.gpus = 4, .source = CapacityType::kSpot}).id;
  auto plugins = BuiltIns();
  EXPECT_EQ(Codes(w.Decide(plugins), s), "SpotUnavailable");
}

}  // namespace
}  // namespace cox::test
