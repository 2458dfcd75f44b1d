// Backfill against brute force: whatever a cycle starts, the first job in line can start no later
// than it could have without (D1, D2), and nobody is held back who would not have been in its way.
#include <gtest/gtest.h>

#include "property/random_world.hpp"

namespace cox::test {
namespace {

constexpr uint64_t kBackfillWorlds = 25'000;

// Some jobs say how long they run, in a few round numbers so that ends meet.
void GiveLimits(World& w, Dice& dice) {
  for (RunningJob& job : w.snapshot.running) {
    job.guaranteed = job.guaranteed || dice.One(2);
    if (!dice.One(4)) job.ends_by = w.snapshot.now + std::chrono::seconds(10 * (1 + dice.Below(6)));
  }
  for (PendingJob& job : w.snapshot.pending) {
    if (!dice.One(3)) job.time_limit_seconds = 10 * (1 + dice.Below(6));
  }
}

// When the room is there for one of the job's candidates: the earliest of the known ends at which
// it fits, if those who may be sent away count as gone at once.
TimePoint FirstFit(const model::Snapshot& s, const PendingJob& job,
                   const std::vector<RunningJob>& started) {
  std::vector<RunningJob> all = s.running;
  all.insert(all.end(), started.begin(), started.end());
  std::set<TimePoint> times = {s.now};
  for (const RunningJob& run : all) times.insert(run.ends_by);
  times.erase(kNever);
  for (const TimePoint t : times) {
    for (const Candidate& c : job.candidates) {
      if (!QuotaAllows(s.ledger, job.owner, c)) continue;
      const bool preempts =
          c.source == CapacityType::kReserved || c.source == CapacityType::kOnDemand;
      Room room = FreeNow(s);
      for (const RunningJob& run : started) Give(room, run.placement, -1);
      for (const RunningJob& run : all) {
        if (run.ends_by <= t || (preempts && LawfulByRule(run, job))) Give(room, run.placement, 1);
      }
      if (FitsByForce(s, job, c, room)) return t;
    }
  }
  return kNever;
}

// What of the decision runs from now on: with its end, and nobody may be sent away again.
std::vector<RunningJob> AfterStarts(const model::Snapshot& s, const Decision& d) {
  std::vector<RunningJob> started;
  for (const model::Start& start : d.starts) {
    const PendingJob& job = *std::ranges::find(s.pending, start.task, &PendingJob::id);
    RunningJob& run = started.emplace_back(Started(job, start.placement, s.now));
    run.guaranteed = true;
    run.capacity = CapacityType::kReserved;
    if (job.time_limit_seconds) {
      run.ends_by = s.now + std::chrono::seconds(*job.time_limit_seconds);
    }
  }
  return started;
}

TEST(Property, BackfillNeverDelaysTheFirstInLine) {
  auto plugins = BuiltIns({"quota_tree", "node_policy"});
  int64_t heads = 0, beside = 0, held_back = 0;
  for (uint64_t seed = 0; seed < Cases(kBackfillWorlds); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Dice dice(seed);
    int serial = 0;
    World w = RandomWorld(dice, serial);
    Advance(w, dice, w.Decide(plugins), serial);
    for (RunningJob& job : w.snapshot.running) job.leaving = false;
    w.snapshot.nominations.clear();
    while (w.snapshot.pending.size() < 6) AddPending(w, dice, serial);
    GiveLimits(w, dice);
    const model::Snapshot s = w.Freeze();
    const Decision d = cycle::Decide(s, plugins);
    for (const auto& e : d.waiting) {
      for (const auto& b : e.blockers) held_back += b.code == "WouldDelayOther" ? 1 : 0;
    }
    if (!d.nominations.empty()) continue;  // its nodes are kept: another matter

    // In line: those that are looked at before stay as they are decided.
    std::vector<const PendingJob*> line;
    for (const PendingJob& job : s.pending) line.push_back(&job);
    std::ranges::sort(line, {}, [](const PendingJob* job) {
      const int64_t level =
          job->capacity == CapacityType::kIdle ? -1 : static_cast<int64_t>(job->priority);
      return std::tuple(-level, job->submitted_at, job->id);
    });
    model::Snapshot before = s;  // with what started before the job in question
    std::vector<RunningJob> ahead;
    for (const PendingJob* job : line) {
      const auto start = std::ranges::find(d.starts, job->id, &model::Start::task);
      if (start != d.starts.end()) {
        Decision one;
        one.starts = {*start};
        ahead.push_back(AfterStarts(s, one)[0]);
        before.ledger.Allocate(job->id, model::Charges(job->owner, start->placement.candidate));
        continue;
      }
      const auto why = std::ranges::find(d.waiting, job->id, &model::Explanation::task);
      const bool first = std::ranges::any_of(why->blockers, [](const auto& b) {
        return b.text.find("; first in line: ") != std::string::npos;
      });
      if (!first) continue;
      const TimePoint promised = FirstFit(before, *job, ahead);
      model::Snapshot after = before;
      const TimePoint kept = FirstFit(after, *job, AfterStarts(s, d));
      EXPECT_NE(promised, kNever);
      EXPECT_LE(kept, promised) << job->name;
      ++heads;
      if (d.starts.size() > ahead.size()) ++beside;
      break;
    }
  }
  EXPECT_GT(heads, 300);
  EXPECT_GT(beside, 40);
  EXPECT_GT(held_back, 40);
}

}  // namespace
}  // namespace cox::test
