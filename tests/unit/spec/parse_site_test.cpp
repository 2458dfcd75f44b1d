#include <gmock/gmock.h>

#include "spec/schema.hpp"
#include "unit/spec/samples.hpp"

namespace cox::spec {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr const char* kSmall = "region: r\ncluster: c\n";

Site SiteOf(const std::string& more) {
  const auto site = ParseSite(kSmall + more, "site.yaml");
  EXPECT_TRUE(site) << site.error().text;
  return site ? *site : Site();
}

Lines ErrorsOf(const std::string& more) {
  const auto site = ParseSite(kSmall + more, "site.yaml");
  return site ? Lines{"accepted"} : SplitLines(site.error().text);
}

TEST(ParseSite, ARealisticSiteIsRead) {
  const Site site = SampleSite();
  EXPECT_EQ(site.region, "cn-shanghai");
  EXPECT_EQ(site.flavors.size(), 3u);
  const Flavor* h200 = site.FindFlavor("h200.1g");
  ASSERT_NE(h200, nullptr);
  EXPECT_EQ(h200->unit, (Resources{16000, 131072, 1000}));
  EXPECT_EQ(h200->gpu_type, "h200");
  EXPECT_TRUE(h200->rdma);
  EXPECT_FALSE(site.FindFlavor("cpu.4c")->gpu_class);

  const Pool* shared = site.FindPool("team-shared");
  EXPECT_THAT(shared->nodes, ElementsAre("n1", "n2", "n3", "n4"));
  EXPECT_EQ(shared->partition, "shared");
  EXPECT_EQ(shared->cluster, "auriga");
  EXPECT_EQ(shared->capacity_types.size(), 4u);
  EXPECT_TRUE(shared->lends_idle);
  EXPECT_FALSE(shared->dedicated);
  const Pool* vision = site.FindPool("vision-dedicated");
  EXPECT_TRUE(vision->dedicated);
  EXPECT_EQ(vision->tenant, "vision");
  EXPECT_THAT(vision->capacity_types, ElementsAre(CapacityType::kReserved));
  EXPECT_EQ(site.FindPool("far-away")->cluster, "orion");

  EXPECT_EQ(site.quotas[0].level, QuotaLevel::kTenant);
  EXPECT_EQ(site.quotas[0].subject, "research");
  EXPECT_EQ(site.quotas[0].units, 32);
  EXPECT_EQ(site.quotas[1].level, QuotaLevel::kUser);
  EXPECT_EQ(site.quotas[1].capacity_type, CapacityType::kOnDemand);

  EXPECT_EQ(site.FindUser("alice")->org, "lab");
  EXPECT_EQ(site.FindUser("vera")->org, "other");
  EXPECT_TRUE(site.FindUser("root")->admin);
  EXPECT_EQ(site.FindUser("nobody"), nullptr);

  EXPECT_EQ(site.FindVolume("v-0001"), site.FindVolume("vol-a"));
  EXPECT_THAT(site.FindVolume("vol-rwx")->users, ElementsAre("alice"));
  EXPECT_THAT(site.FindVolume("vol-rwo")->access_modes, ElementsAre("ReadWriteOnce"));
  EXPECT_EQ(site.FindVolume(""), nullptr);
}

TEST(ParseSite, TheLevelsOfTheTopologyAreReadWithTheirNodes) {
  const Site site = SampleSite();
  ASSERT_EQ(site.topology.size(), 2u);
  EXPECT_EQ(site.FindTopologyLevel("rack"), &site.topology[1]);
  EXPECT_EQ(site.FindTopologyLevel("row"), nullptr);
  EXPECT_EQ(site.topology[1].domains[1].name, "r2");
  EXPECT_THAT(site.topology[0].domains[0].nodes, ElementsAre("n1", "n2", "n3", "n4"));
}

TEST(ParseSite, ANodeIsInOneDomainOfALevel) {
  EXPECT_THAT(ErrorsOf("topology:\n"
                       "- level: rack\n"
                       "  domains:\n"
                       "  - {name: a, nodes: [\"n[1-2]\"]}\n"
                       "  - {name: b, nodes: [n2]}\n"
                       "  - {name: a, nodes: [\"n[3-\"]}\n"),
              ElementsAre(testing::StartsWith("site.yaml:8: topology[0].domains[2].nodes[0]: ")));
  EXPECT_THAT(
      ErrorsOf("topology:\n"
               "- level: rack\n"
               "  domains:\n"
               "  - {name: a, nodes: [\"n[1-2]\"]}\n"
               "  - {name: b, nodes: [n2]}\n"
               "  - {name: a, nodes: [n3]}\n"
               "- {level: rack, domains: [{name: a, nodes: [n1]}]}\n"),
      ElementsAre("site.yaml:7: topology[0].domains[1].nodes: \"n2\" is in \"a\" already; a "
                  "node is in one domain of a level",
                  "site.yaml:8: topology[0].domains[2].name: \"a\" is there already",
                  "site.yaml:9: topology[1].level: \"rack\" is there already"));
}

TEST(ParseSite, DefaultsComeFromTheSchema) {
  const Site site = SiteOf("");
  EXPECT_EQ(site.default_tenant, "");
  EXPECT_EQ(site.default_pull_max_retries, 3);
  EXPECT_EQ(site.start_timeout_seconds, 300);
  EXPECT_EQ(site.unknown_timeout_seconds, 300);
  EXPECT_EQ(site.starvation_bound_seconds, 3600);
  EXPECT_FALSE(site.prefer_flavor_order);
  EXPECT_EQ(site.min_run_seconds, 0);
  EXPECT_EQ(site.spot_headroom_percent, 0);
  EXPECT_THAT(site.shadowed_mount_warnings, ElementsAre("/opt", "/workspace", "/usr"));
  EXPECT_FALSE(site.label_policy.enabled);
  EXPECT_EQ(site.adapter, "");
  EXPECT_EQ(site.adapter_json, "{}");
}

TEST(ParseSite, DefaultsCanBeSet) {
  const Site site = SiteOf(
      "defaults: {tenant: guests, imagePullMaxRetries: -1, startTimeoutSeconds: 5,\n"
      "  unknownTimeoutSeconds: 6, shadowedMountPaths: [/bin]}\n"
      "scheduling: {starvationBoundSeconds: 7, flavorFallback: prefer-order,\n"
      "  minRunSeconds: 8, spotHeadroomPercent: 9}\n");
  EXPECT_EQ(site.default_tenant, "guests");
  EXPECT_EQ(site.default_pull_max_retries, -1);
  EXPECT_EQ(site.start_timeout_seconds, 5);
  EXPECT_EQ(site.unknown_timeout_seconds, 6);
  EXPECT_EQ(site.starvation_bound_seconds, 7);
  EXPECT_TRUE(site.prefer_flavor_order);
  EXPECT_EQ(site.min_run_seconds, 8);
  EXPECT_EQ(site.spot_headroom_percent, 9);
  EXPECT_THAT(site.shadowed_mount_warnings, ElementsAre("/bin"));
}

TEST(ParseSite, AmountsMayBeQuotedOrNot) {
  const Site site = SiteOf(
      "flavors:\n"
      "- {name: a, gpus: 0.5, cpus: 500m, memory: 512Mi}\n"
      "- {name: b, gpus: \"0.5\", cpus: \"8\", memory: 1Ti}\n");
  EXPECT_EQ(site.flavors[0].unit, (Resources{500, 512, 500}));
  EXPECT_EQ(site.flavors[1].unit, (Resources{8000, 1048576, 500}));
}

TEST(ParseSite, APluginKeepsItsConfigurationAndWhereItStood) {
  const Site site = SiteOf(
      "plugins:\n"
      "- path: /opt/cox/cooldown.so\n"
      "- name: second\n"
      "  path: quota_tree.so\n"
      "  optional: true\n"
      "  onError: deny\n"
      "  budgetMs: 7\n"
      "  maxErrors: 8\n"
      "  weight: 9\n"
      "  config:\n"
      "    version: 1.10\n"
      "    limits:\n"
      "      gpu: many\n");
  ASSERT_EQ(site.plugins.size(), 2u);
  EXPECT_EQ(site.plugins[0].name, "cooldown");
  EXPECT_EQ(site.plugins[0].config_json, "{}");
  EXPECT_EQ(site.plugins[0].position, "site.yaml:4: plugins[0].config");
  EXPECT_EQ(site.plugins[0].path_position, "site.yaml:4: plugins[0].path");
  EXPECT_EQ(site.plugins[0].on_error, std::nullopt);
  EXPECT_EQ(site.plugins[0].budget_ms, 100);
  EXPECT_EQ(site.plugins[0].max_errors, 5);
  EXPECT_EQ(site.plugins[0].weight, 1);
  const PluginConfig& second = site.plugins[1];
  EXPECT_EQ(second.name, "second");
  EXPECT_TRUE(second.optional);
  EXPECT_EQ(second.on_error, "deny");
  EXPECT_EQ(second.budget_ms, 7);
  EXPECT_EQ(second.max_errors, 8);
  EXPECT_EQ(second.weight, 9);
  EXPECT_EQ(second.position, "site.yaml:12: plugins[1].config");
  EXPECT_EQ(second.path_position, "site.yaml:6: plugins[1].path");
  EXPECT_EQ(nlohmann::json::parse(second.config_json)["limits"]["gpu"], "many");

  // What host/ does next: the plugin's own schema, with the true line and the true literal.
  const char* schema = R"({"properties": {
      "version": {"type": "string"},
      "limits": {"properties": {"gpu": {"type": "integer"}}}}})";
  const auto checked = ValidateAndDefault(second.config_json, second.position, schema);
  ASSERT_FALSE(checked);
  EXPECT_EQ(checked.error().text,
            "site.yaml:15: plugins[1].config.limits.gpu: \"many\" is not a whole number of at most "
            "64 bits");
}

