// A batch system that loses, doubles and contradicts; a daemon that dies between any two steps; a
// clock that jumps. FakeBatch itself fails a test when an attempt starts twice or a node is taken
// twice.
#include <sys/resource.h>

#include <csignal>

#include "unit/run/rig.hpp"

namespace cox::run::test {
namespace {

using Mood = FakeBatch::Mood;

constexpr char kTolerant[] = "  failurePolicy: {enabled: true, maxRetries: 3}\n";

void ExpectConsistent(const Rig& rig) {
  EXPECT_EQ(rig.view()->ledger_error, "");
  int64_t live = 0;
  for (const auto& [id, task] : rig.view()->tasks) {
    if (task->placement) live += 8 * static_cast<int64_t>(task->placement->replicas.size());
  }
  EXPECT_EQ(rig.Used(), live);
}

TEST(Faults, ALostPlaceIsOrderedAgain) {
  Rig rig;
  ASSERT_TRUE(rig.Submit());
  rig.batch.mood = Mood::kDeaf;
  rig.Settle();
  EXPECT_EQ(rig.Task().state, State::kAdmitted);
  rig.batch.mood = Mood::kWilling;
  rig.Later(59);
  rig.Settle();
  EXPECT_EQ(rig.Task().state, State::kAdmitted);
  rig.Later(1);
  rig.Settle();
  EXPECT_EQ(rig.Task().state, State::kRunning);
  EXPECT_GE(rig.view()->counters.actions_overdue, 1u);
  ExpectConsistent(rig);
}

TEST(Faults, ALostAnswerIsHarmless) {
  Rig rig;
  rig.batch.mood = Mood::kMute;
  ASSERT_TRUE(rig.Submit());
  rig.Settle();
  EXPECT_EQ(rig.Task().native_id, "") << "nobody has told the id yet";
  rig.Later(60);
  rig.batch.mood = Mood::kWilling;
  rig.Settle();
  EXPECT_EQ(rig.batch.natives.size(), 1u);
  EXPECT_EQ(rig.Task().state, State::kRunning);
  ExpectConsistent(rig);
}

TEST(Faults, ADoubledAnswerIsHarmless) {
  Rig rig;
  rig.batch.mood = Mood::kTwice;
  ASSERT_TRUE(rig.Submit(JobText(kTolerant)));
  rig.Settle();
  rig.batch.Ends("100", 1);
  rig.Settle();
  EXPECT_EQ(rig.Task().attempt, 1);
  EXPECT_EQ(rig.Task().retries_used, 1);
  EXPECT_GT(rig.view()->counters.late_outcomes, 0u);
  ExpectConsistent(rig);
}

TEST(Faults, ALostRaceReleasesEverythingAndIsTriedAgain) {
  Rig rig;
  rig.batch.mood = Mood::kConflict;
  ASSERT_TRUE(rig.Submit());
  rig.Settle();
  EXPECT_EQ(rig.Task().state, State::kPending);
  EXPECT_EQ(rig.Used(), 0);
  EXPECT_GE(rig.view()->counters.bind_conflicts, 1u);
  rig.batch.mood = Mood::kWilling;
  rig.Later(60);
  rig.Settle();
  EXPECT_EQ(rig.Task().state, State::kRunning);
  ExpectConsistent(rig);
}

TEST(Faults, AnAdapterThatIsAwayIsAskedAgainLaterAndLater) {
  Rig rig;
  rig.batch.mood = Mood::kAway;
  ASSERT_TRUE(rig.Submit());
  rig.Settle();
  const int64_t first = rig.batch.Count(0);
  EXPECT_EQ(first, 1);
  rig.Later(1);
  rig.Settle();
  EXPECT_EQ(rig.batch.Count(0), 2);
  rig.Later(1);
  rig.Settle();
  EXPECT_EQ(rig.batch.Count(0), 2) << "the second pause is longer";
  rig.batch.mood = Mood::kWilling;
  rig.Later(30);
  rig.Settle();
  EXPECT_EQ(rig.Task().state, State::kRunning);
}

TEST(Faults, AtMostOnePlaceOfAnAttemptIsOnItsWay) {
  Rig rig;
  ASSERT_TRUE(rig.Submit());
  rig.batch.mood = Mood::kDeaf;
  rig.Settle();
  for (int i = 0; i < 5; ++i) {
    rig.loop->sink().Post(rig.batch.All());
    rig.Turn();
  }
  EXPECT_EQ(rig.batch.Count(1), 1);
}

TEST(Faults, ActionIdsAreUniqueOverRestarts) {
  Rig rig;
  ASSERT_TRUE(rig.Submit());
  rig.Settle();
  rig.Restart();
  rig.Settle();
  ASSERT_TRUE(rig.Stop(rig.Task()));
  rig.Settle();
  std::set<uint64_t> ids;
  for (const auto& order : rig.batch.orders) EXPECT_TRUE(ids.insert(order.id.value).second);
}

TEST(Faults, WhatTheBatchSystemNoLongerKnowsIsFailedAndReleased) {
  Rig rig;
  ASSERT_TRUE(rig.Submit());
  rig.Settle();
  rig.batch.natives.clear();
  rig.loop->sink().Post(rig.batch.All());
  rig.Settle();
  EXPECT_EQ(rig.Task().state, State::kFailed);
  EXPECT_EQ(rig.Used(), 0);
}

TEST(Faults, ABaselineThatIsOlderThanANewJobDoesNotLoseIt) {
  Rig rig;
  const model::Baseline old = rig.batch.All();
  ASSERT_TRUE(rig.Submit());
  ASSERT_EQ(rig.batch.natives.size(), 1u) << "made, and its id is on its way";
  rig.loop->sink().Post(old);
  rig.Settle();
  EXPECT_EQ(rig.Task().state, State::kRunning) << rig.Task().message;
}

// The daemon dies after every number of turns, with the batch system in every mood; then it comes
// back and all is well.
void DieAndComeBack(Rig& rig, int after_turns) {
  for (int i = 0; i < after_turns; ++i) rig.Turn();
  rig.Restart();
  rig.batch.mood = Mood::kWilling;
  rig.Settle();
  rig.Later(61);
  rig.Settle();
}

class Dying : public testing::TestWithParam<Mood> {};

TEST_P(Dying, BetweenAnyTwoStepsLosesNothingAndStartsNothingTwice) {
  for (int dies_after = 0; dies_after < 7; ++dies_after) {
    SCOPED_TRACE("dies after " + std::to_string(dies_after));
    Rig rig;  // with room for one of the three jobs at a time
    for (int i = 0; i < 3; ++i) ASSERT_TRUE(rig.Submit(JobText(kTolerant)));
    rig.batch.mood = GetParam();
    DieAndComeBack(rig, dies_after);
    ExpectConsistent(rig);
    ASSERT_EQ(rig.view()->tasks.size(), 3u);
    EXPECT_EQ(rig.batch.natives.size(), 3u);
    for (int done = 0; done < 3; ++done) {
      std::string running;
      for (const auto& [id, native] : rig.batch.natives) {
        if (native.shown.phase == Phase::kRunning) running = id;
      }
      ASSERT_NE(running, "") << done;
      rig.batch.Ends(running, 0);
      rig.Restart();
      rig.Settle();
      ExpectConsistent(rig);
    }
    for (const auto& [id, task] : rig.view()->tasks) {
      EXPECT_EQ(task->state, State::kSucceeded) << task->reason << ": " << task->message;
    }
    EXPECT_EQ(rig.Used(), 0);
  }
}

TEST_P(Dying, DuringARetryDoesNotRetryTwice) {
  for (int dies_after = 0; dies_after < 4; ++dies_after) {
    SCOPED_TRACE("dies after " + std::to_string(dies_after));
    Rig rig;
    ASSERT_TRUE(rig.Submit(JobText(kTolerant)));
    rig.Settle();
    rig.batch.mood = GetParam();
    rig.batch.Ends("100", 1);
    DieAndComeBack(rig, dies_after);
    EXPECT_EQ(rig.Task().state, State::kRunning);
    EXPECT_EQ(rig.Task().attempt, 1);
    EXPECT_EQ(rig.Task().retries_used, 1);
    EXPECT_EQ(rig.batch.Only().started.size(), 2u);
    ExpectConsistent(rig);
  }
}

INSTANTIATE_TEST_SUITE_P(InEveryMood, Dying,
                         testing::Values(Mood::kWilling, Mood::kDeaf, Mood::kMute, Mood::kTwice),
                         [](const auto& mood) -> std::string {
                           switch (mood.param) {
                             case Mood::kDeaf:
                               return "Deaf";
                             case Mood::kMute:
                               return "Mute";
                             case Mood::kTwice:
                               return "Twice";
                             default:
                               return "Willing";
                           }
                         });

TEST(Faults, QueueOrderAndPoliciesSurviveARestart) {
  Rig rig;
  for (int i = 0; i < 5; ++i) {
    rig.Later(1);
    ASSERT_TRUE(rig.Submit());
  }
  spec::NodePolicy policy;
  policy.subject = "bob";
  policy.node_names = {"n1"};
  policy.expires_at = rig.clock.now + std::chrono::hours(1);
  rig.loop->Ask(CreatePolicyRequest{policy, {}});
  rig.Settle();
  std::vector<std::string> before;
  for (const auto& e : rig.view()->decision->waiting)
    before.push_back(rig.view()->tasks.at(e.task.value)->name);
  rig.Restart();
  rig.Settle();
  std::vector<std::string> after;
  for (const auto& e : rig.view()->decision->waiting)
    after.push_back(rig.view()->tasks.at(e.task.value)->name);
  EXPECT_EQ(before, after);
  ASSERT_EQ(rig.view()->policies.size(), 1u);
  EXPECT_EQ(rig.view()->policies[0].id, "np-1");
  rig.loop->Ask(CreatePolicyRequest{policy, {}});
  rig.Turn();
  EXPECT_EQ(rig.view()->policies[1].id, "np-2");
}

TEST(Faults, AClockThatJumpsAnHourLosesNothing) {
  for (const int64_t jump : {3600, -3600}) {
    Rig rig;
    ASSERT_TRUE(rig.Submit());
    ASSERT_TRUE(rig.Submit());
    rig.Turn();
    rig.Later(jump);
    rig.Settle();
    EXPECT_EQ(rig.Task(0).state, State::kRunning);
    EXPECT_EQ(rig.Task(1).state, State::kPending);
    rig.Later(jump);
    rig.batch.Ends(rig.Task(0).native_id, 0);
    rig.Settle();
    EXPECT_EQ(rig.Task(0).state, State::kSucceeded);
    EXPECT_EQ(rig.Task(1).state, State::kRunning);
    ExpectConsistent(rig);
  }
}

// No file of this process may grow: what a full file system looks like to SQLite.
class FullDisk {
 public:
  FullDisk() {
    std::signal(SIGXFSZ, SIG_IGN);
    ::getrlimit(RLIMIT_FSIZE, &before_);
    rlimit full = before_;
    full.rlim_cur = 0;
    ::setrlimit(RLIMIT_FSIZE, &full);
  }
  ~FullDisk() { ::setrlimit(RLIMIT_FSIZE, &before_); }

