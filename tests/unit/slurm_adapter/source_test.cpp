#include "slurm/source.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>

#include "unit/slurm_adapter/fake_slurm.hpp"

namespace cox::slurm {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Phase = model::Observation::Phase;

class SourceRig {
 public:
  SourceRig() {
    slurm.starts = false;
    slurm.AddNode("n1");
    slurm.AddNode("n2");
  }

  model::Baseline Look() {
    deltas.all.clear();
    EXPECT_TRUE(source.Look(deltas));
    const auto baselines = deltas.Of<model::Baseline>();
    EXPECT_EQ(baselines.size(), 1U);
    return baselines.empty() ? model::Baseline() : baselines.back();
  }

  testing::FakeSlurm slurm;
  testing::FakeClock clock;
  testing::Deltas deltas;
  Log log{"test", Log::Level::kError};
  Shared shared{testing::TestSite()};
  SlurmSource source{{&slurm, &shared, &clock, &log, std::chrono::milliseconds(50)}};
};

TEST(Source, WhileSlurmctldIsAwayNothingIsPosted) {
  SourceRig rig;
  rig.slurm.Add(12);
  rig.Look();
  rig.slurm.away = true;
  rig.deltas.all.clear();
  EXPECT_EQ(rig.source.Look(rig.deltas).error().code, Code::kUnavailable);
  EXPECT_THAT(rig.deltas.all, IsEmpty());
}

TEST(Source, ForeignPartitionsAreNotTouchedAndNotListed) {
  SourceRig rig;
  rig.slurm.Add(12, "").partition = "foreign";
  rig.slurm.jobs[12].priority = 5;
  const auto baseline = rig.Look();
  EXPECT_THAT(baseline.attempts, IsEmpty());
  EXPECT_THAT(baseline.submissions, IsEmpty());
  EXPECT_THAT(rig.slurm.log, IsEmpty());
}

TEST(Regress, ARunningJobIsNotLostWhenAReloadTakesItsPartitionFromUs) {
  SourceRig rig;
  rig.slurm.Add(12, "cox:u-1 v1 Running").partition = "trian";
  const auto baseline = rig.Look();
  ASSERT_EQ(baseline.attempts.size(), 1U);
  EXPECT_EQ(baseline.attempts[0].root_uuid, "u-1");
  for (const auto& node : baseline.nodes) EXPECT_EQ(node.unmanaged, Resources{}) << node.name;
}

TEST(Source, AnAcceptedJobIsASubmissionUntilItIsTakenUp) {
  SourceRig rig;
  rig.slurm.Add(12, R"(cox:u-1 accepted {"flavors":"h100.1g:4"})");
  auto baseline = rig.Look();
  ASSERT_EQ(baseline.submissions.size(), 1U);
  EXPECT_EQ(baseline.submissions[0].user, "ann");
  EXPECT_EQ(baseline.submissions[0].job->scheduling.flavors[0].count, 4);
  ASSERT_EQ(baseline.attempts.size(), 1U);
  EXPECT_EQ(baseline.attempts[0].phase, Phase::kHeld);
  rig.slurm.jobs[12].admin_comment = "cox:u-1 v1 Pending Queued";
  baseline = rig.Look();
  EXPECT_THAT(baseline.submissions, IsEmpty());
  EXPECT_EQ(baseline.attempts.size(), 1U);
}

TEST(Source, ATakenJobIsOfferedOnceMoreToALoopThatMayHaveLostIt) {
  SourceRig rig;
  JobRecord& job =
      rig.slurm.Add(12, R"(cox:u-1 v9 Running Started {"flavors":"h100.1g:4","priority":"low"})");
  job.state = JobState::kRunning;
  job.required_nodes = job.nodes = {"n1"};
  job.gres_per_node = "gres:gpu:8";
  rig.slurm.Add(13, "cox:u-2 v9 Failed ExitCode {}").state = JobState::kFailed;
  rig.slurm.Add(14, "cox:u-3 v1 Pending Queued {\"priority\":\"top\"}");  // not refused for that
  const auto baseline = rig.Look();
  ASSERT_EQ(baseline.submissions.size(), 1U);
  const auto& again = baseline.submissions[0];
  EXPECT_EQ(again.root_uuid, "u-1");
  EXPECT_EQ(again.job->scheduling.priority, spec::Priority::kLow);
  EXPECT_EQ(again.job->scheduling.flavors[0].count, 4);
  EXPECT_FALSE(again.job->scheduling.node_policy);
  EXPECT_EQ(baseline.attempts.size(), 3U);
  EXPECT_THAT(rig.Look().submissions, IsEmpty());
}

TEST(Source, OptionsThatCannotBeReadAreARefusalInWords) {
  SourceRig rig;
  rig.slurm.Add(12, R"(cox:u-1 wait {"priority":"top"})").gres_per_node = "gres:gpu:1";
  EXPECT_THAT(rig.Look().submissions.at(0).rejected, HasSubstr("--cox-priority=top"));
  rig.slurm.jobs[12].admin_comment = "cox:u-1 wait {";
  EXPECT_THAT(rig.Look().submissions.at(0).rejected, HasSubstr("options"));
}

TEST(Source, AReleasedJobIsHeldUnlessTheActuatorReleasesIt) {
  SourceRig rig;
  rig.slurm.Add(12).priority = 5;
  rig.shared.BeginRelease(12);
  rig.Look();
  EXPECT_THAT(rig.slurm.log, IsEmpty());
  rig.shared.EndRelease(12);
  rig.Look();
  EXPECT_THAT(rig.slurm.log, ElementsAre("hold"));
}

TEST(Source, ARunningJobIsHeldForTheCaseOfARequeue) {
  SourceRig rig;
  rig.slurm.Add(12).state = JobState::kRunning;
  rig.slurm.jobs[12].priority = 5;
  rig.Look();
  EXPECT_THAT(rig.slurm.log, ElementsAre("hold"));
}

TEST(Source, AJobThatCamePastJobSubmitIsHeldAndMarked) {
  SourceRig rig;
  rig.slurm.Add(12, "").priority = 5;
  EXPECT_THAT(rig.Look().attempts, IsEmpty());
  EXPECT_EQ(rig.slurm.jobs[12].priority, 0);
  EXPECT_THAT(rig.slurm.jobs[12].admin_comment,
              ::testing::MatchesRegex("cox:[-0-9a-f]+ wait [{][}]"));
}

TEST(Source, ARequeueByANodeFailureEndsTheOldAttemptOnThatNode) {
  SourceRig rig;
  rig.slurm.Add(12).state = JobState::kRunning;
  rig.slurm.jobs[12].nodes = {"n1", "n2"};
  rig.Look();
  rig.slurm.nodes[1].state = NodeRecord::State::kDown;
  rig.slurm.jobs[12].state = JobState::kPending;
  rig.slurm.jobs[12].nodes.clear();
  rig.slurm.jobs[12].restarts = 1;
  const auto baseline = rig.Look();
  const auto observed = rig.deltas.Of<model::Observed>();
  ASSERT_EQ(observed.size(), 1U);
  EXPECT_EQ(observed[0].attempt.attempt, 0);
  EXPECT_EQ(observed[0].attempt.phase, Phase::kEnded);
  EXPECT_EQ(observed[0].attempt.exit->cause, model::Cause::kNode);
  EXPECT_EQ(observed[0].attempt.exit->node, "n2");
  EXPECT_EQ(baseline.attempts.at(0).attempt, 1);
  rig.Look();
  EXPECT_THAT(rig.deltas.Of<model::Observed>(), IsEmpty());  // told once
}

TEST(Regress, ANodeIsLookedAtAfterTheJobThatItTookDown) {
  SourceRig rig;
  rig.slurm.Add(12).state = JobState::kRunning;
  rig.slurm.jobs[12].nodes = {"n1"};
  rig.Look();
  rig.slurm.between = [&rig] {  // after the first of the two lists has been read
    rig.slurm.nodes[0].state = NodeRecord::State::kDown;
    rig.slurm.jobs[12].state = JobState::kPending;
    rig.slurm.jobs[12].restarts = 1;
  };
  rig.Look();
  rig.slurm.between = nullptr;
  rig.Look();
  const auto observed = rig.deltas.Of<model::Observed>();
  ASSERT_EQ(observed.size(), 1U);
  EXPECT_EQ(observed[0].attempt.exit->node, "n1");
}

// A running job on n1 that Slurm puts back while `before` and `after` change the world.
model::Observation PutBack(SourceRig& rig, bool by_degrees = false) {
  JobRecord& job = rig.slurm.Add(12);
  job.state = JobState::kRunning;
  job.nodes = {"n1"};
  job.start_s = ToSeconds(rig.clock.now);
  rig.Look();
  job.state = JobState::kPending;
  job.completing = by_degrees;
  job.restarts = 1;
  if (by_degrees) {
    const auto leaving = rig.Look().attempts.at(0);
    EXPECT_EQ(leaving.phase, Phase::kLeaving);
    EXPECT_EQ(leaving.attempt, 0) << "it is the old attempt whose processes are there";
    job.completing = false;
  }
  job.nodes.clear();
  rig.Look();
  const auto observed = rig.deltas.Of<model::Observed>();
  EXPECT_EQ(observed.size(), 1U);
  return observed.empty() ? model::Observation() : observed[0].attempt;
}

TEST(Source, ARequeueOnSoundNodesWasAskedForByAPerson) {
  for (const bool by_degrees : {false, true}) {
    SourceRig rig;
    const auto ended = PutBack(rig, by_degrees);
    EXPECT_EQ(ended.requeued, "put back into the queue by command (scontrol requeue)");
    EXPECT_EQ(ended.again_from, rig.clock.now + std::chrono::seconds(3));
    EXPECT_EQ(ended.phase, Phase::kEnded);
    EXPECT_EQ(ended.attempt, 0);
  }
}

TEST(Source, ARequeueAfterTroubleOnANodeOrAFailedLaunchIsNoPersons) {
  SourceRig rebooted;
  rebooted.slurm.nodes[0].boot_s = ToSeconds(rebooted.clock.now) + 1;
  EXPECT_EQ(PutBack(rebooted).requeued, "");
  SourceRig restarted;
  restarted.slurm.nodes[0].slurmd_start_s = ToSeconds(restarted.clock.now) + 1;
  EXPECT_EQ(PutBack(restarted).exit->node, "n1");
  SourceRig refused;
  refused.slurm.Add(12).reason = "JobHeldUser: launch failed requeued held";
  EXPECT_EQ(PutBack(refused).requeued, "");
  SourceRig back;  // it was down for a moment, and is fine again
  back.slurm.Add(12).state = JobState::kRunning;
  back.slurm.jobs[12].nodes = {"n1"};
  back.Look();
  back.slurm.nodes[0].state = NodeRecord::State::kDown;
  back.Look();
  back.slurm.nodes[0].state = NodeRecord::State::kIdle;
  back.slurm.jobs[12].state = JobState::kPending;
  back.slurm.jobs[12].restarts = 1;
  back.Look();
  ASSERT_EQ(back.deltas.Of<model::Observed>().size(), 1U);
  EXPECT_EQ(back.deltas.Of<model::Observed>()[0].attempt.requeued, "");
}

TEST(Source, ARequeuedJobThatIsStillLeavingIsNoSuccess) {
  SourceRig rig;
  rig.slurm.Add(12).state = JobState::kRunning;
  rig.slurm.jobs[12].nodes = {"n1"};
  rig.Look();
  rig.slurm.jobs[12].state = JobState::kPending;
  rig.slurm.jobs[12].completing = true;
  const auto baseline = rig.Look();
  EXPECT_EQ(baseline.attempts.at(0).phase, Phase::kLeaving);
  ASSERT_TRUE(baseline.attempts.at(0).exit);
  EXPECT_EQ(baseline.attempts.at(0).exit->cause, model::Cause::kNode);
}

TEST(Source, AHoldIsDoneAtTheNextLookForWhoOwnsTheWaitingJob) {
  SourceRig rig;
  rig.slurm.Add(12).uid = 7;
  EXPECT_EQ(rig.source.Change("u-1", 7, true), MayChange::kLater);  // not seen yet
  rig.Look();
  EXPECT_EQ(rig.source.Change("u-1", 8, true), MayChange::kNotHis);
  EXPECT_EQ(rig.source.Change("u-1", 7, true), MayChange::kDone);
  EXPECT_NE(rig.Look().attempts.at(0).held, "");
  EXPECT_EQ(rig.source.Change("u-1", 0, false), MayChange::kDone);
  EXPECT_EQ(rig.Look().attempts.at(0).held, "");
  EXPECT_THAT(rig.slurm.log, ElementsAre("user hold", "hold"));
  rig.slurm.jobs[12].state = JobState::kRunning;
  rig.Look();
  EXPECT_EQ(rig.source.Change("u-1", 7, true), MayChange::kStarted);
}

TEST(Source, AHoldOutlastsASlurmctldThatIsAway) {
  SourceRig rig;
  rig.slurm.Add(12).uid = 7;
  rig.Look();
  EXPECT_EQ(rig.source.Change("u-1", 7, true), MayChange::kDone);
  rig.slurm.away = true;
  EXPECT_FALSE(rig.source.Look(rig.deltas));
  rig.slurm.away = false;
  EXPECT_NE(rig.Look().attempts.at(0).held, "");
}

TEST(Source, OurOwnRequeueIsNoNodeFailure) {
  SourceRig rig;
  rig.slurm.Add(12).state = JobState::kFailed;
  rig.slurm.jobs[12].wait_status = 1 << 8;
  rig.Look();
  ASSERT_TRUE(rig.slurm.RequeueHeld(12));
  rig.Look();
  EXPECT_THAT(rig.deltas.Of<model::Observed>(), IsEmpty());
}

TEST(Source, ContactIsLostOnlyAfterAWhile) {
  SourceRig rig;
  rig.slurm.Add(12).state = JobState::kRunning;
  rig.slurm.jobs[12].nodes = {"n1"};
  rig.slurm.nodes[0].not_responding = true;
  EXPECT_FALSE(rig.Look().attempts.at(0).contact_lost);
  rig.clock.now += std::chrono::seconds(11);
  EXPECT_TRUE(rig.Look().attempts.at(0).contact_lost);
  rig.slurm.nodes[0].not_responding = false;
  EXPECT_FALSE(rig.Look().attempts.at(0).contact_lost);
}

TEST(Source, ReadySinceIsTheTimeOfTheLastReturn) {
  SourceRig rig;
  const TimePoint first = rig.clock.now;
  rig.Look();
  rig.clock.now += std::chrono::seconds(5);
  EXPECT_EQ(rig.Look().nodes.at(0).ready_since, first);
  rig.slurm.nodes[0].draining = true;
  EXPECT_FALSE(rig.Look().nodes.at(0).ready);
  rig.slurm.nodes[0].draining = false;
  EXPECT_EQ(rig.Look().nodes.at(0).ready_since, rig.clock.now);
}

TEST(Source, AnotherSiteIsAnotherPictureThoughSlurmIsTheSame) {
  SourceRig rig;
  rig.Look();
  rig.slurm.unchanged = true;
  rig.deltas.all.clear();
  ASSERT_TRUE(rig.source.Look(rig.deltas));
  EXPECT_THAT(rig.deltas.all, IsEmpty());
  auto site = std::make_shared<spec::Site>(*testing::TestSite());
  site->pools.clear();
  rig.shared.Use(std::move(site));
  const auto baseline = rig.Look();
  ASSERT_EQ(baseline.nodes.size(), 2U);
  EXPECT_THAT(baseline.nodes[0].pools, IsEmpty());
}

TEST(Source, AnExpectedJobIsLookedForUntilItIsSeen) {
  SourceRig rig;
  SlurmSource source({&rig.slurm, &rig.shared, &rig.clock, &rig.log, std::chrono::hours(1)});
  int lists = 0;  // two a look; the job comes after the third look
  std::promise<void> seen;
  rig.slurm.between = [&] {
    ++lists;
    if (lists == 6) rig.slurm.Add(12, "cox:u-9 accepted {}");
    if (lists == 8) seen.set_value();
  };
  ASSERT_TRUE(source.Start(rig.deltas));
  source.Expect("u-9");
  EXPECT_EQ(seen.get_future().wait_for(std::chrono::minutes(1)), std::future_status::ready);
  source.Stop();
  const auto baselines = rig.deltas.Of<model::Baseline>();
  ASSERT_FALSE(baselines.empty());
  ASSERT_EQ(baselines.back().attempts.size(), 1U);
  EXPECT_EQ(baselines.back().attempts[0].native_id, "12");
}

TEST(Source, StartFailsWhenSlurmctldIsAwayAndCanBeRepeated) {
  SourceRig rig;
  rig.slurm.away = true;
  EXPECT_FALSE(rig.source.Start(rig.deltas));
  rig.slurm.away = false;
  EXPECT_TRUE(rig.source.Start(rig.deltas));
  rig.source.Kick();
  rig.source.Stop();
  EXPECT_FALSE(rig.deltas.Of<model::Baseline>().empty());
}

}  // namespace
}  // namespace cox::slurm
