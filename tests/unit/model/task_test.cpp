#include "model/task.hpp"

#include <gtest/gtest.h>

#include <set>

namespace cox::model {
namespace {

constexpr State kAll[] = {State::kPending,   State::kAdmitted,     State::kStarting,
                          State::kRunning,   State::kRetrying,     State::kPreempting,
                          State::kStopping,  State::kDebugHolding, State::kUnknown,
                          State::kSucceeded, State::kFailed,       State::kStopped};

std::string Where(bool (*is)(State)) {
  std::string out;
  for (const State state : kAll) {
    if (is(state)) out += (out.empty() ? "" : " ") + std::string(Name(state));
  }
  return out;
}

TEST(State, IsChargedUntilTheLastProcessIsGone) {  // 3.3, D10
  EXPECT_EQ(Where(IsCharged), "Admitted Starting Running Preempting Stopping DebugHolding Unknown");
}

TEST(State, ThreeAreTerminal) {
  EXPECT_EQ(Where(IsTerminal), "Succeeded Failed Stopped");
}

TEST(Names, EachValueHasOneOfItsOwn) {
  std::set<std::string> names;
  for (int i = 0; i <= static_cast<int>(Cause::kSpotEvicted); ++i) {
    names.insert(Name(static_cast<Cause>(i)));
  }
  EXPECT_EQ(names.size(), 11U);
  EXPECT_FALSE(names.contains("?"));
  EXPECT_STREQ(Name(Role::kHead), "head");
  EXPECT_STREQ(Name(FailureClass::kNonRetryable), "NonRetryable");
}

TEST(Task, RunsOnWhatItWasPlacedOnElseOnWhatItAskedFor) {  // S27
  auto job = std::make_shared<spec::TrainingJob>();
  job->scheduling.capacity_type = spec::CapacityType::kReserved;
  Task task;
  task.job = job;
  EXPECT_EQ(task.effective_capacity(), spec::CapacityType::kReserved);
  task.placement.emplace().candidate.source = spec::CapacityType::kIdle;
  EXPECT_EQ(task.effective_capacity(), spec::CapacityType::kIdle);
}

}  // namespace
}  // namespace cox::model
