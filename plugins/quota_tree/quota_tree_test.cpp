#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cox/conformance.hpp>
#include <cox/harness.hpp>

namespace {

using namespace cox::harness;
using testing::ElementsAre;

constexpr cox_verdict kWait = 1 | COX_FIXED, kTooLarge = 2 | COX_FIXED, kNoQuota = 3 | COX_FIXED;

Cluster Alice() {
  return Cluster()
      .Add(Job(1).User("alice").Project("nlp").Tenant("acme"))
      .Add(Quota(COX_TENANT, "acme", COX_RESERVED, "team-shared", "h100.1g", 64, 16))
      .Add(Quota(COX_USER, "alice", COX_RESERVED, "team-shared", "h100.1g", 24, 16));
}

TEST(QuotaTree, AdmitsWhatFitsAndRefusesWhatDoesNot) {
  Cluster cluster = Alice()
                        .Add(Ask(0, COX_RESERVED, "team-shared", "h100.1g", 8))
                        .Add(Ask(0, COX_RESERVED, "team-shared", "h100.1g", 9))
                        .Add(Ask(0, COX_RESERVED, "team-shared", "h100.1g", 25))
                        .Add(Ask(0, COX_RESERVED, "team-shared", "h200.1g", 1));
  Plugin plugin(COX_PLUGIN_UNDER_TEST);
  EXPECT_THAT(plugin.Admit(cluster), ElementsAre(COX_ALLOW, kWait, kTooLarge, kNoQuota));
}

TEST(QuotaTree, SaysWhoseQuotaBlocksAndHowMuchMustBeReleased) {
  Cluster cluster = Alice().Add(Ask(0, COX_RESERVED, "team-shared", "h100.1g", 16));
  Plugin plugin(COX_PLUGIN_UNDER_TEST);
  const Explained why = plugin.ExplainQuota(cluster, 0, kWait);
  EXPECT_EQ(why.code, "InsufficientQuota");
  EXPECT_EQ(why.text,
            "user alice: reserved team-shared/h100.1g: needs 16 units, 8 of 24 left (16 used); "
            "waits until 8 more are released");
  EXPECT_EQ(why.row, 1U);
  EXPECT_EQ(why.retry_at_s, 0);
}

TEST(QuotaTree, NamesEveryLevelThatBlocks) {  // D8
  Cluster cluster =
      Cluster()
          .Add(Job(1).User("alice").Project("nlp").Tenant("acme"))
          .Add(Quota(COX_TENANT, "acme", COX_RESERVED, "team-shared", "h100.1g", 8, 8))
          .Add(Quota(COX_PROJECT, "nlp", COX_RESERVED, "team-shared", "h100.1g", 16, 16))
          .Add(Quota(COX_USER, "alice", COX_RESERVED, "team-shared", "h100.1g", 64, 8))
          .Add(Ask(0, COX_RESERVED, "team-shared", "h100.1g", 4))
          .Add(Ask(0, COX_RESERVED, "team-shared", "h100.1g", 9));
  Plugin plugin(COX_PLUGIN_UNDER_TEST);
  EXPECT_EQ(plugin.ExplainQuota(cluster, 0, kWait).text,
            "tenant acme: reserved team-shared/h100.1g: needs 4 units, 0 of 8 left (8 used); waits "
            "until 4 more are released; and project nlp: 0 of 16 left (16 used); waits until 4 "
            "more are released");
  const Explained never = plugin.ExplainQuota(cluster, 1, kTooLarge);
  EXPECT_EQ(never.code, "DemandExceedsQuota");
  EXPECT_THAT(never.text, testing::HasSubstr("the whole quota is 8; ask for less, or for more "
                                             "quota; and project nlp: 0 of 16 left"));
}

TEST(QuotaTree, NamesTheTenantWhenItsQuotaIsTheOneInUse) {
  Cluster cluster = Cluster()
                        .Add(Job(1).User("alice").Tenant("acme"))
                        .Add(Quota(COX_TENANT, "acme", COX_ON_DEMAND, "", "h100.1g", 20, 20))
                        .Add(Quota(COX_USER, "alice", COX_ON_DEMAND, "", "h100.1g", 24, 0))
                        .Add(Ask(0, COX_ON_DEMAND, "", "h100.1g", 4));
  Plugin plugin(COX_PLUGIN_UNDER_TEST);
  EXPECT_EQ(plugin.ExplainQuota(cluster, 0, kWait).text,
            "tenant acme: on-demand h100.1g: needs 4 units, 0 of 20 left (20 used); waits until 4 "
            "more are released");
}

TEST(QuotaTree, ADemandAboveTheWholeQuotaIsToldSo) {  // D2
  Cluster cluster = Alice().Add(Ask(0, COX_RESERVED, "team-shared", "h100.1g", 32));
  Plugin plugin(COX_PLUGIN_UNDER_TEST);
  const Explained why = plugin.ExplainQuota(cluster, 0, kTooLarge);
  EXPECT_EQ(why.code, "DemandExceedsQuota");
  EXPECT_EQ(why.text,
            "user alice: reserved team-shared/h100.1g: needs 32 units, the whole quota is 24; ask "
            "for less, or for more quota");
}

TEST(QuotaTree, WithoutAnyQuotaTheCapacityTypeDecides) {
  Cluster cluster = Cluster()
                        .Add(Job(1))
                        .Add(Ask(0, COX_RESERVED, "p", "f", 1))
                        .Add(Ask(0, COX_ON_DEMAND, "", "f", 1))
                        .Add(Ask(0, COX_SPOT, "", "f", 1))
                        .Add(Ask(0, COX_IDLE, "p", "f", 1));
  Plugin defaults(COX_PLUGIN_UNDER_TEST);
  EXPECT_THAT(defaults.Admit(cluster), ElementsAre(kNoQuota, kNoQuota, COX_ALLOW, COX_ALLOW));
  EXPECT_EQ(defaults.ExplainQuota(cluster, 0, kNoQuota).code, "NoQuota");
  Plugin other(COX_PLUGIN_UNDER_TEST,
               R"({"missing_quota": {"reserved": "allow", "spot": "deny"}})");
  EXPECT_THAT(other.Admit(cluster), ElementsAre(COX_ALLOW, kNoQuota, kNoQuota, COX_ALLOW));
}

TEST(QuotaTree, IdleIsFreeEvenOfAQuotaRow) {  // S30
  Cluster cluster = Cluster()
                        .Add(Job(1))
                        .Add(Quota(COX_TENANT, "tenant", COX_IDLE, "", "f", 0, 0))
                        .Add(Ask(0, COX_IDLE, "", "f", 100));
  Plugin plugin(COX_PLUGIN_UNDER_TEST);
  EXPECT_THAT(plugin.Admit(cluster), ElementsAre(COX_ALLOW));
}

TEST(QuotaTree, EveryCodeHasAText) {
  Plugin plugin(COX_PLUGIN_UNDER_TEST);
  EXPECT_EQ(plugin.Reason(kWait), "quota is in use");
  EXPECT_EQ(plugin.Reason(kTooLarge), "demand exceeds the whole quota");
  EXPECT_EQ(plugin.Reason(kNoQuota), "no quota was granted");
}

TEST(QuotaTree, Conforms) {
  EXPECT_EQ(cox::conformance::Failures(COX_PLUGIN_UNDER_TEST), "");
}

}  // namespace
