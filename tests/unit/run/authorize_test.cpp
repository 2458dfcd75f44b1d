#include "run/authorize.hpp"

#include "run/json.hpp"
#include "run/verbs.hpp"
#include "unit/run/rig.hpp"

namespace cox::run::test {
namespace {

class Authorize : public testing::Test {
 protected:
  Config config = SiteConfig();
  Peer Of(const std::string& user, bool privileged = false) {
    return PeerOf(*config.site, user, privileged);
  }
  model::Task Task(spec::Visibility visibility) {
    model::Task task;
    task.id = TaskId{1};
    task.name = "llama-x";
    task.owner = {"alice", "nlp", "lab"};
    auto job = std::make_shared<spec::TrainingJob>(*Job());
    job->visibility = visibility;
    task.job = job;
    return task;
  }
};

TEST_F(Authorize, APrivateJobIsSeenByItsOwnerAndAdministratorsOnly) {
  const auto task = Task(spec::Visibility::kPrivate);
  EXPECT_TRUE(MaySee(Of("alice"), task));
  EXPECT_FALSE(MaySee(Of("bob"), task));
  EXPECT_FALSE(MaySee(Of("carol"), task));
  EXPECT_FALSE(MaySee(Of("stranger"), task));
  EXPECT_TRUE(MaySee(Of("root"), task)) << "an administrator by the site";
  EXPECT_TRUE(MaySee(Of("daemon", true), task)) << "an administrator by uid";
}

TEST_F(Authorize, APublicJobIsSeenInsideItsProject) {
  const auto task = Task(spec::Visibility::kProject);
  EXPECT_TRUE(MaySee(Of("bob"), task));
  EXPECT_FALSE(MaySee(Of("carol"), task));
  EXPECT_FALSE(MaySee(Of("stranger"), task));
}

TEST_F(Authorize, OnlyOwnerAndAdministratorsMayStop) {
  const auto task = Task(spec::Visibility::kProject);
  EXPECT_TRUE(MayStop(Of("alice"), task));
  EXPECT_FALSE(MayStop(Of("bob"), task));
  EXPECT_TRUE(MayStop(Of("root"), task));
}

TEST_F(Authorize, HiddenValuesAreTheOwnersAlone) {
  const auto task = Task(spec::Visibility::kProject);
  EXPECT_TRUE(MaySeeHidden(Of("alice"), task));
  EXPECT_FALSE(MaySeeHidden(Of("bob"), task));
  EXPECT_FALSE(MaySeeHidden(Of("root"), task));
}

TEST_F(Authorize, QuotaRowsAreOnesOwnOnesProjectsAndOnesTenants) {
  const auto row = [](spec::QuotaLevel level, const std::string& subject) {
    model::LedgerKey key;
    key.level = level;
    key.subject = subject;
    return key;
  };
  EXPECT_TRUE(MaySee(Of("alice"), row(spec::QuotaLevel::kTenant, "lab")));
  EXPECT_FALSE(MaySee(Of("alice"), row(spec::QuotaLevel::kTenant, "other")));
  EXPECT_TRUE(MaySee(Of("bob"), row(spec::QuotaLevel::kProject, "vision")));
  EXPECT_FALSE(MaySee(Of("alice"), row(spec::QuotaLevel::kProject, "vision")));
  EXPECT_TRUE(MaySee(Of("alice"), row(spec::QuotaLevel::kUser, "alice")));
  EXPECT_FALSE(MaySee(Of("alice"), row(spec::QuotaLevel::kUser, "bob")));
  EXPECT_TRUE(MaySee(Of("root"), row(spec::QuotaLevel::kUser, "bob")));
}

TEST_F(Authorize, PoliciesAreOnesOwnAndTheTenantsUnexpiredOnes) {
  spec::NodePolicy own;
  own.subject = "alice";
  own.expires_at = FromSeconds(100);
  EXPECT_TRUE(MaySee(Of("alice"), own, FromSeconds(200)));
  EXPECT_FALSE(MaySee(Of("bob"), own, FromSeconds(50)));
  EXPECT_TRUE(MayDelete(Of("alice"), own));
  EXPECT_FALSE(MayDelete(Of("bob"), own));
  spec::NodePolicy tenants;
  tenants.tenant_scope = true;
  tenants.subject = "lab";
  tenants.expires_at = FromSeconds(100);
  EXPECT_TRUE(MaySee(Of("bob"), tenants, FromSeconds(99)));
  EXPECT_FALSE(MaySee(Of("bob"), tenants, FromSeconds(100)));
  EXPECT_FALSE(MaySee(Of("carol"), tenants, FromSeconds(99)));
  EXPECT_FALSE(MayDelete(Of("bob"), tenants));
  EXPECT_TRUE(MayDelete(Of("root"), tenants));
}

// The verbs, asked as an ordinary user: what authorisation makes of the answers.
class Verbs : public testing::Test {
 protected:
  Result<Json> Ask(const std::string& user, const std::string& verb, Json args = Json::object()) {
    const auto known = rig.view();
    const Peer peer = PeerOf(*known->site, user, false);
    ControlOptions options;
    options.store_file = rig.store_file();
    const Desk desk{*known, peer, args, options, *rig.loop, rig.clock.now};
    Result<Json> answer = Unavailable("no answer");
    auto served = Serve(verb, desk, [&](Result<Json> r) { answer = std::move(r); });
    if (auto* read = std::get_if<Result<Json>>(&served)) return *read;
    rig.loop->Ask(std::get<Request>(std::move(served)));
    rig.Turn();
    return answer;
  }
  Rig rig;
};

TEST_F(Verbs, AJobOfSomebodyElseIsAsIfItDidNotExist) {
  const auto name = rig.Submit();
  ASSERT_TRUE(name);
  for (const char* verb : {"get", "describe", "explain", "stop", "logs"}) {
    const auto answer = Ask("bob", verb, {{"job", *name}});
    ASSERT_FALSE(answer) << verb;
    EXPECT_EQ(answer.error().code, Code::kNotFound) << verb;
  }
  EXPECT_EQ((*Ask("bob", "list"))["jobs"].size(), 0u);
  EXPECT_EQ((*Ask("bob", "events"))["events"].size(), 0u);
  EXPECT_EQ((*Ask("alice", "list"))["jobs"].size(), 1u);
}

TEST_F(Verbs, AMemberOfTheProjectSeesAPublicJobWithHiddenValuesMaskedAndMayNotStopIt) {
  std::string text = JobText();
  text.replace(text.find("spec:\n"), 6, "spec:\n  visibility: Project\n");
  const auto name = rig.Submit(text);
  ASSERT_TRUE(name);
  const auto seen = Ask("bob", "describe", {{"job", *name}});
  ASSERT_TRUE(seen) << seen.error().text;
  EXPECT_EQ(Dump(*seen).find("s3cret"), std::string::npos);
  EXPECT_NE(Dump(*seen).find("****"), std::string::npos);
  EXPECT_NE(Dump(*Ask("alice", "get", {{"job", *name}})).find("s3cret"), std::string::npos);
  EXPECT_EQ(Ask("bob", "stop", {{"job", *name}}).error().code, Code::kForbidden);
  EXPECT_EQ((*Ask("bob", "list"))["jobs"].size(), 1u);
  EXPECT_EQ((*Ask("bob", "list", {{"mine", true}}))["jobs"].size(), 0u);
}

TEST_F(Verbs, OnlyAdministratorsReloadJudgeForOthersAndMakeTenantPolicies) {
  EXPECT_EQ(Ask("alice", "reload").error().code, Code::kForbidden);
  EXPECT_TRUE(Ask("root", "reload"));
  EXPECT_EQ(Ask("alice", "judge", {{"text", JobText()}, {"user", "bob"}}).error().code,
            Code::kForbidden);
  const Json policy = {{"node_names", {"n1"}}, {"ttl_seconds", 600}, {"tenant_scope", true}};
  EXPECT_EQ(Ask("alice", "nodepolicy_create", policy).error().code, Code::kForbidden);
  ASSERT_TRUE(Ask("root", "nodepolicy_create", policy));
  EXPECT_EQ((*Ask("bob", "nodepolicy_list"))["policies"].size(), 1u);
  EXPECT_EQ((*Ask("carol", "nodepolicy_list"))["policies"].size(), 0u);
  EXPECT_EQ(Ask("bob", "nodepolicy_delete", {{"id", "np-1"}}).error().code, Code::kForbidden);
  EXPECT_EQ(Ask("carol", "nodepolicy_delete", {{"id", "np-1"}}).error().code, Code::kNotFound);
}

TEST_F(Verbs, SpotThatNobodyCanGetNowIsNotOfferedAndTheReasonSaysSo) {
  rig.Turn();
  EXPECT_EQ((*Ask("alice", "flavors", {{"capacity_type", "spot"}}))["flavors"].size(), 1u);
  EXPECT_EQ((*Ask("alice", "flavors", {{"capacity_type", "on-demand"}}))["flavors"].size(), 0u);
  model::Baseline none = rig.batch.All();
  for (auto& node : none.nodes) node.ready = false;
  rig.loop->sink().Post(none);
  rig.Turn();
  const auto answer = Ask("alice", "flavors", {{"capacity_type", "spot"}});
  EXPECT_EQ((*answer)["flavors"].size(), 0u);
  EXPECT_NE((*answer)["reason"].get<std::string>().find("spot"), std::string::npos);
}

}  // namespace
}  // namespace cox::run::test
