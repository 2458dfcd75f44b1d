// Every event in every state. A cell is the state that follows: P Pending, A Admitted, S Starting,
// R Running, T Retrying, E Preempting, X Stopping, D DebugHolding, U Unknown, + Succeeded, F
// Failed, s Stopped; "=" stays but says something new; "." nothing changes at all.
#include <gtest/gtest.h>

#include <functional>

#include "unit/lifecycle/builders.hpp"

namespace cox::lifecycle::test {
namespace {

constexpr char kLetters[] = "PASRTEXDU+Fs";

struct Row {
  const char* event;
  const char* expected;  // in the order of kStates
  std::function<void(World&)> act;
};

std::function<void(World&)> Seen(Phase phase, std::function<void(Observation&)> change = {}) {
  return [=](World& w) {
    Observation seen = w.Sees(phase);
    if (change) change(seen);
    w.Do(seen);
  };
}

Answered Answer(Answered::Order order, bool failed, int64_t attempt, bool not_started = false) {
  Answered answer;
  answer.order = order;
  answer.attempt = attempt;
  if (failed) answer.error = Conflict("somebody was first");
  answer.not_started = not_started;
  return answer;
}

std::function<void(World&)> Answers(Answered::Order order, bool failed, bool not_started = false) {
  return [=](World& w) { w.Do(Answer(order, failed, w.task().attempt, not_started)); };
}

const auto kLost = [](Observation& o) { o.contact_lost = true; };
const auto kExit1 = [](Observation& o) { o.exit = ExitCode(1); };
const auto kCancelled = [](Observation& o) {
  o.cancelled = true;
  o.cancelled_by = "alice";
};
const auto kEarlier = [](Observation& o) { --o.attempt; };
const auto kNext = [](Observation& o) { ++o.attempt; };

const Row kMatrix[] = {
    //                     PASRTEXDU+Fs
    {"admit", "A...........", [](World& w) { w.Do(Admit{OnTwoNodes()}); }},
    {"wait", "=...........",
     [](World& w) {
       w.Do(Wait{"Fragmented", "no node"});
     }},
    {"preempt", ".EEE...=E...",
     [](World& w) {
       w.Do(Preempt{"task a was preempted by another task b", "b"});
     }},
    {"spot reclaim", ".EEE...=E...",
     [](World& w) {
       w.Do(Preempt{"task a was preempted by another task b", "b", true});
     }},
    {"stop", "sXXXsX.XX...", [](World& w) { w.Do(Stop{"alice"}); }},
    {"tick", "............", [](World& w) { w.Do(Tick{}); }},
    {"tick much later", ".==..====...", [](World& w) { w.Later(86400).Do(Tick{}); }},
    {"placed", "............", Answers(Answered::Order::kPlace, false)},
    {"place refused", ".P..........", Answers(Answered::Order::kPlace, true)},
    {"killed", "............", Answers(Answered::Order::kKill, false)},
    {"not started", ".....Ps.....", Answers(Answered::Order::kKill, false, true)},
    {"kill refused", "............", Answers(Answered::Order::kKill, true, true)},
    {"terminate refused", "............", Answers(Answered::Order::kTerminate, true)},
    {"requeued", "....P.......", Answers(Answered::Order::kRequeue, false)},
    {"requeue refused", "....F.......", Answers(Answered::Order::kRequeue, true)},
    {"create refused", "............", Answers(Answered::Order::kCreate, true)},
    {"discard refused", "............", Answers(Answered::Order::kDiscard, true)},
    {"annotate refused", "............", Answers(Answered::Order::kAnnotate, true)},
    {"held", "..PP....P...", Seen(Phase::kHeld)},
    {"released", "..PP....P...", Seen(Phase::kReleased)},
    {"starting", "SS..........", Seen(Phase::kStarting)},
    {"running", "RRR.....R...", Seen(Phase::kRunning)},
    {"contact lost", "UUUU........", Seen(Phase::kRunning, kLost)},
    {"leaving, success", ".===....=...", Seen(Phase::kLeaving)},
    {"leaving, exit 1", ".===....=...", Seen(Phase::kLeaving, kExit1)},
    {"leaving, scancel", ".XXX...XX...", Seen(Phase::kLeaving, kCancelled)},
    {"ended, success", "++++.Ts++...", Seen(Phase::kEnded)},
    {"ended, exit 1", "TTTT.Ts+T...", Seen(Phase::kEnded, kExit1)},
    {"ended, scancel", "sssssTsss...", Seen(Phase::kEnded, kCancelled)},
    {"earlier attempt", "............", Seen(Phase::kEnded, kEarlier)},
    {"restarted by itself", "=PPPPPs+P...", Seen(Phase::kHeld, kNext)},
    {"native gone", "FFFFFFs+F...",
     [](World& w) {
       w.Do(model::NativeGone{"1234", kRoot});
     }},
    {"other native gone", "............",
     [](World& w) {
       w.Do(model::NativeGone{"99", ""});
     }},
};

TEST(Matrix, EveryEventInEveryStateHasItsOneResult) {
  for (const Row& row : kMatrix) {
    ASSERT_EQ(std::string(row.expected).size(), std::size(kStates)) << row.event;
    for (size_t i = 0; i < std::size(kStates); ++i) {
      World w = InState(kStates[i]);
      ASSERT_EQ(w.task().state, kStates[i]);
      const model::Task before = w.task();
      row.act(w);
      const char now = kLetters[static_cast<size_t>(w.task().state)];
      const bool changed = w.task().version != before.version;
      std::string cell(1, now);
      if (w.task().state == before.state) cell = changed ? "=" : ".";
      EXPECT_EQ(cell, std::string(1, row.expected[i]))
          << row.event << " in " << model::Name(before.state) << " -> "
          << model::Name(w.task().state) << " (" << w.task().reason << ": " << w.task().message
          << ")";
      if (!changed) {
        EXPECT_TRUE(w.last.events.empty()) << row.event << " in " << model::Name(before.state);
      }
    }
  }
}

TEST(Matrix, EveryTransitionEmitsOneEventWithTheVersionAfterIt) {
  for (const Row& row : kMatrix) {
    for (State state : kStates) {
      World w = InState(state);
      uint64_t version = w.task().version;
      row.act(w);
      for (const auto& event : w.last.events) {
        EXPECT_GT(event.version, version) << row.event << " in " << model::Name(state);
        EXPECT_LE(event.version, w.task().version);
        version = event.version;
      }
      if (w.task().state != state) {
        ASSERT_FALSE(w.last.events.empty()) << row.event << " in " << model::Name(state);
        EXPECT_EQ(w.last.events.back().reason, w.task().reason);
        EXPECT_EQ(w.last.events.back().version, w.task().version);
      }
    }
  }
}

}  // namespace
}  // namespace cox::lifecycle::test
