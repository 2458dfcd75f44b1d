#include "simulate/queue.hpp"

#include <random>

#include "simulate/engine.hpp"
#include "simulate/plan.hpp"
#include "unit/simulate/fixture.hpp"

namespace cox::simulate::test {
namespace {

using testing::ElementsAre;

model::PendingJob Waiting(uint64_t id, const std::string& user = "ann") {
  model::PendingJob job;
  job.id = TaskId{id};
  job.owner.user = user;
  return job;
}

std::vector<uint64_t> Ids(const std::vector<model::PendingJob>& rows) {
  std::vector<uint64_t> ids;
  for (const model::PendingJob& row : rows) ids.push_back(row.id.value);
  return ids;
}

TEST(Queue, OfEqualJobsTheFirstFewAreShown) {
  std::vector<model::PendingJob> shown;
  Queue queue(shown, 2);
  for (uint64_t id = 1; id <= 4; ++id) queue.Put(Waiting(id));
  queue.Put(Waiting(5, "bob"));
  EXPECT_THAT(Ids(shown), ElementsAre(1, 2, 5));
  EXPECT_EQ(queue.size(), 5U);
  queue.Drop(TaskId{1});
  EXPECT_THAT(Ids(shown), ElementsAre(2, 3, 5));
  queue.Drop(TaskId{1});
  EXPECT_EQ(queue.size(), 4U);
}

TEST(Queue, AllAreShownWhenAllMayDiffer) {
  std::vector<model::PendingJob> shown;
  Queue queue(shown, 0);
  for (uint64_t id = 1; id <= 9; ++id) queue.Put(Waiting(id));
  EXPECT_EQ(shown.size(), 9U);
}

TEST(Queue, WhatDiffersInAnyWishIsShown) {
  std::vector<model::PendingJob> shown;
  Queue queue(shown, 1);
  model::PendingJob job = Waiting(1);
  queue.Put(job);
  const auto differs = [&](auto change) {
    job = Waiting(job.id.value + 1);
    change(job);
    queue.Put(job);
    EXPECT_EQ(Ids(shown).back(), job.id.value);
  };
  differs([](auto& j) { j.owner.project = "p"; });
  differs([](auto& j) { j.owner.tenant = "t"; });
  differs([](auto& j) { j.capacity = spec::CapacityType::kSpot; });
  differs([](auto& j) { j.priority = spec::Priority::kHigh; });
  differs([](auto& j) { j.guaranteed = true; });
  differs([](auto& j) { j.time_limit_seconds = 60; });
  differs([](auto& j) { j.attempt = 1; });
  differs([](auto& j) { j.attempt = 1; });
  differs([](auto& j) { j.candidates.emplace_back().pool = "p"; });
  differs([](auto& j) { j.candidates.emplace_back().roles.emplace_back().units = 2; });
  differs([](auto& j) { j.candidates.emplace_back().roles.emplace_back().replicas = 2; });
}

TEST(Queue, MoreAreShownWhenAllThatWereShownAreServed) {
  std::vector<model::PendingJob> shown;
  Queue queue(shown, 2);
  for (uint64_t id = 1; id <= 5; ++id) queue.Put(Waiting(id));
  model::Decision made;
  made.starts.push_back({TaskId{1}, 0, {}});
  EXPECT_FALSE(queue.More(made)) << "2 was looked at and does not start";
  made.nominations.push_back({TaskId{2}, {}, kNever});
  EXPECT_TRUE(queue.More(made)) << "2 will start once its victims are gone";
  EXPECT_THAT(Ids(shown), ElementsAre(1, 2, 3, 4));
  EXPECT_FALSE(queue.More(made));
  queue.Drop(TaskId{1});
  EXPECT_THAT(Ids(shown), ElementsAre(2, 3, 4)) << "few are enough again";
  made = {};
  for (uint64_t id = 2; id <= 4; ++id) made.starts.push_back({TaskId{id}, 0, {}});
  EXPECT_TRUE(queue.More(made));
  made.starts.push_back({TaskId{5}, 0, {}});
  EXPECT_FALSE(queue.More(made)) << "there are no more";
}

// The whole point: nothing that is decided differs from showing all.
TEST(Queue, DecisionsAreTheSameAsWithAllJobsShown) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    std::mt19937_64 dice(seed);
    const auto roll = [&](int64_t n) {
      return static_cast<int64_t>(dice() % static_cast<uint64_t>(n));
    };
    std::vector<TraceJob> jobs;
    int64_t at = 0;
    for (int i = 0; i < 100; ++i) {
      TraceJob job = Job(std::to_string(i), at, int64_t{1} << roll(5), 10 + roll(60));
      if (seed % 2 == 0) job.wall = 50 + 50 * roll(2);
      if (seed % 3 == 0) job.priority = static_cast<spec::Priority>(roll(3));
      if (seed % 5 == 0 && roll(3) == 0) job.capacity = spec::CapacityType::kSpot;
      job.tenant = roll(4) == 0 ? "b" : "a";
      at += roll(4) == 0 ? roll(30) : 0;
      jobs.push_back(std::move(job));
    }
    const Workload workload = Cluster(2 + roll(3), jobs);
    const std::string site =
        "region: r\ncluster: c\npools: [{name: main}]\n"
        "scheduling: {starvationBoundSeconds: " +
        std::to_string(seed % 4 * 40) +
        "}\n"
        "plugins:\n"
        "  - {path: quota_tree.so, config: {missing_quota: {reserved: allow}}}\n"
        "  - {path: priority_multifactor.so}\n"
        "  - {path: fault_tolerance.so}\n";
    std::string all;
    for (const size_t shown : {0, 16}) {
      Plan plan = Good(MakePlan(workload, "it", site, Defaults().host));
      EngineOptions options;
      options.shown_of_equal = shown;
      const std::string runs = Runs(Good(Play(workload, plan, options)));
      if (shown == 0) all = runs;
      ASSERT_EQ(runs, all) << "seed " << seed << ", shown " << shown;
    }
  }
}

}  // namespace
}  // namespace cox::simulate::test