TEST(ParseSite, TheAdaptersBlockIsKeptWithItsDefaults) {
  const Site site = SiteOf("slurm:\n  stateDir: /var/cox\n  pollMs: 70\n");
  EXPECT_EQ(site.adapter, "slurm");
  EXPECT_EQ(site.plugin_dir, "/usr/lib/cox/plugins");
  EXPECT_EQ(site.adapter_position, "site.yaml:3");
  const auto block = nlohmann::json::parse(site.adapter_json);
  EXPECT_EQ(block["stateDir"], "/var/cox");
  EXPECT_EQ(block["pollMs"], 70);
  EXPECT_EQ(block["verifyMs"], 3000);
}

TEST(ParseSite, TheAdaptersBlockIsCheckedLikeTheRest) {
  EXPECT_THAT(ErrorsOf("slurm:\n  pollMS: 500\n  verifyMs: 1\n"),
              ElementsAre("site.yaml:4: slurm.pollMS: unknown key; did you mean pollMs?",
                          "site.yaml:5: slurm.verifyMs: 1 is below the minimum 200"));
}

TEST(ParseSite, TwoAdaptersAreRefused) {
  EXPECT_THAT(
      ErrorsOf("slurm: {}\nkubernetes: {}\n"),
      ElementsAre("site.yaml:4: kubernetes: a cluster has one adapter; slurm is configured, "
                  "too"));
}

