#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/lifecycle/builders.hpp"

namespace cox::lifecycle::test {
namespace {

using model::Discard;
using model::Kill;
using model::Place;
using model::Requeue;
using model::Terminate;
using testing::HasSubstr;

constexpr char kTaken[] = "task llama was preempted by another task qwen";

Preempt ByQwen(bool spot = false) {
  return {kTaken, "qwen", spot};
}

Answered NotStarted(const World& w) {
  Answered answer;
  answer.order = Answered::Order::kKill;
  answer.attempt = w.task().attempt;
  answer.not_started = true;
  return answer;
}

// ---- Admission ----

TEST(Admission, OrdersThePlacementWithTheEnvironment) {
  World w;
  w.Do(Admit{OnTwoNodes()});
  const Place* place = w.Ordered<Place>();
  ASSERT_NE(place, nullptr);
  EXPECT_EQ(place->placement, OnTwoNodes());
  EXPECT_FALSE(place->env.empty());
  EXPECT_EQ(w.task().message, "flavor=h100.1g, source=reserved");
  EXPECT_EQ(w.last.actions.back().version, w.task().version);
  EXPECT_EQ(w.last.actions.back().attempt_uuid, kRoot);
}

TEST(Admission, WaitsForTheNativeObject) {
  World w;
  model::Task task = w.task();
  task.native_id.clear();
  const StepResult begun = Begin(task, kT0);
  ASSERT_EQ(begun.actions.size(), 1u);
  EXPECT_TRUE(std::holds_alternative<model::Create>(begun.actions[0].what));
  w.last = begun;
  w.Do(Admit{OnTwoNodes()});
  EXPECT_EQ(w.task().state, State::kPending);
  Answered created;
  created.order = Answered::Order::kCreate;
  created.native_id = "55";
  w.Do(created).Do(Admit{OnTwoNodes()});
  EXPECT_EQ(w.task().state, State::kAdmitted);
  EXPECT_EQ(w.last.actions.front().native_id, "55");
}

TEST(Admission, AJobThatCannotBeCreatedFailsWithTheReason) {
  World w;
  model::Task task = w.task();
  task.native_id.clear();
  w.last = Begin(task, kT0);
  Answered refused;
  refused.order = Answered::Order::kCreate;
  refused.error = InvalidArgument("no such partition");
  w.Do(refused);
  EXPECT_EQ(w.task().reason, "CreateFailed");
  EXPECT_EQ(w.task().message, "no such partition");
}

TEST(Admission, AStoppedJobIsDiscardedWhenItsNativeObjectAppears) {
  World w;
  model::Task task = w.task();
  task.native_id.clear();
  w.last = Begin(task, kT0);
  w.Do(Stop{"alice"});
  EXPECT_EQ(w.Ordered<Discard>(), nullptr);
  Answered created;
  created.order = Answered::Order::kCreate;
  created.native_id = "55";
  w.Do(created);
  EXPECT_NE(w.Ordered<Discard>(), nullptr);
}

TEST(Admission, ALostRaceRollsBackWholeAndBacksOffLongerEachTime) {
  World w;
  Answered lost;
  lost.order = Answered::Order::kPlace;
  lost.error = Conflict("n2 is taken");
  w.Do(Admit{OnTwoNodes()}).Do(lost);
  EXPECT_EQ(w.task().state, State::kPending);
  EXPECT_EQ(w.task().reason, "BindConflict");
  EXPECT_EQ(w.task().message, "n2 is taken");
  EXPECT_FALSE(w.task().placement);
  EXPECT_EQ(w.task().deadline, kNever);
  EXPECT_EQ(w.task().not_before, kT0 + std::chrono::seconds(1));
  w.Do(Admit{OnTwoNodes()}).Do(lost);
  EXPECT_EQ(w.task().not_before, kT0 + std::chrono::seconds(2));
  for (int i = 0; i < 20; ++i) w.Do(Admit{OnTwoNodes()}).Do(lost);
  EXPECT_EQ(w.task().not_before, kT0 + std::chrono::seconds(60));
  EXPECT_EQ(w.task().attempt, 0);
  w.Run();
  EXPECT_EQ(w.task().start_failures, 0);
}

TEST(Admission, WhyItWaitsIsAnnotatedOnceAndAnEventOnlyWhenTheReasonChanges) {
  World w;
  w.Do(Wait{"InsufficientQuota", "needs 16 of 8"});
  EXPECT_EQ(w.last.events.size(), 1u);
  ASSERT_EQ(w.last.actions.size(), 1u);
  EXPECT_EQ(std::get<model::Annotate>(w.last.actions[0].what).message, "needs 16 of 8");
  w.Do(Wait{"InsufficientQuota", "needs 16 of 8"});
  EXPECT_TRUE(w.last.actions.empty());
  w.Do(Wait{"InsufficientQuota", "needs 16 of 12"});
  EXPECT_TRUE(w.last.events.empty());
  EXPECT_EQ(w.last.actions.size(), 1u);
}

// ---- Start ----

TEST(Start, AGangThatDoesNotStartInTimeIsWithdrawnAndKeepsItsChargeUntilItIsGone) {
  World w = InState(State::kStarting);
  w.Later(299).Do(Tick{});
  EXPECT_EQ(w.task().reason, "Starting");
  w.Later(1).Do(Tick{});
  EXPECT_EQ(w.task().reason, "GangStartTimeout");
  EXPECT_NE(w.Ordered<Kill>(), nullptr);
  EXPECT_TRUE(w.task().placement);
  w.Do(w.Ends(0));
  EXPECT_EQ(w.task().state, State::kRetrying);
  EXPECT_FALSE(w.task().placement);
  EXPECT_EQ(w.task().retries_used, 0);
  ASSERT_NE(w.Ordered<Requeue>(), nullptr);
  EXPECT_EQ(w.Ordered<Requeue>()->next, 1);
}

TEST(Start, AGangThatNeverStartedGoesBackToTheQueueAsTheSameAttempt) {
  World w = InState(State::kAdmitted);
  w.Later(300).Do(Tick{}).Do(NotStarted(w));
  EXPECT_EQ(w.task().state, State::kPending);
  EXPECT_EQ(w.task().reason, "GangStartTimeout");
  EXPECT_EQ(w.task().attempt, 0);
  EXPECT_EQ(w.task().not_before, w.now + std::chrono::seconds(10));
}

TEST(Start, AGangThatNeverStartsIsGivenUp) {
  World w;
  for (int i = 0; i < kMaxStartTimeouts; ++i) {
    w.Do(Admit{OnTwoNodes()}).Later(300).Do(Tick{}).Do(NotStarted(w));
  }
  EXPECT_EQ(w.task().state, State::kFailed);
  EXPECT_EQ(w.task().reason, "GangStartTimeout");
  EXPECT_THAT(w.task().message, HasSubstr("5 times in a row"));
  EXPECT_NE(w.Ordered<Discard>(), nullptr);
}

TEST(Start, WhatRunsWithoutOurDecisionIsAdoptedAndCharged) {
  World w;
  Observation seen = w.Sees(Phase::kRunning);
  seen.nodes = {"x1", "x2"};
  w.Do(seen);
  EXPECT_EQ(w.task().state, State::kRunning);
  ASSERT_TRUE(w.task().placement);
  EXPECT_EQ(w.task().placement->replicas[1].node, "x2");
  EXPECT_EQ(w.task().placement->candidate, TwoNodes());
  EXPECT_EQ(w.last.events.front().reason, "Adopted");
  EXPECT_EQ(w.Ordered<Kill>(), nullptr);
}

TEST(Start, WhereItRunsIsTheBatchSystemsWord) {
  World w = InState(State::kAdmitted);
  Observation seen = w.Sees(Phase::kRunning);
  seen.nodes = {"n1", "n9"};
  w.Do(seen);
  EXPECT_EQ(w.task().placement->replicas[1].node, "n9");
  EXPECT_EQ(w.last.events.front().reason, "PlacedElsewhere");
}

TEST(Start, AHeldJobThatSomebodyReleasedIsHeldAgain) {
  World w;
  w.Do(w.Sees(Phase::kReleased));
  EXPECT_NE(w.Ordered<Kill>(), nullptr);
  EXPECT_EQ(w.task().state, State::kPending);
}

// ---- Leaving ----

TEST(Leaving, TermThenKillAfterTheGraceThenKillAgain) {
  World w = InState(State::kPreempting);
  EXPECT_NE(w.Ordered<Terminate>(), nullptr);
  w.Later(29).Do(Tick{});
  EXPECT_TRUE(w.last.actions.empty());
  w.Later(1).Do(Tick{});
  EXPECT_NE(w.Ordered<Kill>(), nullptr);
  w.Later(59).Do(Tick{});
  EXPECT_EQ(w.Ordered<Kill>(), nullptr);
  w.Later(1).Do(Tick{});
  EXPECT_NE(w.Ordered<Kill>(), nullptr);
  EXPECT_EQ(w.task().state, State::kPreempting);
}

TEST(Leaving, TheGraceIsTheJobs) {
  spec::TrainingJob job = Job();
  job.scheduling.termination_grace_period_seconds = 5;
  World w(job);
  w.Run().Do(Stop{"alice"}).Later(5).Do(Tick{});
  EXPECT_NE(w.Ordered<Kill>(), nullptr);
}

TEST(Leaving, ChargedUntilTheLastProcessIsGone) {
  World w = InState(State::kRunning);
  Observation leaving = w.Sees(Phase::kLeaving);
  leaving.exit = ExitCode(3);
  w.Do(leaving);
  EXPECT_EQ(w.task().state, State::kRunning);
  EXPECT_TRUE(w.task().placement);
  w.Later(90).Do(Tick{});
  EXPECT_NE(w.Ordered<Kill>(), nullptr);
  w.Do(w.Ends(143));
  EXPECT_FALSE(w.task().placement);
  ASSERT_EQ(w.task().attempts.size(), 1u);
  EXPECT_EQ(w.task().attempts[0].exit.exit_code, 3) << "the first failing replica, not its echo";
}

TEST(Leaving, SuccessSeenBeforeTheEndStaysSuccess) {
  World w = InState(State::kRunning);
  w.Do(w.Sees(Phase::kLeaving)).Do(w.Ends(143));
  EXPECT_EQ(w.task().state, State::kSucceeded);
}

// ---- Preemption ----

TEST(Preemption, WithoutFaultToleranceTheJobFailsWithTheWordsOfTheContract) {
  spec::TrainingJob job = Job();
  job.failure_policy.enabled = false;
  World w(job);
  w.Run().Do(ByQwen()).Do(w.Ends(143));
  EXPECT_EQ(w.task().state, State::kFailed);
  EXPECT_EQ(w.task().reason, "Preempted");
  EXPECT_THAT(w.task().message, HasSubstr(kTaken));
  EXPECT_THAT(w.task().message, HasSubstr("was preempted by another task"));
  EXPECT_EQ(w.task().preempted_by, "qwen");
  const auto& shown = std::get<model::Annotate>(w.last.actions.front().what);
  EXPECT_THAT(shown.message, HasSubstr(kTaken));
}

TEST(Preemption, WithFaultToleranceItIsRetriedAndNotCounted) {
  World w;
  for (int i = 1; i <= 6; ++i) {
    w.Run().Do(ByQwen()).Do(w.Ends(143));
    ASSERT_EQ(w.task().state, State::kRetrying) << i;
    EXPECT_THAT(w.task().message, HasSubstr(kTaken));
    w.Do(Answered{Answered::Order::kRequeue, w.task().attempt, std::nullopt, "", false});
  }
  EXPECT_EQ(w.task().retries_used, 0);
  EXPECT_EQ(w.task().preemptions, 6);
}

TEST(Preemption, HasACapOfItsOwn) {
  spec::TrainingJob job = Job();
  job.failure_policy.max_preemption_retries = 1;
  World w(job);
  w.Run().Do(ByQwen()).Do(w.Ends(143));
  EXPECT_EQ(w.task().state, State::kRetrying);
  w.Do(Answered{Answered::Order::kRequeue, 0, std::nullopt, "", false});
  w.Run().Do(ByQwen()).Do(w.Ends(143));
  EXPECT_EQ(w.task().state, State::kFailed);
  EXPECT_THAT(w.task().message, HasSubstr("maxPreemptionRetries 1 is used up"));
}

TEST(Preemption, ASpotReclaimIsNamedSpotEvicted) {
  World w;
  w.judge = FailJudge();
  w.Run().Do(ByQwen(true));
  EXPECT_EQ(w.task().reason, "SpotEvicted");
  w.Do(w.Ends(143));
  EXPECT_EQ(w.task().reason, "SpotEvicted");
  EXPECT_EQ(w.task().attempts[0].failure_class, "Preempted");
  EXPECT_EQ(w.task().attempts[0].exit.cause, model::Cause::kSpotEvicted);
}

TEST(Preemption, AVictimThatHadNotStartedLosesNothing) {
  World w = InState(State::kAdmitted);
  w.Do(ByQwen());
  EXPECT_NE(w.Ordered<Kill>(), nullptr);
  w.Do(NotStarted(w));
  EXPECT_EQ(w.task().state, State::kPending);
  EXPECT_EQ(w.task().attempt, 0);
  EXPECT_EQ(w.task().message, kTaken);
}

TEST(Preemption, OfADebugHoldKeepsTheOutcome) {
  World w = InState(State::kDebugHolding);
  w.Do(ByQwen());
  EXPECT_NE(w.Ordered<Terminate>(), nullptr);
  w.Do(w.Ends(143));
  EXPECT_EQ(w.task().state, State::kSucceeded);
}

// ---- Stop ----

TEST(Stopping, BySomebodyInEveryStateEndsInStoppedAndFreesEverything) {
  for (State state : kStates) {
    if (model::IsTerminal(state)) continue;
    World w = InState(state);
    w.Do(Stop{"root"});
    if (w.task().state == State::kStopping) w.Do(w.Ends(143));
    EXPECT_EQ(w.task().state, State::kStopped) << model::Name(state);
    EXPECT_EQ(w.task().message, state == State::kStopping ? "StoppedBy=alice" : "StoppedBy=root");
    EXPECT_FALSE(w.task().placement);
    EXPECT_NE(w.Ordered<Discard>(), nullptr);
  }
}

TEST(Stopping, TheRequestAndTheEndHaveTheirOwnReasons) {
  World w = InState(State::kRunning);
  w.Do(Stop{"root"});
  EXPECT_EQ(w.task().state, State::kStopping);
  EXPECT_EQ(w.task().reason, "StopRequested");
  w.Do(w.Ends(143));
  EXPECT_EQ(w.task().state, State::kStopped);
  EXPECT_EQ(w.task().reason, "StoppedBy");
  EXPECT_EQ(w.task().message, "StoppedBy=root");
}

TEST(Stopping, NeverIsRetried) {
  World w = InState(State::kPreempting);
  w.Do(Stop{"alice"}).Do(w.Ends(1));
  EXPECT_EQ(w.task().state, State::kStopped);
}

TEST(Stopping, InADebugHoldKeepsTheOutcome) {
  World w = InState(State::kDebugHolding);
  w.Do(Stop{"alice"}).Do(w.Ends(143));
  EXPECT_EQ(w.task().state, State::kStopped);
  EXPECT_TRUE(w.task().outcome_succeeded);
}

TEST(Stopping, ByTheSystemsOwnCommandIsAStop) {
  World w = InState(State::kRunning);
  Observation seen = w.Ends(1);
  seen.cancelled = true;
  seen.cancelled_by = "alice";
  w.Do(seen);
  EXPECT_EQ(w.task().state, State::kStopped);
  EXPECT_EQ(w.task().message, "StoppedBy=alice");
  EXPECT_EQ(w.task().stopped_by, "alice");
}

TEST(Stopping, OurOwnKillIsNotTakenForACancellation) {
  World w = InState(State::kPreempting);
  Observation seen = w.Ends(1);
  seen.cancelled = true;
  seen.cancelled_by = "root";
  w.Do(seen);
  EXPECT_EQ(w.task().state, State::kRetrying);
}

// ---- Retries ----

TEST(Retry, StartsTheWholeJobAgainAsALinkedAttempt) {
  World w;
  w.Run().Do(w.Ends(1));
  EXPECT_EQ(w.task().state, State::kRetrying);
  EXPECT_THAT(w.task().message, HasSubstr("RetryScheduled 1/3"));
  EXPECT_EQ(w.task().not_before, w.now + std::chrono::seconds(10));
  w.Do(Answered{Answered::Order::kRequeue, 0, std::nullopt, "", false});
  EXPECT_EQ(w.task().state, State::kPending);
  EXPECT_EQ(w.task().attempt, 1);
  EXPECT_EQ(w.task().attempt_uuid, AttemptUuid(kRoot, 1));
  EXPECT_EQ(w.task().root_uuid, kRoot);
  EXPECT_EQ(w.task().submitted_at, kT0);
  EXPECT_EQ(w.task().not_before, w.now + std::chrono::seconds(10));
}

TEST(Retry, FiveFailuresWithThreeRetriesAreFourRuns) {
  World w;
  int runs = 0;
  for (int i = 0; i < 5 && !model::IsTerminal(w.task().state); ++i) {
    w.Run();
    ++runs;
    w.Do(w.Ends(1)).Do(Answered{Answered::Order::kRequeue, i, std::nullopt, "", false});
  }
  EXPECT_EQ(runs, 4);
  EXPECT_EQ(w.task().state, State::kFailed);
  EXPECT_THAT(w.task().message, HasSubstr("maxRetries 3 is used up"));
  EXPECT_EQ(w.task().attempts.size(), 4u);
}

TEST(Retry, WithoutFaultToleranceNothingIsRetriedWhateverAPluginSays) {
  spec::TrainingJob job = Job();
  job.failure_policy.enabled = false;
  World w(job);
  w.Run().Do(w.Ends(1));
  EXPECT_EQ(w.task().state, State::kFailed);
  EXPECT_THAT(w.task().message, HasSubstr("fault tolerance is off"));
}

TEST(Retry, AnInteractiveJobCannotBeStartedASecondTime) {
  World w(Job(), true);
  w.Run().Do(w.Ends(1));
  EXPECT_EQ(w.task().state, State::kFailed);
  EXPECT_THAT(w.task().message, HasSubstr("an interactive job cannot be started a second time"));
}

TEST(Retry, KeepsOffTheFailedNodeForTheGivenTime) {
  World w;
  host::FaultVerdict verdict;
  verdict.retry = verdict.counts = verdict.exclude_node = true;
  verdict.exclude_ttl = std::chrono::hours(1);
  w.judge = Says(verdict);
  w.Run().Do(w.Ends(1, "n2"));
  ASSERT_EQ(w.task().exclusions.size(), 1u);
  EXPECT_EQ(w.task().exclusions[0].node, "n2");
  EXPECT_EQ(w.task().exclusions[0].until, w.now + std::chrono::hours(1));
}

TEST(Retry, AJobThatDoesNotWantExclusionsGetsNone) {
  spec::TrainingJob job = Job();
  job.failure_policy.exclude_failed_nodes = false;
  World w(job);
  host::FaultVerdict verdict;
  verdict.retry = verdict.exclude_node = true;
  w.judge = Says(verdict);
  w.Run().Do(w.Ends(1, "n2"));
  EXPECT_TRUE(w.task().exclusions.empty());
}

TEST(Retry, TheAttemptTellsNodesExitClassReasonActionAndLog) {
  World w;
  Observation seen = w.Ends(7, "n2");
  w.Run();
  seen.exit->log_tail = "loss is nan";
  w.Do(seen);
  ASSERT_EQ(w.task().attempts.size(), 1u);
  const model::Attempt& attempt = w.task().attempts[0];
  EXPECT_EQ(attempt.nodes, (std::vector<std::string>{"n1", "n2"}));
  EXPECT_EQ(attempt.uuid, kRoot);
  EXPECT_EQ(attempt.exit.exit_code, 7);
  EXPECT_EQ(attempt.exit.log_tail, "loss is nan");
  EXPECT_EQ(attempt.failure_class, "App");
  EXPECT_EQ(attempt.reason, "ExitCode");
  EXPECT_EQ(attempt.action, "Retry 1/3");
  EXPECT_THAT(attempt.text, HasSubstr("exit code 7 on n2, rank 1"));
}

TEST(Retry, TheJudgeSeesTheWholeHistory) {
  World w;
  cox_failure seen{};
  w.judge = [&](const cox_failure& failure) {
    seen = failure;
    host::FaultVerdict verdict;
    verdict.retry = verdict.counts = true;
    verdict.failure_class = model::FailureClass::kInfra;
    return verdict;
  };
  w.Run().Do(w.Ends(1));
  EXPECT_EQ(seen.infra_failures, 0u);
  w.Do(Answered{Answered::Order::kRequeue, 0, std::nullopt, "", false}).Run().Do(w.Ends(1));
  EXPECT_EQ(seen.infra_failures, 1u);
  EXPECT_EQ(seen.retries_used, 1u);
  EXPECT_EQ(seen.attempt, 1u);
  EXPECT_EQ(seen.max_retries, 3);
  EXPECT_EQ(seen.enabled, 1u);
}

TEST(Retry, ARestartByTheBatchSystemItselfEndsTheAttemptWeKnew) {
  World w = InState(State::kRunning);
  Observation seen = w.Sees(Phase::kReleased);
  seen.attempt = 1;
  w.Do(seen);
  EXPECT_EQ(w.task().state, State::kPending);
  EXPECT_EQ(w.task().attempt, 1);
  EXPECT_EQ(w.task().attempts.size(), 1u);
  EXPECT_EQ(w.Ordered<Requeue>(), nullptr);
  EXPECT_NE(w.Ordered<Kill>(), nullptr) << "it must not start by itself";
}

TEST(Retry, ARequeueThatAPersonAskedForIsNoFailureAndCostsNothing) {
  for (const bool by_degrees : {false, true}) {
    World w = InState(State::kRunning);
    Observation seen = w.Sees(Phase::kLeaving);
    seen.exit.emplace().cause = model::Cause::kNode;
    seen.requeued = "put back by command";
    seen.again_from = w.now + std::chrono::seconds(3);
    if (by_degrees) w.Do(seen);
    seen.phase = Phase::kEnded;
    w.Do(seen);
    EXPECT_EQ(w.Ordered<Requeue>(), nullptr) << "it has been done";
    EXPECT_FALSE(w.task().placement);
    Observation again = w.Sees(Phase::kHeld);
    again.attempt = 1;
    w.Do(again);
    EXPECT_EQ(w.task().state, State::kPending);
    EXPECT_EQ(w.task().attempt, 1);
    EXPECT_EQ(w.task().message, "put back by command");
    ASSERT_EQ(w.task().attempts.size(), 1u);
    EXPECT_EQ(w.task().attempts[0].reason, "Requeued");
    EXPECT_EQ(w.task().retries_used + w.task().infra_failures, 0);
    EXPECT_EQ(w.task().not_before, w.now + std::chrono::seconds(3));
  }
}

TEST(Retry, ARequeueOfAJobThatIsBeingStoppedOrPreemptedChangesNothingOfThat) {
  World w = InState(State::kRunning);
  w.Do(Stop{"alice"});
  Observation seen = w.Sees(Phase::kEnded);
  seen.requeued = "put back by command";
  w.Do(seen);
  EXPECT_EQ(w.task().state, State::kStopped);
  w = InState(State::kRunning);
  w.judge = FailJudge();
  w.Do(ByQwen());
  seen = w.Sees(Phase::kEnded);
  seen.requeued = "put back by command";
  w.Do(seen);
  EXPECT_EQ(w.task().reason, "Preempted");
}

TEST(Hold, IsAPersonsUntilItIsLetGoAndTheQueueCountsFromThen) {
  World w;
  Observation seen = w.Sees(Phase::kHeld);
  seen.held = "held by its user";
  const auto version = w.task().version;
  w.Do(seen);
  EXPECT_EQ(w.task().held, "held by its user");
  EXPECT_GT(w.task().version, version);
  w.Later(3600).Do(w.Sees(Phase::kHeld));
  EXPECT_EQ(w.task().held, "");
  EXPECT_EQ(w.task().not_before, w.now);
  w.Do(seen).Do(w.Sees(Phase::kRunning));
  EXPECT_EQ(w.task().held, "");
}

// Slurm shows what was requeued as held by its user until the order is carried out to its end.
TEST(Regress, AHoldThatComesWithARequeueOfOursIsNobodys) {
  World w = InState(State::kRetrying);
  Observation seen = w.Sees(Phase::kHeld);
  seen.attempt = 1;
  seen.held = "held by its user";
  w.Do(seen);
  EXPECT_EQ(w.task().state, State::kRetrying);
  EXPECT_EQ(w.task().held, "");
  ASSERT_NE(w.Ordered<model::Requeue>(), nullptr);
  EXPECT_EQ(w.Ordered<model::Requeue>()->next, 1);
  seen.held = "";
  w.Do(seen);
  EXPECT_EQ(w.task().state, State::kPending);
  EXPECT_EQ(w.task().attempt, 1);
}

TEST(Hold, OfAJobThatAPersonRequeuedIsThatPersons) {
  World w = InState(State::kRunning);
  Observation seen = w.Sees(Phase::kEnded);
  seen.requeued = "put back by command";
  w.Do(seen);
  seen = w.Sees(Phase::kHeld);
  seen.attempt = 1;
  seen.held = "held by its user";
  w.Do(seen);
  EXPECT_EQ(w.task().state, State::kPending);
  EXPECT_EQ(w.task().held, "held by its user");
}

// A slurmctld that crashes forgets up to five seconds.
TEST(Regress, AStartThatTheBatchSystemForgotIsNoFailure) {
  World w = InState(State::kRunning);
  w.Do(w.Sees(Phase::kHeld));
  EXPECT_EQ(w.task().state, State::kPending);
  EXPECT_EQ(w.task().reason, "StartLost");
  EXPECT_EQ(w.task().attempt, 0);
  EXPECT_TRUE(w.task().attempts.empty());
  EXPECT_FALSE(w.task().placement);
}

TEST(Retry, ALateOutcomeOfAnEarlierAttemptTouchesNothing) {
  World w = InState(State::kRetrying);
  w.Do(Answered{Answered::Order::kRequeue, 0, std::nullopt, "", false}).Do(Admit{OnTwoNodes()});
  const model::Task before = w.task();
  Answered late;
  late.order = Answered::Order::kPlace;
  late.attempt = 0;
  late.error = Conflict("too late");
  w.Do(late);
  EXPECT_EQ(w.task().version, before.version);
}

// ---- Unknown ----

TEST(Unknown, ContactLostTooLongIsGivenUpAsNodeUnreachable) {
  World w = InState(State::kUnknown);
  w.judge = FailJudge();
  w.Later(119).Do(Tick{});
  EXPECT_TRUE(w.last.actions.empty());
  w.Later(1).Do(Tick{});
  EXPECT_NE(w.Ordered<Kill>(), nullptr);
  EXPECT_TRUE(w.task().placement) << "nobody knows that its processes are gone";
  w.Do(w.Ends(0));
  EXPECT_EQ(w.task().state, State::kFailed);
  EXPECT_EQ(w.task().reason, "NodeUnreachable");
  EXPECT_EQ(w.task().attempts[0].exit.cause, model::Cause::kNode);
}

// ---- Debug hold ----

TEST(DebugHold, KeepsTheOutcomeUntilTheHoldIsOver) {
  World w(DebuggedRayJob());
  w.Run();
  Observation ended = w.Sees(Phase::kLeaving);
  ended.exit = ExitCode(2);
  w.Do(ended);
  EXPECT_EQ(w.task().state, State::kDebugHolding);
  EXPECT_TRUE(model::IsCharged(w.task().state));
  EXPECT_EQ(w.task().deadline, w.now + std::chrono::seconds(600));
  w.Later(599).Do(Tick{});
  EXPECT_TRUE(w.last.actions.empty());
  w.Later(1).Do(Tick{});
  EXPECT_NE(w.Ordered<Terminate>(), nullptr);
  EXPECT_EQ(w.task().state, State::kDebugHolding);
  w.Do(w.Ends(143));
  EXPECT_EQ(w.task().state, State::kFailed) << "the hold does not change the result, nor retry it";
  EXPECT_EQ(w.task().attempts[0].exit.exit_code, 2);
}

// ---- Refusal, orders ----

TEST(Refused, ANativeSubmissionThatIsInvalidFailsAndIsDiscarded) {
  World w;
  const StepResult result = Refuse(w.task(), "spec.type: MPIJob", kT0);
  EXPECT_EQ(result.task.state, State::kFailed);
  EXPECT_EQ(result.task.reason, "Rejected");
  ASSERT_EQ(result.actions.size(), 2u);
  EXPECT_TRUE(std::holds_alternative<model::Annotate>(result.actions[0].what));
  EXPECT_TRUE(std::holds_alternative<Discard>(result.actions[1].what));
}

TEST(OrdersOfAState, AreWhatTheTransitionOrdered) {
  for (State state : kStates) {
    World w = InState(state);
    const std::vector<model::Action> again = Orders(w.task(), w.now);
    size_t wanted = 0;
    for (const auto& action : w.last.actions) {
      if (std::holds_alternative<model::Annotate>(action.what)) continue;
      ++wanted;
      ASSERT_EQ(again.size(), 1u) << model::Name(state);
      EXPECT_EQ(again[0].what.index(), action.what.index()) << model::Name(state);
      EXPECT_EQ(again[0].attempt, action.attempt);
      EXPECT_EQ(again[0].version, action.version);
    }
    EXPECT_EQ(again.size(), wanted) << model::Name(state);
  }
}

TEST(Terminal, WhatStillRunsOfAnEndedTaskIsDiscardedAgain) {
  World w = InState(State::kSucceeded);
  w.Do(w.Sees(Phase::kReleased));
  EXPECT_NE(w.Ordered<Discard>(), nullptr);
  w.Do(w.Sees(Phase::kEnded));
  EXPECT_TRUE(w.last.actions.empty());
}

}  // namespace
}  // namespace cox::lifecycle::test
