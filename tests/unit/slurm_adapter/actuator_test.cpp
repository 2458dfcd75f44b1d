#include "slurm/actuator.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/slurm_adapter/fake_slurm.hpp"

namespace cox::slurm {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class Rig {
 public:
  template <class Order>
  model::Action Make(const Order& order, int64_t attempt = 0) {
    model::Action action;
    action.id = {next_++};
    action.attempt = attempt;
    action.version = 4;
    action.native_id = "12";
    action.root_uuid = "u-1";
    action.what = order;
    return action;
  }

  // Carries it out; the outcomes that came of it.
  template <class Order>
  std::vector<model::Outcome> Do(const Order& order, int64_t attempt = 0) {
    deltas.all.clear();
    actuator.Submit({Make(order, attempt)});
    actuator.Turn(deltas);
    return deltas.Of<model::Outcome>();
  }

  std::vector<model::Outcome> Later(int seconds) {
    clock.now += std::chrono::seconds(seconds);
    deltas.all.clear();
    actuator.Turn(deltas);
    return deltas.Of<model::Outcome>();
  }

  JobRecord& job() { return slurm.jobs[12]; }

  testing::FakeSlurm slurm;
  testing::FakeClock clock;
  testing::Deltas deltas;
  Log log{"test", Log::Level::kError};
  Shared shared{testing::TestSite()};
  SlurmActuator actuator{{&slurm, &shared, &clock, &log, std::chrono::milliseconds(3000)}};

