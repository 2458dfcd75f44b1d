#include "slurm/translate.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/slurm_adapter/fake_slurm.hpp"

namespace cox::slurm {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Phase = model::Observation::Phase;

JobRecord Job(JobState state) {
  JobRecord record;
  record.id = 12;
  record.state = state;
  record.restarts = 2;
  record.nodes = {"n1", "n2"};
  record.start_s = 1000;
  record.end_s = 2000;
  return record;
}

model::Placement PlacementOn(const std::vector<std::string>& nodes, Resources each) {
  model::Placement placement;
  int64_t rank = 0;
  for (const std::string& node : nodes)
    placement.replicas.push_back({model::Role::kWorker, rank++, node, each});
  return placement;
}

TEST(Translate, AHoldIsAPersonsOnlyWhereSlurmSaysSoOfAJobThatWaits) {
  JobRecord record;
  record.id = 12;
  record.admin_comment = "cox:u-1 v1 Pending Queued";
  EXPECT_EQ(ObservationOf(record, "u-1").held, "");
  record.user_hold = true;
  EXPECT_EQ(ObservationOf(record, "u-1").held,
            "held by its user; `scontrol release 12` lets it wait its turn");
  record.admin_comment = "cox:u-1 accepted held {}";
  EXPECT_NE(ObservationOf(record, "u-1").held, "");
  // slurmctld's word for what job_submit holds at submission; nobody has asked for it.
  for (const char* ours : {"cox:u-1 accepted {}", "cox:u-1 wait {}", "cox:u-1 created"}) {
    record.admin_comment = ours;
    EXPECT_EQ(ObservationOf(record, "u-1").held, "") << ours;
  }
  record.admin_comment = "cox:u-1 v1 Running Started";
  record.state = JobState::kRunning;
  EXPECT_EQ(ObservationOf(record, "u-1").held, "");
}

TEST(Translate, AScriptThatWasNeverRunSaysWhyInsteadOfASignal) {
  JobRecord record;
  record.user = "ann";
  record.state = JobState::kFailed;
  record.launch_error = "Slurmd could not fork job";
  auto exit = ObservationOf(record, "u-1").exit;
  ASSERT_TRUE(exit);
  EXPECT_EQ(exit->cause, model::Cause::kLaunch);
  EXPECT_EQ(exit->detail, "the batch script was not run: Slurmd could not fork job");
  record.output_failed = true;
  record.output = "/root/x.out";
  exit = ObservationOf(record, "u-1").exit;
  EXPECT_EQ(exit->cause, model::Cause::kSetup);  // S111: a retry cannot cure it
  EXPECT_NE(exit->detail.find("its output file /root/x.out cannot be opened there by ann"),
            std::string::npos);
  EXPECT_EQ(exit->signal, 0);
}

TEST(Translate, APendingJobIsHeldExactlyWhenItsPriorityIsZero) {
  JobRecord record = Job(JobState::kPending);
  EXPECT_EQ(ObservationOf(record, "u").phase, Phase::kHeld);
  record.priority = 7;
  EXPECT_EQ(ObservationOf(record, "u").phase, Phase::kReleased);
}

TEST(Translate, ARequeuedJobStillLeavesWhileItsOldProcessesDo) {
  JobRecord record = Job(JobState::kPending);
  record.completing = true;
  EXPECT_EQ(ObservationOf(record, "u").phase, Phase::kLeaving);
}

TEST(Translate, ARunningJobTellsItsNodesInTheOrderOfRanks) {
  JobRecord record = Job(JobState::kRunning);
  const auto seen = ObservationOf(record, "u");
  EXPECT_EQ(seen.phase, Phase::kRunning);
  EXPECT_EQ(seen.native_id, "12");
  EXPECT_EQ(seen.attempt, 2);
  EXPECT_THAT(seen.nodes, ElementsAre("n1", "n2"));
  EXPECT_EQ(ToSeconds(seen.started_at), 1000);
  record.configuring = true;
  EXPECT_EQ(ObservationOf(record, "u").phase, Phase::kStarting);
}

TEST(Translate, SuccessHasNoExit) {
  const auto seen = ObservationOf(Job(JobState::kComplete), "u");
  EXPECT_EQ(seen.phase, Phase::kEnded);
  EXPECT_FALSE(seen.exit);
  EXPECT_FALSE(seen.cancelled);
}

TEST(Translate, EachWayToFailHasItsCause) {
  const auto cause = [](JobState state, int status) {
    JobRecord record = Job(state);
    record.wait_status = status;
    return ObservationOf(record, "u").exit.value_or(model::Exit{}).cause;
  };
  EXPECT_EQ(cause(JobState::kFailed, 1 << 8), model::Cause::kExit);
  EXPECT_EQ(cause(JobState::kFailed, 0), model::Cause::kLaunch);
  EXPECT_EQ(cause(JobState::kTimeout, 15), model::Cause::kTimeLimit);
  EXPECT_EQ(cause(JobState::kDeadline, 0), model::Cause::kTimeLimit);
  EXPECT_EQ(cause(JobState::kOutOfMemory, 9), model::Cause::kOutOfMemory);
  EXPECT_EQ(cause(JobState::kNodeFail, 0), model::Cause::kNode);
  EXPECT_EQ(cause(JobState::kBootFail, 0), model::Cause::kNode);
  EXPECT_EQ(cause(JobState::kPreempted, 0), model::Cause::kPreempted);
}

TEST(Translate, ExitCodesAndSignalsAreApart) {
  JobRecord record = Job(JobState::kFailed);
  record.wait_status = 127 << 8;
  EXPECT_EQ(ObservationOf(record, "u").exit->exit_code, 127);
  record.wait_status = 9;
  EXPECT_EQ(ObservationOf(record, "u").exit->signal, 9);
  EXPECT_EQ(ObservationOf(record, "u").exit->exit_code, 0);
}

TEST(Translate, ScancelIsACancellation) {
  const auto seen = ObservationOf(Job(JobState::kCancelled), "u");
  EXPECT_TRUE(seen.cancelled);
  EXPECT_FALSE(seen.exit);
}

TEST(Translate, ANodeIsReadyOnlyWhenSlurmWouldUseIt) {
  NodeRecord record;
  record.name = "n1";
  record.state = NodeRecord::State::kIdle;
  EXPECT_EQ(NotReadyReason(record), "");
  record.draining = true;
  record.reason = "XID 79";
  record.reason_user = "root";
  EXPECT_EQ(NotReadyReason(record), "drained: XID 79 (root)");
  record.draining = false;
  record.not_responding = true;
  EXPECT_THAT(NotReadyReason(record), HasSubstr("not responding"));
  record.state = NodeRecord::State::kDown;
  EXPECT_THAT(NotReadyReason(record), HasSubstr("down, not responding: XID 79"));
}

TEST(Translate, ANodeBringsItsCapacityItsGpusAndItsPools) {
  testing::FakeSlurm slurm;
  slurm.AddNode("n3", "gpu:h100:8(S:0-1)");
  const auto pools = MapPools(*testing::TestSite(), slurm.partitions);
  const model::Node node = NodeOf(slurm.nodes[0], pools);
  EXPECT_EQ(node.capacity, (Resources{64000, 512000, 8000}));
  EXPECT_EQ(node.gpu_type, "h100");
  EXPECT_THAT(node.pools, ElementsAre("shared", "gold"));
  EXPECT_TRUE(node.ready);
}

TEST(Translate, OnlyForeignJobsAreUnmanagedUse) {
  JobRecord ours = Job(JobState::kRunning), foreign = ours, unmarked = ours, done = ours;
  for (JobRecord* job : {&ours, &foreign, &unmarked, &done}) {
    job->partition = "train";
    job->usage = {{2000, 100, 1000}, {2000, 100, 1000}};
  }
  ours.admin_comment = "cox:u-1 v1 Running Started";
  foreign.partition = "foreign";
  done.state = JobState::kComplete;
  const auto usage = UnmanagedUsage({ours, foreign, unmarked, done}, *testing::TestSite());
  EXPECT_EQ(usage.at("n1"), (Resources{4000, 200, 2000}));  // the foreign and the unmarked one
  EXPECT_EQ(usage.at("n2"), (Resources{4000, 200, 2000}));
}

TEST(Translate, APlacementBecomesTheUnitsOfTheChosenFlavor) {
  JobRecord record = Job(JobState::kPending);
  record.gres_per_node = "gres:gpu:2";
  const auto update = PlacementUpdate(record, PlacementOn({"n2", "n1"}, {16000, 131072, 4000}));
  ASSERT_TRUE(update);
  EXPECT_EQ(update->required_nodes, "n[1-2]");
  EXPECT_EQ(update->excluded_nodes, "");
  EXPECT_EQ(update->nodes, 2);
  EXPECT_EQ(update->tasks, 2);
  EXPECT_EQ(update->cpus_per_task, 16);
  EXPECT_EQ(update->cpus, 32);
  EXPECT_EQ(update->mem_per_node_mib, 131072);
  EXPECT_EQ(update->gres_per_node, "gres:gpu:4");
  EXPECT_TRUE(update->begin_now);  // it has been requeued before
  EXPECT_FALSE(update->release);
}

TEST(Translate, AGpuTypeThatTheJobNamedIsKept) {
  JobRecord record = Job(JobState::kPending);
  record.gres_per_node = "gres:gpu:h100:2";
  EXPECT_EQ(PlacementUpdate(record, PlacementOn({"n1"}, {1000, 1, 8000}))->gres_per_node,
            "gres:gpu:h100:8");
  EXPECT_EQ(PlacementUpdate(record, PlacementOn({"n1"}, {1000, 1, 0}))->gres_per_node, "");
}

TEST(Translate, TheUsersTasksShareTheFlavorsProcessors) {
  JobRecord record = Job(JobState::kPending);
  record.tasks_per_node = 8;
  const auto update = PlacementUpdate(record, PlacementOn({"n1", "n2"}, {64000, 1, 8000}));
  EXPECT_EQ(update->tasks, 16);
  EXPECT_EQ(update->cpus_per_task, 8);
  record.tasks_per_node = 0;
  record.tasks = 8;
  record.min_nodes = 2;
  EXPECT_EQ(PlacementUpdate(record, PlacementOn({"n1", "n2"}, {64000, 1, 8000}))->tasks_per_node,
            4);
}

TEST(Translate, WhatSlurmCannotExpressIsSaid) {
  const JobRecord record = Job(JobState::kPending);
  EXPECT_THAT(PlacementUpdate(record, PlacementOn({"n1", "n1"}, {1000, 1, 0})).error().text,
              HasSubstr("two replicas on node n1"));
  EXPECT_THAT(PlacementUpdate(record, PlacementOn({"n1"}, {1000, 1, 500})).error().text,
              HasSubstr("whole ones"));
  auto mixed = PlacementOn({"n1", "n2"}, {1000, 1, 1000});
  mixed.replicas[1].resources.gpu_milli = 0;
  EXPECT_FALSE(PlacementUpdate(record, mixed));
}

TEST(Translate, TheCommandIsOneStringForBash) {
  EXPECT_EQ(BatchScript("echo \"$RANK\" 'a b'\nexit 3"),
            "#!/bin/bash\ntrap : TERM\n"
            "srun --kill-on-bad-exit=1 --ntasks-per-node=1 bash -c "
            "'echo \"$RANK\" '\\''a b'\\''\nexit 3'\n");
}

TEST(Translate, ACreatedJobHasTheSizeOfItsFirstCandidate) {
  auto spec = std::make_shared<spec::TrainingJob>();
  spec->command = "true";
  spec->time_limit_seconds = 90;
  model::Candidate candidate;
  candidate.roles = {{model::Role::kMaster, 1, "h100.1g", 2, {16000, 4096, 2000}, "h100"},
                     {model::Role::kWorker, 3, "h100.1g", 2, {16000, 4096, 2000}, "h100"}};
  const BatchJob job =
      BatchJobOf({spec, "llama-abc", "ann", "nlp", {{"LR", "1,2\n3"}}}, candidate, "u-9");
  EXPECT_EQ(job.nodes, 4);
  EXPECT_EQ(job.cpus_per_node, 16);
  EXPECT_EQ(job.gpus_per_node, 2);
  EXPECT_EQ(job.time_limit_min, 2);
  EXPECT_THAT(job.admin_comment, ::testing::StartsWith("cox:u-9 created {\"capacity-type\":"));
  EXPECT_THAT(job.env, ::testing::Contains(std::pair<std::string, std::string>("LR", "1,2\n3")));
}

}  // namespace
}  // namespace cox::slurm
