#include <gtest/gtest.h>

#include <cox/conformance.hpp>
#include <cox/harness.hpp>

namespace {

using namespace cox::harness;

TEST(PriorityMultifactor, LevelFirstThenSubmission) {  // S56
  auto cluster = Cluster()
                     .Now(100'000)
                     .Add(Job(1).Priority(COX_LOW).SubmittedAt(0))
                     .Add(Job(2).Priority(COX_HIGH).SubmittedAt(99'999))
                     .Add(Job(3).Priority(COX_MEDIUM).SubmittedAt(50'000))
                     .Add(Job(4).Priority(COX_MEDIUM).SubmittedAt(10'000));
  Plugin plugin(COX_PLUGIN_UNDER_TEST);
  const auto rank = plugin.Rank(cluster);
  EXPECT_GT(rank[1], rank[3]);
  EXPECT_GT(rank[3], rank[2]);
  EXPECT_GT(rank[2], rank[0]);
}

TEST(PriorityMultifactor, AConfiguredSiteLetsAgeOvertakeALevel) {
  auto cluster = Cluster()
                     .Now(24 * 3600)
                     .Add(Job(1).Priority(COX_LOW).SubmittedAt(0))
                     .Add(Job(2).Priority(COX_MEDIUM).SubmittedAt(24 * 3600));
  Plugin plugin(COX_PLUGIN_UNDER_TEST, R"({"points_per_level": 100, "points_per_hour": 10})");
  const auto rank = plugin.Rank(cluster);
  EXPECT_EQ(rank[0], 240);
  EXPECT_EQ(rank[1], 100);
}

TEST(PriorityMultifactor, NoJobsNoRanks) {
  Cluster cluster;
  Plugin plugin(COX_PLUGIN_UNDER_TEST);
  EXPECT_TRUE(plugin.Rank(cluster).empty());
}

TEST(PriorityMultifactor, Conforms) {
  EXPECT_EQ(cox::conformance::Failures(COX_PLUGIN_UNDER_TEST), "");
}

}  // namespace
