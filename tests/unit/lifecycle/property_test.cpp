// Random lives: whatever comes in whatever order, the promises of step.hpp hold.
#include <gtest/gtest.h>

#include <random>

#include "unit/lifecycle/builders.hpp"

namespace cox::lifecycle::test {
namespace {

class Chaos {
 public:
  explicit Chaos(uint32_t seed) : random_(seed) {}

  int64_t Pick(int64_t n) { return static_cast<int64_t>(random_() % static_cast<uint32_t>(n)); }

  Event Next(const World& w) {
    switch (Pick(9)) {
      case 0:
        return Admit{OnTwoNodes()};
      case 1:
        return Preempt{"task a was preempted by another task b", "b", Pick(2) == 0};
      case 2:
        return Pick(8) == 0 ? Event(Stop{"alice"}) : Event(Tick{});
      case 3:
        return Wait{"Fragmented", std::to_string(Pick(3))};
      case 4:
        return Tick{};
      case 5:
        return AnAnswer(w);
      case 6:
        return Pick(40) == 0 ? Event(model::NativeGone{"1234", kRoot}) : Event(Tick{});
      default:
        return AnObservation(w);
    }
  }

 private:
  int64_t NearAttempt(const World& w) {
    return w.task().attempt + (Pick(6) == 0 ? Pick(3) - 1 : 0);
  }

  Event AnAnswer(const World& w) {
    Answered answer;
    answer.order = static_cast<Answered::Order>(Pick(7));
    answer.attempt = NearAttempt(w);
    if (Pick(3) == 0) answer.error = Conflict("random");
    answer.not_started = Pick(2) == 0;
    return answer;
  }

  Event AnObservation(const World& w) {
    Observation seen = w.Sees(static_cast<Phase>(Pick(6)));
    seen.attempt = NearAttempt(w);
    seen.contact_lost = Pick(5) == 0;
    seen.cancelled = Pick(12) == 0;
    if (Pick(2) == 0) seen.exit = ExitCode(static_cast<int>(Pick(3)) + 1);
    return seen;
  }

  std::mt19937 random_;
};

TEST(Property, AnyOrderOfEventsKeepsThePromises) {
  for (uint32_t seed = 0; seed < 150; ++seed) {
    Chaos chaos(seed);
    World w(seed % 3 == 0 ? DebuggedRayJob() : Job(), seed % 7 == 0);
    if (seed % 5 == 0) w.judge = FailJudge();
    int64_t counted_runs = 0;
    for (int step = 0; step < 200; ++step) {
      const model::Task before = w.task();
      w.Later(chaos.Pick(4) == 0 ? chaos.Pick(400) : 0);
      const Event event = chaos.Next(w);
      w.Do(event);
      const model::Task& after = w.task();
      SCOPED_TRACE("seed " + std::to_string(seed) + " step " + std::to_string(step) + " " +
                   model::Name(before.state) + "->" + model::Name(after.state));

      ASSERT_EQ(after.placement.has_value(), model::IsCharged(after.state));
      ASSERT_GE(after.version, before.version);
      if (model::IsTerminal(before.state)) {
        ASSERT_EQ(after.state, before.state);
        ASSERT_EQ(after.version, before.version);
      }
      uint64_t version = before.version;
      for (const auto& e : w.last.events) {
        ASSERT_GT(e.version, version);
        version = e.version;
      }
      if (after.state != before.state) {
        ASSERT_GT(after.version, before.version);
        ASSERT_FALSE(w.last.events.empty());
      }
      ASSERT_GE(after.attempt, before.attempt);
      ASSERT_EQ(after.attempt_uuid, AttemptUuid(kRoot, after.attempt));
      ASSERT_LE(after.retries_used, after.job->failure_policy.max_retries);
      if (after.retries_used != before.retries_used) ++counted_runs;
      ASSERT_LE(counted_runs, after.job->failure_policy.max_retries);
      if (after.native_interactive) {
        ASSERT_EQ(after.retries_used, 0);
      }
      ASSERT_EQ(after.submitted_at, kT0);
      if (after.leaving) {
        ASSERT_NE(after.deadline, kNever) << "somebody must look after it";
      }
      for (const auto& action : w.last.actions) {
        ASSERT_EQ(action.version, after.version);
        ASSERT_EQ(action.task, after.id);
      }
    }
  }
}

TEST(Property, EqualHistoriesGiveEqualTasks) {
  for (uint32_t seed = 0; seed < 20; ++seed) {
    World a, b;
    Chaos chaos_a(seed), chaos_b(seed);
    for (int step = 0; step < 100; ++step) {
      a.Do(chaos_a.Next(a));
      b.Do(chaos_b.Next(b));
      ASSERT_EQ(a.task().state, b.task().state);
      ASSERT_EQ(a.task().version, b.task().version);
      ASSERT_EQ(a.task().message, b.task().message);
    }
  }
}

}  // namespace
}  // namespace cox::lifecycle::test