TEST(ParseSite, ASiteHasARegionAndACluster) {
  const auto site = ParseSite("org: lab\nregion: ''\n", "site.yaml");
  ASSERT_FALSE(site);
  EXPECT_EQ(site.error().text,
            "site.yaml:1: cluster: is required\nsite.yaml:2: region: must not be empty");
}

TEST(ParseSite, AmountsThatAreNoneAreRefused) {
  EXPECT_THAT(
      ErrorsOf("flavors:\n- {name: a, gpus: 1,\n   cpus: many, memory: 64}\n"),
      ElementsAre("site.yaml:5: flavors[0].cpus: \"many\" is not an amount; write 16, 0.5 or "
                  "500m, at most 1000000",
                  "site.yaml:5: flavors[0].memory: \"64\" is not an amount; write 512Mi, "
                  "64Gi or 2Ti, at most 900Ti"));
}

TEST(ParseSite, S36_AFlavorsClassAndItsGpusAgree) {
  EXPECT_THAT(ErrorsOf("flavors:\n"
                       "- {name: a, cpus: 1, memory: 1Gi}\n"
                       "- {name: b, class: CPU, gpus: 1, cpus: 1, memory: 1Gi}\n"),
              ElementsAre("site.yaml:4: flavors[0].gpus: a flavor of class GPU has some; or write "
                          "class: CPU (S36)",
                          "site.yaml:5: flavors[1].gpus: a flavor of class CPU has none (S36)"));
}

TEST(ParseSite, S26_ADedicatedPoolHasATenant) {
  EXPECT_THAT(ErrorsOf("pools:\n- {name: a, isolation: dedicated}\n- {name: b, tenant: t}\n"),
              ElementsAre("site.yaml:4: pools[0].tenant: a dedicated pool needs its tenant (S26)",
                          "site.yaml:5: pools[1].tenant: only a dedicated pool has one; write "
                          "isolation: dedicated (S26)"));
}

