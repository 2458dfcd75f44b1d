#include <gtest/gtest.h>

#include <cox/conformance.hpp>
#include <cox/harness.hpp>

using cox::harness::Cluster;
using cox::harness::Job;
using cox::harness::Node;
using cox::harness::Plugin;

namespace {

// n1 is nearly full, n4 nearly empty.
Cluster Four() {
  return Cluster()
      .Add(Node("n1").Gpus(8, 2))
      .Add(Node("n2").Gpus(8, 4))
      .Add(Node("n3").Gpus(8, 5))
      .Add(Node("n4").Gpus(8, 7))
      .Add(Job(1));
}

TEST(PreferNodes, ByItselfSpreadsJobsOut) {
  auto cluster = Four();
  Plugin plugin(COX_PLUGIN_UNDER_TEST);
  EXPECT_EQ(plugin.Best(cluster, Cluster::Shape(0, 1)), "n4");
}

TEST(PreferNodes, ANamedNodeGoesBeforeAnEmptierOne) {
  auto cluster = Four();
  Plugin plugin(COX_PLUGIN_UNDER_TEST, R"({"prefer": ["n2"]})");
  EXPECT_EQ(plugin.Best(cluster, Cluster::Shape(0, 1)), "n2");
}

TEST(PreferNodes, OfSeveralNamedNodesTheEmptierOne) {
  auto cluster = Four();
  Plugin plugin(COX_PLUGIN_UNDER_TEST, R"({"prefer": ["n1", "n3"]})");
  EXPECT_EQ(plugin.Best(cluster, Cluster::Shape(0, 1)), "n3");
}

TEST(PreferNodes, ANodeThatJustCameBackRests) {
  auto cluster =
      Cluster().Add(Node("fresh").ReadyFor(599)).Add(Node("rested").ReadyFor(600)).Add(Job(1));
  Plugin plugin(COX_PLUGIN_UNDER_TEST, R"({"prefer": ["fresh"], "cooldown_s": 600})");
  auto verdicts = plugin.Filter(cluster);
  EXPECT_EQ(verdicts["fresh"], "the node came back too recently");
  EXPECT_EQ(verdicts["rested"], "");
  EXPECT_EQ(plugin.Best(cluster), "rested");
}

TEST(PreferNodes, Conforms) {
  EXPECT_EQ(cox::conformance::Failures(COX_PLUGIN_UNDER_TEST, R"({"cooldown_s": 600})"), "");
}

}  // namespace