 private:
  rlimit before_{};
};

TEST(Faults, AFullDiskStopsDecisionsAndOrdersButLosesNothing) {
  Rig rig;
  ASSERT_TRUE(rig.Submit());
  ASSERT_TRUE(rig.Submit());
  rig.Settle();
  const auto sent = rig.batch.orders.size();
  const uint64_t cycles = rig.view()->counters.cycles;
  {
    const FullDisk full;
    rig.batch.Ends(rig.Task(0).native_id, 0);
    rig.Settle();
    EXPECT_THAT(rig.view()->degraded, testing::HasSubstr("cox.db"));
    EXPECT_LE(rig.view()->counters.cycles, cycles + 1);
    EXPECT_EQ(rig.batch.orders.size(), sent) << "what is not kept is not carried out";
    const auto refused = rig.Submit();
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Code::kUnavailable);
    EXPECT_LE(rig.Turn(), rig.clock.now + std::chrono::seconds(1)) << "tries again soon";
  }
  rig.Settle();
  EXPECT_EQ(rig.view()->degraded, "");
  EXPECT_EQ(rig.Task(0).state, State::kSucceeded);
  EXPECT_EQ(rig.Task(1).state, State::kRunning);
  EXPECT_GT(rig.view()->counters.store_errors, 0u);
  rig.Restart();
  rig.Settle();
  EXPECT_EQ(rig.Task(0).state, State::kSucceeded);
  EXPECT_EQ(rig.Task(1).state, State::kRunning);
  ExpectConsistent(rig);
}

}  // namespace
}  // namespace cox::run::test