TEST(ParseSite, NamesThatDoNotExistAreRefused) {
  EXPECT_THAT(
      ErrorsOf("flavors: [{name: h200, gpus: 1, cpus: 1, memory: 1Gi}]\n"
               "users: [{name: u, tenant: t}]\n"
               "pools: [{name: shared, flavors: [h20]}]\n"
               "quotas:\n"
               "- {tenant: t, pool: shard, flavor: h200, units: 1}\n"
               "- {tenant: t, pool: shared, flavor: h300, units: 1}\n"
               "- {tenant: t, flavor: h200, units: 1}\n"),
      ElementsAre("site.yaml:5: pools[0].flavors[0]: \"h20\" is not among the flavors; did "
                  "you mean h200? (S36)",
                  "site.yaml:7: quotas[0].pool: \"shard\" is not among the pools; did you "
                  "mean shared? (S40)",
                  "site.yaml:8: quotas[1].flavor: \"h300\" is not among the flavors; did you "
                  "mean h200? (S40)",
                  "site.yaml:9: quotas[2].pool: a reserved quota is of one pool; name it "
                  "(S40)"));
}

TEST(ParseSite, PeopleWhomNobodyKnowsAreRefused) {
  EXPECT_THAT(
      ErrorsOf("flavors: [{name: f, gpus: 1, cpus: 1, memory: 1Gi}]\n"
               "users:\n"
               "- {name: alice, tenant: lab, projects: [nlp]}\n"
               "- {name: vera, tenant: vision}\n"
               "pools:\n"
               "- {name: shared}\n"
               "- {name: own, isolation: dedicated, tenant: vison}\n"
               "quotas:\n"
               "- {tenant: lob, pool: shared, flavor: f, units: 1}\n"
               "- {project: nlq, pool: shared, flavor: f, units: 1}\n"
               "- {project: vision, pool: shared, flavor: f, units: 1}\n"  // of her tenant's name
               "- {user: alicia, pool: shared, flavor: f, units: 1}\n"
               "volumes: [{name: v, path: /v, acl: {users: [alise], projects: [lab]}}]\n"
               "envProfiles: [{user: ver, env: []}]\n"),
      ElementsAre("site.yaml:9: pools[1].tenant: \"vison\" is no user's tenant; did you mean "
                  "vision? (S26)",
                  "site.yaml:11: quotas[0].tenant: \"lob\" is no user's tenant; did you mean lab? "
                  "(S40)",
                  "site.yaml:12: quotas[1].project: \"nlq\" is no user's project; did you mean "
                  "nlp? (S40)",
                  "site.yaml:14: quotas[3].user: \"alicia\" is not among the users; did you mean "
                  "alice? (S40)",
                  "site.yaml:15: volumes[0].acl.users[0]: \"alise\" is not among the users; did "
                  "you mean alice? (S89)",
                  "site.yaml:15: volumes[0].acl.projects[0]: \"lab\" is no user's project (S89)",
                  "site.yaml:16: envProfiles[0].user: \"ver\" is not among the users; did you "
                  "mean vera? (S15)"));
}

TEST(ParseSite, WhoeverIsNotListedMayBeNamedWhereHeMaySubmit) {
  const Site site = SiteOf(
      "flavors: [{name: f, gpus: 1, cpus: 1, memory: 1Gi}]\n"
      "pools: [{name: shared}]\n"
      "defaults: {tenant: guests}\n"
      "quotas:\n"
      "- {user: anybody, pool: shared, flavor: f, units: 1}\n"
      "- {tenant: guests, pool: shared, flavor: f, units: 1}\n"
      "- {project: guests, pool: shared, flavor: f, units: 1}\n"
      "envProfiles: [{user: somebody, env: []}]\n");
  EXPECT_EQ(site.quotas.size(), 3u);
  EXPECT_THAT(ErrorsOf("flavors: [{name: f, gpus: 1, cpus: 1, memory: 1Gi}]\n"
                       "pools: [{name: shared}]\n"
                       "defaults: {tenant: guests}\n"
                       "quotas: [{tenant: gusts, pool: shared, flavor: f, units: 1}]\n"),
              ElementsAre("site.yaml:6: quotas[0].tenant: \"gusts\" is no user's tenant; did you "
                          "mean guests? (S40)"));
}

TEST(ParseSite, AFileThatKnowsNobodyMayNameAnybody) {
  EXPECT_EQ(SiteOf("flavors: [{name: f, gpus: 1, cpus: 1, memory: 1Gi}]\n"
                   "pools: [{name: shared}]\n"
                   "quotas: [{tenant: of-a-trace, pool: shared, flavor: f, units: 1}]\n")
                .quotas.size(),
            1u);
}

