#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cox/conformance.hpp>
#include <cox/harness.hpp>

namespace {

using namespace cox::harness;
using testing::HasSubstr;
using testing::Pair;
using testing::UnorderedElementsAre;

constexpr cox_verdict kNotListed = 1 | COX_FIXED, kBlocked = 2 | COX_FIXED,
                      kExcluded = 3 | COX_FIXED;

Cluster Three() {
  return Cluster()
      .Now(1'000)
      .Add(Node("n1"))
      .Add(Node("n2"))
      .Add(Node("n3"))
      .Add(Job(7).User("alice").Tenant("acme"))
      .Add(Job(8).User("bob").Tenant("acme"));
}

TEST(NodePolicy, EachRefusalHasItsOwnReason) {
  auto cluster = Three()
                     .Add(Policy("np-1").OfUser("alice").In({"n1", "n2"}))
                     .Add(Policy("np-2").OfTenant("acme").NotIn({"n1"}))
                     .Add(Policy("").AfterFailureOf(7).NotIn({"n2"}).Until(2'000));
  Plugin plugin(COX_PLUGIN_UNDER_TEST);
  EXPECT_THAT(plugin.Filter(cluster, 0),
              UnorderedElementsAre(Pair("n1", "blocked by a NodeNotIn policy"),
                                   Pair("n2", "excluded after a failure on it"),
                                   Pair("n3", "not listed by a NodeIn policy")));
}

TEST(NodePolicy, AUsersPolicyDoesNotTouchAnotherUser) {  // S75
  auto cluster = Three().Add(Policy("np-1").OfUser("alice").NotIn({"n1"}));
  Plugin plugin(COX_PLUGIN_UNDER_TEST);
  EXPECT_NE(plugin.Filter(cluster, 0)["n1"], "");
  EXPECT_EQ(plugin.Filter(cluster, 1)["n1"], "");
}

TEST(NodePolicy, ATenantsPolicyHitsAllOfItsUsers) {
  auto cluster = Three().Add(Policy("np-1").OfTenant("acme").NotIn({"n1"}));
  Plugin plugin(COX_PLUGIN_UNDER_TEST);
  EXPECT_NE(plugin.Filter(cluster, 0)["n1"], "");
  EXPECT_NE(plugin.Filter(cluster, 1)["n1"], "");
}

TEST(NodePolicy, AJobsOwnRuleAndExclusionAreItsOwn) {
  auto cluster =
      Three().Add(Policy("").OfJob(7).In({"n3"})).Add(Policy("").AfterFailureOf(8).NotIn({"n1"}));
  Plugin plugin(COX_PLUGIN_UNDER_TEST);
  EXPECT_NE(plugin.Filter(cluster, 0)["n1"], "");
  EXPECT_EQ(plugin.Filter(cluster, 0)["n3"], "");
  EXPECT_NE(plugin.Filter(cluster, 1)["n1"], "");
  EXPECT_EQ(plugin.Filter(cluster, 1)["n2"], "");
}

TEST(NodePolicy, EndsAtItsExpiryUnattended) {  // S78
  auto cluster = Three().Add(Policy("np-1").OfUser("alice").NotIn({"n1"}).Until(1'001));
  Plugin plugin(COX_PLUGIN_UNDER_TEST);
  EXPECT_NE(plugin.Filter(cluster)["n1"], "");
  cluster.Now(1'001);
  EXPECT_EQ(plugin.Filter(cluster)["n1"], "");
}

TEST(NodePolicy, RefusalsAreFixedSinceNoEvictionLiftsThem) {
  auto cluster = Three().Add(Policy("np-1").OfUser("alice").NotIn({"n1"}));
  Plugin plugin(COX_PLUGIN_UNDER_TEST);
  EXPECT_EQ(plugin.FilterVerdicts(cluster, Cluster::Shape(0))[0], kBlocked);
}

TEST(NodePolicy, BlocksAreToldInTheExactWordsWithNodesPoliciesAndExpiry) {  // S80
  auto cluster = Three()
                     .Now(1'700'000'000)
                     .Add(Policy("np-3").OfUser("alice").NotIn({"n1"}).Until(1'700'003'600))
                     .Add(Policy("np-4").OfTenant("acme").NotIn({"n1", "n2"}).Until(1'700'007'200));
  Plugin plugin(COX_PLUGIN_UNDER_TEST);
  const Explained why = plugin.ExplainNodes(cluster, kBlocked, {0, 1});
  EXPECT_EQ(why.text,
            "quota check failed due to node blacklist: n1,n2 (user policy np-3 until "
            "2023-11-14T23:13:20Z; tenant policy np-4 until 2023-11-15T00:13:20Z)");
  EXPECT_EQ(why.code, "NodePolicy");
  EXPECT_EQ(why.policy, "np-3,np-4");
  EXPECT_EQ(why.retry_at_s, 1'700'007'200);
}

TEST(NodePolicy, TheOtherRefusalsAreNotCalledBlacklist) {
  auto cluster = Three()
                     .Add(Policy("np-5").OfUser("alice").In({"n1"}))
                     .Add(Policy("").AfterFailureOf(7).NotIn({"n1"}).Until(4'600));
  Plugin plugin(COX_PLUGIN_UNDER_TEST);
  const Explained listed = plugin.ExplainNodes(cluster, kNotListed, {1, 2});
  EXPECT_EQ(listed.text, "not listed by NodeIn: n2,n3 (user policy np-5)");
  EXPECT_EQ(listed.code, "NodePolicy");
  EXPECT_EQ(listed.retry_at_s, 0) << "no timer lifts it";
  const Explained excluded = plugin.ExplainNodes(cluster, kExcluded, {0});
  EXPECT_EQ(excluded.text,
            "avoided after an earlier failure: n1 (exclusion until 1970-01-01T01:16:40Z)");
  EXPECT_EQ(excluded.code, "ExcludedAfterFailure");
  EXPECT_EQ(excluded.retry_at_s, 4'600);
}

TEST(NodePolicy, ALongListOfNodesIsCounted) {
  auto cluster = Three().Add(Policy("np-1").OfUser("alice").NotIn({"n1", "n2", "n3"}));
  Plugin plugin(COX_PLUGIN_UNDER_TEST, R"({"shown_nodes": 1})");
  EXPECT_THAT(plugin.ExplainNodes(cluster, kBlocked, {0, 1, 2}).text,
              HasSubstr("blacklist: n1 and 2 more ("));
}

TEST(NodePolicy, AHostWithoutPoliciesForbidsNothing) {
  auto cluster = Three();
  Plugin plugin(COX_PLUGIN_UNDER_TEST);
  cox_view view = cluster.view();
  view.policies = nullptr;
  const cox_shape shape = Cluster::Shape(0);
  std::vector<int32_t> verdicts(view.nodes->stride);
  cox_error error{sizeof error, {}};
  const auto* hooks = plugin.Find<cox_node_policy>(COX_EXT_NODE_POLICY);
  EXPECT_EQ(hooks->filter(plugin.self(), &view, &shape, verdicts.data(), &error), COX_OK);
  EXPECT_EQ(verdicts[0], COX_ALLOW);
}

TEST(NodePolicy, Conforms) {
  EXPECT_EQ(cox::conformance::Failures(COX_PLUGIN_UNDER_TEST), "");
}

}  // namespace
