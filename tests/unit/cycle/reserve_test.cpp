// Backfill and the bound on starvation (scenarios D1, D2, D3): when each job starts.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/world.hpp"

namespace cox::test {
namespace {

using testing::HasSubstr;
using testing::Not;

// A cluster in time: a cycle at each submission and each end.
class Story {
 public:
  explicit Story(int nodes) {
    for (int n = 1; n <= nodes; ++n) world.Node("n" + std::to_string(n), 8);
  }

  struct Job {
    std::string name;
    int64_t submit;
    Gang gang;
    int64_t run;
    int64_t wall = 0;  // 0 = as it runs; -1 = nobody knows
  };
  void Add(const Job& job) {
    PendingJob pending = world.Pending(job.name, job.gang);
    world.snapshot.pending.pop_back();
    pending.submitted_at = At(job.submit);
    const int64_t wall = job.wall == 0 ? job.run : job.wall;
    if (wall > 0) pending.time_limit_seconds = wall;
    future_.emplace_back(job.submit, pending);
    run_[pending.id.value] = job.run;
  }

  // Decides at each event up to and at `until`.
  void Play(int64_t until) {
    for (; now <= until; ++now) {
      auto& s = world.snapshot;
      const size_t gone = std::erase_if(
          s.running, [&](const RunningJob& job) { return ends_.at(job.id.value) == now; });
      bool event = gone > 0;
      for (const auto& [submit, job] : future_) {
        if (submit != now) continue;
        s.pending.push_back(job);
        event = true;
      }
      if (event) Cycle();
    }
  }

  void Cycle() {
    auto& s = world.snapshot;
    s.now = At(now);
    decision = world.Decide(plugins_);
    EXPECT_TRUE(decision.evictions.empty());
    for (const auto& start : decision.starts) {
      const auto job = std::ranges::find(s.pending, start.task, &PendingJob::id);
      RunningJob run;
      run.id = job->id;
      run.name = job->name;
      run.owner = job->owner;
      run.started_at = At(now);
      run.guaranteed = true;
      if (job->time_limit_seconds) run.ends_by = At(now + *job->time_limit_seconds);
      run.placement = start.placement;
      s.running.push_back(run);
      ends_[job->id.value] = now + run_.at(job->id.value);
      starts[job->name] = now;
      s.pending.erase(job);
    }
  }

  std::string Text(const std::string& name) const {
    const auto job = std::ranges::find(world.snapshot.pending, name, &PendingJob::name);
    return job == world.snapshot.pending.end() ? "" : Texts(decision, job->id);
  }

  World world;
  int64_t now = 0;
  Decision decision;
  std::map<std::string, int64_t> starts;