TEST(ParseSite, S40_AQuotaIsOfOneSubject) {
  EXPECT_THAT(
      ErrorsOf("quotas:\n"
               "- {flavor: f, units: 1}\n"
               "- {tenant: t, user: u, flavor: f, units: 1}\n"
               "- {tenant: '', flavor: f, units: 1}\n"),
      ElementsAre("site.yaml:4: quotas[0]: names 0 subjects; write exactly one of tenant, project, "
                  "user",
                  "site.yaml:5: quotas[1]: names 2 subjects; write exactly one of tenant, project, "
                  "user",
                  "site.yaml:6: quotas[2]: names 1 subjects; write exactly one of tenant, project, "
                  "user"));
}

TEST(ParseSite, NothingIsThereTwice) {
  EXPECT_THAT(
      ErrorsOf(
          "flavors:\n"
          "- {name: f, gpus: 1, cpus: 1, memory: 1Gi}\n"
          "- {name: f, gpus: 1, cpus: 1, memory: 1Gi}\n"
          "pools: [{name: p}, {name: p}]\n"
          "users: [{name: u, tenant: t}, {name: u, tenant: t}]\n"
          "volumes: [{name: v, id: i, path: /a}, {name: v, path: /b}, {name: w, id: i, path: /c}]\n"
          "envProfiles: [{user: u, env: []}, {user: u, env: []}]\n"
          "quotas:\n"
          "- {tenant: t, pool: p, flavor: f, units: 1}\n"
          "- {tenant: t, pool: p, flavor: f, units: 2}\n"
          "plugins: [{path: x.so}, {path: y/x.so}]\n"),
      ElementsAre("site.yaml:5: flavors[1].name: \"f\" is there already",
                  "site.yaml:6: pools[1].name: \"p\" is there already",
                  "site.yaml:7: users[1].name: \"u\" is there already",
                  "site.yaml:8: volumes[1].name: \"v\" is there already",
                  "site.yaml:8: volumes[2].id: \"i\" is there already",
                  "site.yaml:9: envProfiles[1].user: \"u\" is there already",
                  "site.yaml:12: quotas[1]: the same quota is there already (S40)",
                  "site.yaml:13: plugins[1].name: \"x\" is there already"));
}

TEST(ParseSite, S12_PersistentVariablesObeyTheSameRules) {
  EXPECT_THAT(
      ErrorsOf("users: [{name: u, tenant: t}]\n"
               "envProfiles:\n"
               "- user: u\n"
               "  env:\n"
               "  - {name: A-B, value: 1}\n"
               "  - {name: KUBERNETES_X, value: 1}\n"
               "  - {name: RANK, value: 1}\n"
               "  - {name: A, value: 1}\n"
               "  - {name: A, value: 2}\n"),
      ElementsAre("site.yaml:7: envProfiles[0].env[0].name: \"A-B\" is not the name of a "
                  "variable; use letters, digits and '_', and no digit in front (S12)",
                  "site.yaml:8: envProfiles[0].env[1].name: \"KUBERNETES_X\" begins with "
                  "KUBERNETES_, which belongs to the platform (S12)",
                  "site.yaml:9: envProfiles[0].env[2].name: \"RANK\" is set by the platform; "
                  "choose another name (D12)",
                  "site.yaml:11: envProfiles[0].env[4].name: \"A\" is there already (S15)"));
}

TEST(ParseSite, S113_MaintainedLabelsMustBeLabels) {
  EXPECT_THAT(
      ErrorsOf("labelPolicy:\n  keys:\n    te am: []\n    team: [a b]\n"),
      ElementsAre("site.yaml:4: labelPolicy.keys: \"te am\" is not a label key; use up to 63 "
                  "letters, digits, '-', '_' and '.', a letter or digit at both ends (S113)",
                  "site.yaml:4: labelPolicy.keys: \"team\": \"a b\" is not a label value; use "
                  "up to 63 letters, digits, '-', '_' and '.', a letter or digit at both ends "
                  "(S113)"));
}

TEST(ParseSite, ABrokenRangeOfNodesIsRefused) {
  EXPECT_THAT(
      ErrorsOf("pools:\n- name: p\n  nodes:\n  - n1\n  - n[3-1]\n"),
      ElementsAre("site.yaml:7: pools[0].nodes[1]: \"n[3-1]\" is not a list of at most 65536 "
                  "nodes such as n1 or n[1-4,7]"));
}

TEST(ParseSite, UnknownKeysAreRefused) {
  EXPECT_THAT(ErrorsOf("pool: []\n"),
              ElementsAre("site.yaml:3: pool: unknown key; did you mean pools?"));
}

}  // namespace
}  // namespace cox::spec
