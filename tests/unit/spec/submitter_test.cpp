#include <gmock/gmock.h>

#include <set>

#include "unit/spec/samples.hpp"

namespace cox::spec {
namespace {

using testing::ElementsAre;

std::vector<std::string> Assignments(const std::vector<EnvVar>& env) {
  std::vector<std::string> lines;
  for (const EnvVar& e : env) lines.push_back(e.name + "=" + e.value);
  return lines;
}

TEST(Submitter, TheFirstProjectIsTheDefault) {
  const auto who = Resolve(SampleSite(), "alice", "");
  ASSERT_TRUE(who);
  EXPECT_EQ(who->tenant, "research");
  EXPECT_EQ(who->org, "lab");
  EXPECT_EQ(who->project, "nlp");
  EXPECT_FALSE(who->admin);
}

TEST(Submitter, AnotherOwnProjectMayBeChosen) {
  EXPECT_EQ(Resolve(SampleSite(), "alice", "speech")->project, "speech");
}

TEST(Submitter, AStrangeProjectIsForbidden) {
  const auto who = Resolve(SampleSite(), "vera", "nlp");
  ASSERT_FALSE(who);
  EXPECT_EQ(who.error(), Forbidden("user \"vera\" has no project \"nlp\"; has: vision (S2)"));
}

TEST(Submitter, WhoHasNoProjectWorksForTheTenantsOwn) {
  const auto who = Resolve(SampleSite(), "vera", "");
  EXPECT_EQ(who->project, "vision");
  EXPECT_EQ(who->org, "other");
}

TEST(Submitter, AnAdministratorIsKnownAsOne) {
  EXPECT_TRUE(Resolve(SampleSite(), "root", "")->admin);
}

TEST(Submitter, AStrangerIsForbidden) {
  const auto who = Resolve(SampleSite(), "mallory", "");
  ASSERT_FALSE(who);
  EXPECT_EQ(who.error(), Forbidden("user \"mallory\" is not among the users of this site; ask its "
                                   "administrator"));
}

TEST(Submitter, AStrangerOfAnOpenSiteIsOfTheDefaultTenant) {
  const Site site = SampleSite("defaults: {tenant: guests}\n");
  const auto who = Resolve(site, "mallory", "");
  EXPECT_EQ(who->tenant, "guests");
  EXPECT_EQ(who->project, "guests");
  EXPECT_EQ(who->org, "lab");
  EXPECT_FALSE(who->admin);
  EXPECT_FALSE(Resolve(site, "mallory", "nlp"));
}

TEST(Rules, S15_PersistentVariablesAreMergedInFrontOfTheJobsNewOnes) {
  TrainingJob job;
  job.env = {{"NEW", "1", false}};
  EXPECT_THAT(Assignments(MergeEnv(SampleSite(), "alice", job)),
              ElementsAre("HF_HOME=/volume/a/hf", "LR=1e-3", "NEW=1"));
}

TEST(Rules, S16_TheJobsOwnVariableWins) {
  TrainingJob job;
  job.env = {{"NEW", "1", false}, {"LR", "1e-4", true}};
  const auto merged = MergeEnv(SampleSite(), "alice", job);
  EXPECT_THAT(Assignments(merged), ElementsAre("HF_HOME=/volume/a/hf", "LR=1e-4", "NEW=1"));
  EXPECT_TRUE(merged[1].hidden);
}

TEST(Rules, S15_AUserWithoutAProfileHasOnlyTheJobsVariables) {
  TrainingJob job;
  job.env = {{"NEW", "1", false}};
  EXPECT_THAT(Assignments(MergeEnv(SampleSite(), "vera", job)), ElementsAre("NEW=1"));
}

TEST(Rules, S3_TheSuffixIsEightCharactersOfBase32) {
  EXPECT_EQ(NameFor("a-", 0), "a-aaaaaaaa");
  EXPECT_EQ(NameFor("a-", (uint64_t{1} << 40) - 1), "a-77777777");
  EXPECT_EQ(NameFor("a-", 1), "a-baaaaaaa");
}

TEST(Rules, S3_EachBitChangesTheName) {
  std::set<std::string> names = {NameFor("a", 0)};
  for (int bit = 0; bit < 40; ++bit) names.insert(NameFor("a", uint64_t{1} << bit));
  EXPECT_EQ(names.size(), 41u);
}

}  // namespace
}  // namespace cox::spec