 private:
  uint64_t next_ = 1;
};

model::Place PlaceOn(const std::vector<std::string>& nodes) {
  model::Place place;
  int64_t rank = 0;
  for (const auto& node : nodes)
    place.placement.replicas.push_back({model::Role::kWorker, rank++, node, {8000, 1024, 1000}});
  return place;
}

TEST(Actuator, PlaceReleasesVerifiesAndHoldsAgain) {
  Rig rig;
  rig.slurm.Add(12);
  const auto outcomes = rig.Do(PlaceOn({"n2", "n1"}));
  ASSERT_EQ(outcomes.size(), 1U);
  EXPECT_FALSE(outcomes[0].error);
  EXPECT_EQ(rig.job().state, JobState::kRunning);
  EXPECT_EQ(rig.job().priority, 0);  // so that whatever requeues it leaves it held
  EXPECT_THAT(rig.slurm.log, ElementsAre("release", "hold"));
  EXPECT_FALSE(rig.shared.IsReleasing(12));
}

TEST(Actuator, AJobThatSlurmDoesNotStartIsHeldAgainAndAConflict) {
  Rig rig;
  rig.slurm.Add(12);
  rig.slurm.starts = false;
  EXPECT_TRUE(rig.Do(PlaceOn({"n1"})).empty());
  EXPECT_TRUE(rig.shared.IsReleasing(12));
  EXPECT_TRUE(rig.Later(1).empty());
  const auto outcomes = rig.Later(3);
  ASSERT_EQ(outcomes.size(), 1U);
  EXPECT_EQ(outcomes[0].error->code, Code::kConflict);
  EXPECT_EQ(rig.job().priority, 0);
  EXPECT_FALSE(rig.shared.IsReleasing(12));
}

TEST(Actuator, WhatSlurmFindsImpossibleIsAConflictAtOnce) {
  Rig rig;
  rig.slurm.Add(12);
  rig.slurm.starts = false;
  rig.Do(PlaceOn({"n1"}));
  rig.job().priority = 0;  // Slurm's own hold
  rig.job().reason = "BadConstraints";
  const auto outcomes = rig.Later(0);
  ASSERT_EQ(outcomes.size(), 1U);
  EXPECT_THAT(outcomes[0].error->text, HasSubstr("BadConstraints"));
}

TEST(Actuator, RunningElsewhereIsAConflict) {
  Rig rig;
  rig.slurm.Add(12);
  rig.slurm.starts_on = "n3";
  EXPECT_THAT(rig.Do(PlaceOn({"n1"})).at(0).error->text, HasSubstr("on n3 instead of n1"));
}

TEST(Actuator, PlaceMayBeRepeatedWhenTheJobRuns) {
  Rig rig;
  rig.slurm.Add(12);
  rig.Do(PlaceOn({"n1"}));
  rig.slurm.log.clear();
  EXPECT_FALSE(rig.Do(PlaceOn({"n1"})).at(0).error);
  EXPECT_THAT(rig.slurm.log, ElementsAre("hold"));  // nothing is released
}

TEST(Actuator, AnOrderForAnotherAttemptTouchesNothing) {
  Rig rig;
  rig.slurm.Add(12).restarts = 1;
  rig.job().state = JobState::kRunning;
  EXPECT_EQ(rig.Do(model::Kill{}, 0).at(0).error->code, Code::kConflict);
  EXPECT_EQ(rig.Do(model::Terminate{}, 0).at(0).error->code, Code::kConflict);
  EXPECT_EQ(rig.Do(PlaceOn({"n1"}), 0).at(0).error->code, Code::kConflict);
  EXPECT_TRUE(rig.slurm.log.empty());
}

TEST(Actuator, AnotherTasksJobOfTheSameNumberIsNotFound) {
  Rig rig;
  rig.slurm.Add(12, "cox:u-2 v1 Running Started").state = JobState::kRunning;
  EXPECT_EQ(rig.Do(model::Kill{}).at(0).error->code, Code::kNotFound);
  EXPECT_TRUE(rig.slurm.log.empty());
}

TEST(Actuator, TerminateReachesStepsAndShellButNotSrun) {
  Rig rig;
  rig.slurm.Add(12).state = JobState::kRunning;
  rig.slurm.steps = true;
  rig.Do(model::Terminate{});
  EXPECT_THAT(rig.slurm.log, ElementsAre("signal 15 steps", "signal 15 shell"));
}

TEST(Actuator, TerminateReachesAllOfABatchScriptWithoutSteps) {
  Rig rig;
  rig.slurm.Add(12).state = JobState::kRunning;
  rig.Do(model::Terminate{});
  EXPECT_THAT(rig.slurm.log, ElementsAre("signal 15 batch"));
}

TEST(Actuator, TerminateOfAnInteractiveJobSignalsItsSteps) {
  Rig rig;
  rig.slurm.Add(12).state = JobState::kRunning;
  rig.job().batch = false;
  rig.slurm.steps = true;
  rig.Do(model::Terminate{});
  EXPECT_THAT(rig.slurm.log, ElementsAre("signal 15 steps"));
}

TEST(Actuator, KillCancelsWhatRuns) {
  Rig rig;
  rig.slurm.Add(12).state = JobState::kRunning;
  const auto outcomes = rig.Do(model::Kill{});
  EXPECT_FALSE(outcomes.at(0).not_started);
  EXPECT_THAT(rig.slurm.log, ElementsAre("signal 9 job"));
}

TEST(Actuator, KillOfAReleaseHoldsTheJobAndSaysThatNothingStarted) {
  Rig rig;
  rig.slurm.Add(12);
  rig.slurm.starts = false;
  rig.Do(PlaceOn({"n1"}));
  const auto outcomes = rig.Do(model::Kill{});
  ASSERT_EQ(outcomes.size(), 2U);  // the Kill's and the withdrawn Place's
  EXPECT_TRUE(outcomes[0].not_started);
  EXPECT_EQ(outcomes[1].error->code, Code::kConflict);
  EXPECT_EQ(rig.job().priority, 0);
}

TEST(Actuator, RequeueLeavesTheNextAttemptHeldByAnAdministrator) {
  Rig rig;
  rig.slurm.Add(12).state = JobState::kFailed;
  EXPECT_FALSE(rig.Do(model::Requeue{1}).at(0).error);
  EXPECT_THAT(rig.slurm.log, ElementsAre("requeue", "hold"));
  EXPECT_EQ(rig.job().restarts, 1);
  EXPECT_FALSE(rig.Do(model::Requeue{1}).at(0).error);  // repeated
  EXPECT_EQ(rig.job().restarts, 1);
}

TEST(Actuator, ARequeueThatDiedHalfWayIsCompleted) {
  Rig rig;
  rig.slurm.Add(12).state = JobState::kFailed;
  ASSERT_TRUE(rig.slurm.RequeueHeld(12));
  ASSERT_TRUE(rig.job().user_hold);
  EXPECT_FALSE(rig.Do(model::Requeue{1}).at(0).error);
  EXPECT_FALSE(rig.job().user_hold);
  EXPECT_EQ(rig.job().restarts, 1);
}

TEST(Regress, ARequeueWhoseLastAttemptIsStillLeavingIsAskedForLaterHoweverOften) {
  Rig rig;
  rig.slurm.Add(12).state = JobState::kFailed;
  rig.job().completing = true;
  EXPECT_EQ(rig.Do(model::Requeue{1}).at(0).error->code, Code::kUnavailable);
  EXPECT_EQ(rig.Do(model::Requeue{1}).at(0).error->code, Code::kUnavailable);
  rig.job().completing = false;
  EXPECT_FALSE(rig.Do(model::Requeue{1}).at(0).error);
  EXPECT_EQ(rig.job().restarts, 1);
}

TEST(Actuator, RequeueNeverEndsARunningAttempt) {
  Rig rig;
  rig.slurm.Add(12).state = JobState::kRunning;
  EXPECT_EQ(rig.Do(model::Requeue{1}).at(0).error->code, Code::kConflict);
  EXPECT_TRUE(rig.slurm.log.empty());
}

TEST(Actuator, DiscardCancelsOnceAndIsContentWithAGoneJob) {
  Rig rig;
  EXPECT_FALSE(rig.Do(model::Discard{}).at(0).error);
  rig.slurm.Add(12);
  EXPECT_FALSE(rig.Do(model::Discard{}).at(0).error);
  EXPECT_FALSE(rig.Do(model::Discard{}).at(0).error);
  EXPECT_THAT(rig.slurm.log, ElementsAre("signal 9 job"));
}

TEST(Actuator, AnnotateShowsTheStateAndLeavesAnEndedJobAlone) {
  Rig rig;
  rig.slurm.Add(12, "cox:u-1 accepted {}");
  rig.Do(model::Annotate{"Pending", "InsufficientQuota", "8 of 8 used"});
  EXPECT_EQ(rig.job().admin_comment, "cox:u-1 v4 Pending InsufficientQuota: 8 of 8 used {}");
  EXPECT_EQ(rig.job().comment, "cox: Pending InsufficientQuota: 8 of 8 used");
  rig.job().comment = "my own";
  rig.Do(model::Annotate{"Pending", "NoQuota", ""});
  EXPECT_EQ(rig.job().comment, "my own");
  rig.job().state = JobState::kComplete;
  EXPECT_FALSE(rig.Do(model::Annotate{"Succeeded", "Completed", ""}).at(0).error);
  EXPECT_THAT(rig.job().admin_comment, HasSubstr("Pending"));
}

TEST(Actuator, TheFirstAnnotationMakesTheHoldOfASubmissionOurs) {
  Rig rig;
  rig.slurm.Add(12, "cox:u-1 accepted {}").user_hold = true;
  rig.Do(model::Annotate{"Pending", "Queued", ""});
  EXPECT_FALSE(rig.job().user_hold);
  rig.job().user_hold = true;  // by a person, since
  rig.Do(model::Annotate{"Pending", "Held", ""});
  EXPECT_TRUE(rig.job().user_hold);
  rig.job().admin_comment = "cox:u-1 accepted held {}";  // sbatch --hold
  rig.Do(model::Annotate{"Pending", "Queued", ""});
  EXPECT_TRUE(rig.job().user_hold);
}

TEST(Actuator, WhatAPersonHoldsIsNotPlacedAndStaysHis) {
  Rig rig;
  rig.slurm.starts = false;
  rig.slurm.Add(12).user_hold = true;
  const auto answer = rig.Do(PlaceOn({"n1"})).at(0);
  ASSERT_TRUE(answer.error);
  EXPECT_EQ(answer.error->code, Code::kConflict);
  EXPECT_THAT(answer.error->text, HasSubstr("held by its user"));
  EXPECT_THAT(rig.slurm.log, IsEmpty());
  rig.Do(model::Kill{});
  EXPECT_TRUE(rig.job().user_hold);
}

TEST(Actuator, AJobThatWaitedForTheDaemonGetsItsContextAtPlacement) {
  Rig rig;
  rig.slurm.Add(12, "cox:u-1 wait v1 Pending Queued");
  model::Place place = PlaceOn({"n1"});
  place.env = {{"X_USER_NAME", "ann"}, {"LR", "1"}};
  rig.Do(place);
  EXPECT_EQ(rig.job().admin_comment, "cox:u-1 X_USER_NAME=ann v4 Admitted Admitted");
}

TEST(Actuator, CreateIsIdempotentByUuid) {
  Rig rig;
  auto spec = std::make_shared<spec::TrainingJob>();
  spec->command = "true";
  spec->scheduling.queue = "shared";
  spec->scheduling.flavors = {{"h100.1g", 1}};
  const model::Create create{spec, "llama-abc", "root", "nlp", {}};
  auto action = rig.Make(create);
  action.native_id = "";
  rig.actuator.Submit({action, action});
  rig.actuator.Turn(rig.deltas);
  const auto outcomes = rig.deltas.Of<model::Outcome>();
  ASSERT_EQ(outcomes.size(), 2U);
  EXPECT_FALSE(outcomes[0].error) << outcomes[0].error->text;
  EXPECT_EQ(outcomes[0].native_id, outcomes[1].native_id);
  EXPECT_EQ(rig.slurm.jobs.size(), 1U);
  EXPECT_EQ(rig.slurm.submitted.partition, "train");
}

TEST(Actuator, WhileSlurmctldIsAwayReleasesAreNotGivenUp) {
  Rig rig;
  rig.slurm.Add(12);
  rig.slurm.starts = false;
  rig.Do(PlaceOn({"n1"}));
  rig.slurm.away = true;
  EXPECT_TRUE(rig.Later(60).empty());
  rig.slurm.away = false;
  rig.slurm.starts = true;
  EXPECT_FALSE(rig.Later(1).at(0).error);
}

TEST(Actuator, AnIdThatIsNoNumberIsAnError) {
  Rig rig;
  auto action = rig.Make(model::Kill{});
  action.native_id = "12x";
  rig.actuator.Submit({action});
  rig.actuator.Turn(rig.deltas);
  EXPECT_EQ(rig.deltas.Of<model::Outcome>().at(0).error->code, Code::kInvalidArgument);
}

TEST(Actuator, TheThreadAnswersWhatWasSubmittedBeforeAndAfterItsStart) {
  Rig rig;
  rig.slurm.Add(12);
  rig.actuator.Submit({rig.Make(model::Discard{})});
  rig.actuator.Start(rig.deltas);
  rig.actuator.Stop();  // nothing hangs; the order may or may not have been carried out
  EXPECT_LE(rig.deltas.Of<model::Outcome>().size(), 1U);
}

}  // namespace
}  // namespace cox::slurm
