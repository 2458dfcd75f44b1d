// The rules that a table of accepted and rejected jobs cannot show: warnings, site-wide policies,
// objects, and jobs that were not made by the parser.
#include "spec/validate.hpp"

#include <gmock/gmock.h>

#include <chrono>

#include "unit/spec/samples.hpp"

namespace cox::spec {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::IsEmpty;

const TimePoint kNow = FromSeconds(1'800'000'000);

Changes VolumeAt(const std::string& path) {
  return {{"/spec/volumeMounts", {{{"volume", "vol-a"}, {"mountPath", path}}}}};
}

Lines LabelErrors(const nlohmann::json& labels, bool enabled) {
  const Site site = SampleSite("labelPolicy: {enabled: " + std::string(enabled ? "true" : "false") +
                               ", keys: {team: [nlp, vision], stage: []}}\n");
  return Errors({{"/metadata/labels", labels}}, "alice", site);
}

NodePolicy Policy() {
  NodePolicy policy;
  policy.subject = "alice";
  policy.node_names = {"n1"};
  policy.expires_at = kNow + hours(1);
  return policy;
}

Submitter Alice() {
  return {.user = "alice", .tenant = "research", .org = "lab", .project = "nlp", .admin = false};
}

Lines Objections(const NodePolicy& policy, const Submitter& who = Alice()) {
  return Texts(Validate(policy, who, kNow, {}).errors);
}

NodePolicy Expiring(Duration after) {
  NodePolicy policy = Policy();
  policy.expires_at = kNow + after;
  return policy;
}

TEST(Rules, S6_AZoneIsOneThatTheSiteKnowsWhereItKnowsAny) {
  Site site = SampleSite();
  const auto errors = [&](const char* zone) {
    return Errors({{"/spec/timeZone", zone}}, "alice", site);
  };
  EXPECT_THAT(errors("Asia/Shangai"), IsEmpty());
  site.time_zones = {"Asia/Shanghai", "UTC"};
  EXPECT_THAT(errors("Asia/Shanghai"), IsEmpty());
  EXPECT_THAT(errors("Asia/Shangai"),
              ElementsAre("spec.timeZone: \"Asia/Shangai\" is not a time zone that this cluster "
                          "knows; did you mean Asia/Shanghai? (S6)"));
}

TEST(Rules, S21_AMountOnUsrIsWarnedOf) {
  EXPECT_THAT(Warnings(VolumeAt("/usr/")),
              ElementsAre("spec.volumeMounts[0].mountPath: MountPathShadowsImage: \"/usr\" hides a "
                          "part of the image; better use a directory of its own below /volume or "
                          "/mnt (S21)"));
}

TEST(Rules, S21_AMountInsideOfOptIsWarnedOf) {
  EXPECT_EQ(Warnings(VolumeAt("/opt/conda")).size(), 1u);
}

TEST(Rules, S21_ANameThatOnlyBeginsAlikeIsNot) {
  EXPECT_THAT(Warnings(VolumeAt("/optional")), IsEmpty());
}

TEST(Rules, D3_AGuaranteeOnSpotIsWarnedOf) {
  EXPECT_THAT(Warnings({{"/spec/scheduling/capacityType", "spot"},
                        {"/spec/scheduling/queue", ""},
                        {"/spec/scheduling/preemptible", false}}),
              ElementsAre("spec.scheduling.preemptible: false protects a spot job from jobs of "
                          "higher priority only, not from being reclaimed (D3)"));
}

TEST(Rules, S72_AnUnknownNodeIsOnlyWarnedOf) {
  EXPECT_THAT(
      Warnings({{"/spec/scheduling/nodePolicy", {{"nodeNames", {"n9"}}, {"ttlSeconds", 60}}}}),
      ElementsAre("spec.scheduling.nodePolicy.nodeNames[0]: \"n9\" is not a node that is known "
                  "here; did you mean n1? (S72)"));
}

TEST(Rules, S108_RulesThatThePolicyIgnoresAreWarnedOf) {
  EXPECT_THAT(
      Warnings({{"/spec/failurePolicy/rules", {{{"onExitCodes", {42}}, {"action", "Retry"}}}}}),
      ElementsAre("spec.failurePolicy.rules: policy OnFailure does not look at them; "
                  "ExitCodeAndLog does (S108)"));
}

TEST(Rules, S29_SpotWithoutAnyPoolThatOffersTheFlavorIsRejected) {
  Site site = SampleSite();
  for (Pool& pool : site.pools) pool.capacity_types = {CapacityType::kReserved};
  EXPECT_THAT(Errors({{"/spec/scheduling/capacityType", "spot"}, {"/spec/scheduling/queue", ""}},
                     "alice", site),
              ElementsAre("spec.scheduling.flavors[0].name: no pool that you may use offers "
                          "\"h200.1g\" as capacity type spot; choose another flavor, type or "
                          "cluster (S29)"));
}

TEST(Rules, S30_AnAdministratorWhoDoesNotLendOffersNoIdle) {
  Site site = SampleSite();
  for (Pool& pool : site.pools) pool.lends_idle = false;
  EXPECT_EQ(Errors({{"/spec/scheduling/capacityType", "idle"}, {"/spec/scheduling/queue", ""}},
                   "alice", site)
                .size(),
            1u);
}

TEST(Rules, S26_ADedicatedPoolOfOthersOffersNothing) {
  Site site = SampleSite();
  site.pools = {*site.FindPool("vision-dedicated")};
  site.pools[0].capacity_types = {CapacityType::kSpot};
  const Changes spot = {{"/spec/scheduling/capacityType", "spot"}, {"/spec/scheduling/queue", ""}};
  EXPECT_EQ(Errors(spot, "alice", site).size(), 1u);
  EXPECT_THAT(Errors(spot, "vera", site), IsEmpty());
}

// A job that no parser has made: the value itself must be enough.
TEST(Rules, S31_AnIdleJobOfAStructIsJudgedByItsValues) {
  const Site site = SampleSite();
  TrainingJob job = *ParseTrainingJob(JobText(), "job");
  job.scheduling.capacity_type = CapacityType::kIdle;
  job.scheduling.queue = "";
  EXPECT_TRUE(Validate(job, site, Alice()).accepted());
  job.scheduling.priority = Priority::kHigh;
  job.scheduling.preemptible = false;
  EXPECT_EQ(Validate(job, site, Alice()).ErrorText(),
            "spec.scheduling.priorityClassName: capacity type idle does not have it; remove it "
            "(S31)\n"
            "spec.scheduling.preemptible: capacity type idle does not have it; remove it (S31)");
}

TEST(Rules, S2_AJobOfAnotherProjectIsRejected) {
  const Site site = SampleSite();
  TrainingJob job = *ParseTrainingJob(JobText(), "job");
  job.project = "speech";
  EXPECT_EQ(Validate(job, site, Alice()).ErrorText(),
            "metadata.project: \"speech\" is not the project you act for, \"nlp\" (S2)");
}

TEST(Rules, S114_WithThePolicyOffLabelsAreFree) {
  EXPECT_THAT(LabelErrors({{"colour", "red"}}, false), IsEmpty());
}

TEST(Rules, S114_ChosenLabelsAreAccepted) {
  EXPECT_THAT(LabelErrors({{"team", "nlp"}, {"stage", "anything"}}, true), IsEmpty());
}

TEST(Rules, S114_NoLabelsAreRejected) {
  EXPECT_THAT(
      LabelErrors(nlohmann::json::object(), true),
      ElementsAre("metadata.labels.stage: this site requires it; any value (S114)",
                  "metadata.labels.team: this site requires it; one of nlp, vision (S114)"));
}

TEST(Rules, S114_AnUnknownValueIsRejected) {
  EXPECT_THAT(LabelErrors({{"team", "npl"}, {"stage", "x"}}, true),
              ElementsAre("metadata.labels.team: \"npl\" is not one of nlp, vision; did you mean "
                          "nlp? (S114)"));
}

TEST(Rules, S114_AnUnknownKeyIsRejected) {
  EXPECT_THAT(LabelErrors({{"team", "nlp"}, {"stage", "x"}, {"colour", "red"}}, true),
              ElementsAre("metadata.labels.colour: is not a label of this site; it has stage, team "
                          "(S114)"));
}

TEST(Rules, S72_AUsersOwnBlockIsAccepted) {
  EXPECT_THAT(Objections(Policy()), IsEmpty());
}

TEST(Rules, S72_ABlockWithoutNodesIsRejected) {
  NodePolicy policy = Policy();
  policy.node_names = {};
  EXPECT_THAT(Objections(policy), ElementsAre("nodeNames: is empty; name at least one node (S72)"));
}

TEST(Regress, ALongListOfUnknownNodesIsWarnedOfBriefly) {
  NodePolicy policy = Policy();
  policy.node_names.clear();
  for (int i = 0; i < 10'000; ++i) policy.node_names.push_back("x" + std::to_string(i));
  const auto warnings = Texts(Validate(policy, Alice(), kNow, {"n1", "n2"}).warnings);
  ASSERT_EQ(warnings.size(), 11U);
  EXPECT_EQ(warnings.back(), "nodeNames: 9990 more names are not those of known nodes (S72)");
}

TEST(Regress, ANodePolicyOfMegabytesIsRefused) {
  NodePolicy policy = Policy();
  policy.reason = std::string(1025, 'r');
  EXPECT_THAT(Objections(policy), ElementsAre("reason: has 1025 bytes; at most 1024 (S72)"));
  policy.reason.clear();
  policy.node_names.assign(65537, "n1");
  EXPECT_THAT(Objections(policy), ElementsAre("nodeNames: has 65537 names; at most 65536 (S72)"));
}

TEST(Rules, S72_OnlyTasksAreWorkloads) {
  NodePolicy policy = Policy();
  policy.workload_types = {"task", "notebook"};
  EXPECT_THAT(Objections(policy),
              ElementsAre("workloadTypes: [task, notebook] is not [task] (S72)"));
}

TEST(Rules, S72_AnUnknownNodeOfAPolicyIsOnlyWarnedOf) {
  const Verdict verdict = Validate(Policy(), Alice(), kNow, {"n2", "n3"});
  EXPECT_TRUE(verdict.accepted());
  EXPECT_THAT(Texts(verdict.warnings),
              ElementsAre("nodeNames[0]: \"n1\" is not a node that is known here; did you mean n2? "
                          "(S72)"));
  EXPECT_THAT(Validate(Policy(), Alice(), kNow, {"n1"}).warnings, IsEmpty());
}

TEST(Rules, S75_TenantScopeNeedsAnAdministrator) {
  NodePolicy policy = Policy();
  policy.tenant_scope = true;
  policy.subject = "research";
  EXPECT_THAT(Objections(policy),
              ElementsAre("scope: Tenant needs an administrator; user \"alice\" is none (S75)"));
  Submitter root = Alice();
  root.admin = true;
  EXPECT_THAT(Objections(policy, root), IsEmpty());
}

TEST(Rules, S75_APolicyForSomebodyElseIsRejected) {
  NodePolicy policy = Policy();
  policy.subject = "bob";
  EXPECT_THAT(Objections(policy),
              ElementsAre("subject: \"bob\" is not you; a policy of this scope is for \"alice\" "
                          "(S75)"));
}

TEST(Rules, S75_AnAdministratorActsForHisTenantOnly) {
  NodePolicy policy = Policy();
  policy.tenant_scope = true;
  policy.subject = "vision";
  Submitter root = Alice();
  root.admin = true;
  EXPECT_THAT(Objections(policy, root),
              ElementsAre("subject: \"vision\" is not you; a policy of this scope is for "
                          "\"research\" (S75)"));
}

TEST(Rules, S76_SixtySecondsAndSeventyTwoHoursAreTheBounds) {
  EXPECT_THAT(Objections(Expiring(seconds(60))), IsEmpty());
  EXPECT_THAT(Objections(Expiring(hours(72))), IsEmpty());
  EXPECT_THAT(
      Objections(Expiring(seconds(59))),
      ElementsAre("expiresAt: 59 s from now is not between 1 minute and 72 hours (259200 s) "
                  "from now (S76)"));
  EXPECT_THAT(Objections(Expiring(hours(72) + seconds(1))),
              ElementsAre("expiresAt: 259201 s from now is not between 1 minute and 72 hours "
                          "(259200 s) from now (S76)"));
}

TEST(Rules, S76_AMillisecondBeyondABoundCounts) {
  EXPECT_EQ(Objections(Expiring(seconds(60) - milliseconds(1))).size(), 1u);
  EXPECT_EQ(Objections(Expiring(hours(72) + milliseconds(1))).size(), 1u);
}

TEST(Rules, S76_APastExpiryIsRejected) {
  EXPECT_THAT(
      Objections(Expiring(-seconds(5))),
      ElementsAre("expiresAt: -5 s from now is not between 1 minute and 72 hours (259200 s) "
                  "from now (S76)"));
}

TEST(Rules, S76_AnExpiryIsRequired) {
  NodePolicy policy = Policy();
  policy.expires_at = kNever;
  EXPECT_THAT(
      Objections(policy),
      ElementsAre("expiresAt: is required: between 1 minute and 72 hours (259200 s) from now "
                  "(S76)"));
}

TEST(Rules, D11_ANodeInObjectHasTheSameBounds) {
  NodePolicy policy = Expiring(hours(73));
  policy.type = NodePolicyType::kNodeIn;
  EXPECT_EQ(Objections(policy).size(), 1u);
}

}  // namespace
}  // namespace cox::spec