 private:
  host::Plugins plugins_ = BuiltIns();
  std::vector<std::pair<int64_t, PendingJob>> future_;
  std::map<uint64_t, int64_t> run_, ends_;
};
using StartTimes = std::map<std::string, int64_t>;

TEST(Reserve, D1_ALongJobRunsBesideTheHeadOnTheNodeThatIsLeftOver) {
  Story t(5);
  t.Add({"A", 0, {.replicas = 4, .gpus = 8}, 100});
  t.Add({"B", 0, {.replicas = 4, .gpus = 8}, 100});
  t.Add({"C", 1, {.gpus = 8}, 50});
  t.Add({"D", 2, {.gpus = 8}, 200});
  t.Play(300);
  EXPECT_EQ(t.starts, (StartTimes{{"A", 0}, {"B", 100}, {"C", 1}, {"D", 51}}));
}

void AddD2(Story& t, int64_t first_runs) {
  t.Add({"R1", 0, {.replicas = 2, .gpus = 8}, first_runs, 100});
  t.Add({"R2", 0, {.gpus = 8}, 40});
  t.Add({"Q1", 1, {.replicas = 4, .gpus = 8}, 60});
  t.Add({"C1", 2, {.gpus = 8}, 99});
  t.Add({"C2", 3, {.gpus = 8}, 90});
  t.Add({"C3", 4, {.gpus = 8}, 55});
}

TEST(Reserve, D2_BackfillDoesNotDelayTheHeadByASecond) {
  Story t(4);
  AddD2(t, 100);
  t.Play(2);
  EXPECT_THAT(t.Text("Q1"), HasSubstr("first in line: n1, n2, n3 and 1 more kept for it from "
                                      "1970-01-01T00:01:40Z"));
  EXPECT_THAT(t.Text("C1"), HasSubstr("there is room now, but n1, n2, n3 and 1 more kept for a "
                                      "job that waits in front and starts by 1970-01-01T00:01:40Z; "
                                      "a time limit that ends before"));
  t.Play(300);
  EXPECT_EQ(t.starts,
            (StartTimes{{"R1", 0}, {"R2", 0}, {"Q1", 100}, {"C1", 160}, {"C2", 3}, {"C3", 40}}));
}

TEST(Reserve, D2_AnEarlyEndMovesTheHeadUp) {
  Story t(4);
  AddD2(t, 50);
  t.Play(300);
  EXPECT_EQ(t.starts,
            (StartTimes{{"R1", 0}, {"R2", 0}, {"Q1", 95}, {"C1", 155}, {"C2", 3}, {"C3", 40}}));
}

void AddD3(Story& t) {
  t.world.site.starvation_bound_seconds = 60;
  t.Add({"s0", 0, {}, 10, -1});
  t.Add({"L", 0, {.replicas = 4, .gpus = 8}, 20, -1});
  for (int64_t k = 1; k <= 80; ++k) t.Add({"s" + std::to_string(k), k, {}, 10, -1});
}

TEST(Reserve, D3_AJobWithoutADateIsProtectedAfterTheBound) {
  Story t(4);
  AddD3(t);
  t.Play(59);
  EXPECT_THAT(t.Text("L"), Not(HasSubstr("protected")));
  t.Play(61);
  EXPECT_THAT(t.Text("L"), HasSubstr("protected since 1970-01-01T00:01:00Z: n1, n2, n3 and 1 more "
                                     "kept for it; waiting for 8 jobs: s52, s53, s54 and 5 more"));
  EXPECT_THAT(t.Text("s60"), HasSubstr("until all who run there have ended"));
  t.Play(100);
  for (int64_t k = 0; k <= 80; ++k) {
    EXPECT_EQ(t.starts["s" + std::to_string(k)], k < 60 ? k : 89) << k;
  }
  EXPECT_EQ(t.starts["L"], 69);
}

TEST(Reserve, D3_WithoutABoundAStreamOfSmallJobsGoesFirst) {
  Story t(4);
  AddD3(t);
  t.world.site.starvation_bound_seconds = 0;
  t.Play(80);
  EXPECT_FALSE(t.starts.contains("L"));
}

TEST(Reserve, AProtectedJobFreezesOnlyItsOwnNodes) {
  Story t(3);
  t.world.site.starvation_bound_seconds = 60;
  t.Add({"r1", 0, {.gpus = 5}, 200, -1});
  t.Add({"r2", 0, {.gpus = 5}, 300, -1});
  t.Add({"r3", 0, {.gpus = 4}, 400, -1});
  t.Add({"L", 1, {.gpus = 8}, 10, -1});
  t.Add({"late", 61, {.gpus = 3}, 100, -1});
  t.Add({"later", 62, {.gpus = 4}, 500, -1});
  t.Play(62);
  EXPECT_EQ(t.starts["late"], 61) << "two nodes are not L's";
  EXPECT_THAT(t.Text("later"), HasSubstr("n3 kept for a job that waits in front"));
  t.Play(200);
  EXPECT_EQ(t.starts["L"], 200) << "n1 is empty before n3";
  EXPECT_EQ(t.starts["later"], 200);
}

TEST(Reserve, AnotherPoolHasAHeadOfItsOwn) {
  Story t(1);
  t.world.Node("m1", 8).pools = {"q"};
  t.world.site.pools.push_back(t.world.site.pools[0]);
  t.world.site.pools[1].name = "q";
  for (const char* pool : {"p", "q"}) {
    const std::string p(pool);
    t.Add({"r" + p, 0, {.gpus = 4, .pool = p}, 50});
    t.Add({"head" + p, 1, {.gpus = 8, .pool = p}, 10});
    t.Add({"long" + p, 2, {.gpus = 4, .pool = p}, 50});
    t.Add({"short" + p, 3, {.gpus = 4, .pool = p}, 47});
  }
  t.Play(100);
  for (const char* pool : {"p", "q"}) {
    EXPECT_EQ(t.starts[std::string("short") + pool], 3);
    EXPECT_EQ(t.starts[std::string("head") + pool], 50);
    EXPECT_EQ(t.starts[std::string("long") + pool], 60);
  }
}

TEST(Reserve, AJobThatOutlivesItsWallTimeGivesNoDate) {
  Story t(1);
  t.Add({"r", 0, {.gpus = 4}, 1000, 50});
  t.Add({"head", 1, {.gpus = 8}, 10});
  t.Add({"small", 112, {.gpus = 4}, 900});
  t.Play(120);
  EXPECT_EQ(t.starts["small"], 112);
}

TEST(Reserve, APreemptorMayNotTakeTheNodesOfTheHead) {
  World w;  // the head waits for n1's guaranteed job and could evict the one on n2
  w.Node("n1", 8);
  w.Node("n2", 8);
  RunningJob& stays = w.Running("stays", {.gpus = 8}, {"n1"});
  stays.guaranteed = true;
  stays.ends_by = At(1100);
  w.Running("spot", {.gpus = 8, .source = CapacityType::kSpot}, {"n2"}).ends_by = At(1050);
  w.Pending("head", {.replicas = 2, .gpus = 8}, Priority::kHigh);
  w.Pending("thief", {.gpus = 8}, Priority::kHigh);
  auto plugins = BuiltIns();
  EXPECT_EQ(Evicted(w.Decide(plugins), w), "");
  w.snapshot.pending.erase(w.snapshot.pending.begin());
  EXPECT_EQ(Evicted(w.Decide(plugins), w), "spot") << "without a head in front it may";
}

// n1 is kept for another, n2 is forbidden: without either of the two it would start.
TEST(Regress, AReservationIsNamedBesideANodePolicy) {
  auto plugins = BuiltIns();
  World w;
  w.Node("n1", 8);
  w.Node("n2", 4);
  RunningJob& first = w.Running("first", {.gpus = 4}, {"n1"});
  first.guaranteed = true;
  first.ends_by = At(1100);
  w.Pending("large", {.gpus = 8}).owner.user = "u9";
  const TaskId small = w.Pending("small", {.gpus = 4}).id;
  w.Policy("np1", model::PolicyRow::Scope::kUser, "u1", {"n2"}, At(2000));
  const Decision d = w.Decide(plugins);
  EXPECT_TRUE(d.starts.empty());
  EXPECT_THAT(Texts(d, small), HasSubstr("np1"));
  EXPECT_THAT(Codes(d, small), HasSubstr("WouldDelayOther"));
}

}  // namespace
}  // namespace cox::test
