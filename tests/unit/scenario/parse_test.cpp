// What a scenario file may say, and what is said about one that is wrong.
#include "unit/scenario/play.hpp"

namespace cox::scenario::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(ScenarioParse, AScenarioNeedsNoSite) {
  const Scenario s = Parsed(Lines({
      "title: small",
      "nodes: [{name: 'n[1-2]'}, {name: c1, gpus: 0}]",
      "jobs: [{id: A, size: 2x4, run: 10}]",
  }));
  EXPECT_EQ(s.title, "small");
  ASSERT_EQ(s.nodes.size(), 3U);
  EXPECT_EQ(s.nodes[0].capacity, (Resources{256'000, 4096 * 1024, 8'000}));
  EXPECT_EQ(s.nodes[0].gpu_type, "gpu");
  EXPECT_EQ(s.nodes[2].gpu_type, "");
  EXPECT_THAT(s.nodes[0].pools, ElementsAre("main"));
  ASSERT_EQ(s.jobs.size(), 1U);
  const spec::TrainingJob& job = *s.jobs[0].job;
  EXPECT_EQ(job.workers, 1);
  EXPECT_EQ(job.scheduling.flavors.front().name, "gpu");
  EXPECT_EQ(job.scheduling.flavors.front().count, 4);
  EXPECT_EQ(job.scheduling.queue, "main");
  EXPECT_EQ(job.time_limit_seconds, 10);
  EXPECT_EQ(s.jobs[0].run, 10);
}

TEST(ScenarioParse, RunAndWallStandForEachOtherUnlessBothAreGiven) {
  const Scenario s = Parsed(Lines({
      "nodes: [{name: n1}]",
      "jobs:",
      "- {id: both, run: 5, wall: 10}",
      "- {id: wall, wall: 10}",
      "- {id: none}",
      "- {id: unknown, run: 5, wall: unknown}",
      "- {id: instant, run: 0}",
  }));
  EXPECT_EQ(s.jobs[0].run, 5);
  EXPECT_EQ(s.jobs[0].job->time_limit_seconds, 10);
  EXPECT_EQ(s.jobs[1].run, 10);
  EXPECT_EQ(s.jobs[2].run, std::nullopt);
  EXPECT_EQ(s.jobs[2].job->time_limit_seconds, std::nullopt);
  EXPECT_EQ(s.jobs[3].run, 5);
  EXPECT_EQ(s.jobs[3].job->time_limit_seconds, std::nullopt);
  EXPECT_EQ(s.jobs[4].run, 0);
}

TEST(ScenarioParse, DefaultsHoldForJobsThatDoNotSayOtherwise) {
  const Scenario s = Parsed(Lines({
      "nodes: [{name: n1}]",
      "defaults: {capacity: spot, retries: 2, user: u1, grace: 7}",
      "jobs: [{id: A}, {id: B, capacity: idle, user: u2}]",
  }));
  EXPECT_EQ(s.jobs[0].job->scheduling.capacity_type, spec::CapacityType::kSpot);
  EXPECT_EQ(s.jobs[0].user, "u1");
  EXPECT_EQ(s.jobs[1].job->scheduling.capacity_type, spec::CapacityType::kIdle);
  EXPECT_EQ(s.jobs[1].user, "u2");
  for (const Job& job : s.jobs) {
    EXPECT_TRUE(job.job->failure_policy.enabled);
    EXPECT_EQ(job.job->failure_policy.max_retries, 2);
    EXPECT_EQ(job.job->scheduling.termination_grace_period_seconds, 7);
  }
}

TEST(ScenarioParse, ShortKeysBecomeAJobFileAndItsOwnKeysWin) {
  const Scenario s = Parsed(Lines({
      "nodes: [{name: n1, gpuType: a}, {name: n2, gpuType: b}]",
      "jobs:",
      "- {id: A, size: 3x2, flavors: [b, a], priority: high, guaranteed: true, only: n2}",
      "- {id: B, not: 'n[1-2]', project: p, pool: main, capacity: on-demand}",
      "- id: C",
      "  spec: {type: RayJob, replicas: {workers: 7}, ray: {head: {flavors: [{name: cpu}]}}}",
  }));
  const spec::Scheduling& a = s.jobs[0].job->scheduling;
  EXPECT_EQ(a.flavors[0].name, "b");
  EXPECT_EQ(a.flavors[1].name, "a");
  EXPECT_EQ(a.flavors[1].count, 2);
  EXPECT_EQ(a.priority, spec::Priority::kHigh);
  EXPECT_FALSE(a.preemptible);
  ASSERT_TRUE(a.node_policy);
  EXPECT_EQ(a.node_policy->type, spec::NodePolicyType::kNodeIn);
  EXPECT_THAT(s.jobs[1].job->scheduling.node_policy->node_names, ElementsAre("n1", "n2"));
  EXPECT_EQ(s.jobs[1].job->project, "p");
  EXPECT_EQ(s.jobs[1].job->scheduling.queue, "main");
  EXPECT_EQ(s.jobs[2].job->type, spec::TaskType::kRayJob);
  EXPECT_EQ(s.jobs[2].job->workers, 7);
}

TEST(ScenarioParse, ARepeatedJobIsASeriesOfJobs) {
  const Scenario s = Parsed(Lines({
      "nodes: [{name: n1}]",
      "jobs: [{id: s, repeat: 3, every: 5, at: 1}, {id: x, at: 2}]",
  }));
  std::vector<std::pair<std::string, int64_t>> jobs;
  for (const Job& job : s.jobs) jobs.emplace_back(job.id, job.at);
  using P = std::pair<std::string, int64_t>;
  EXPECT_THAT(jobs, ElementsAre(P{"s0", 1}, P{"x", 2}, P{"s1", 6}, P{"s2", 11}));
}

TEST(ScenarioParse, APoolFindsItsNodesByNameByLabelOrByWhatTheNodeSays) {
  const Scenario s = Parsed(Lines({
      "site:",
      "  pools:",
      "  - {name: named, nodes: [n1]}",
      "  - {name: labelled, nodeSelector: {zone: a}}",
      "  - {name: partition, partition: p}",
      "  - {name: all}",
      "nodes: [{name: n1}, {name: n2, labels: {zone: a, x: y}}, {name: n3, pools: [partition]}]",
      "jobs: []",
  }));
  EXPECT_THAT(s.nodes[0].pools, ElementsAre("named", "all"));
  EXPECT_THAT(s.nodes[1].pools, ElementsAre("labelled", "all"));
  EXPECT_THAT(s.nodes[2].pools, ElementsAre("partition"));
}

TEST(ScenarioParse, ASiteFileIsReadFromTheScenariosFolderAndItsPartsCanBeReplaced) {
  const auto read = [](const std::string& path) -> Result<std::string> {
    if (path != "dir/site.yaml") return NotFound(path);
    return std::string("{region: r, cluster: c, org: o, pools: [{name: p}]}");
  };
  const std::string rest = "nodes: [{name: n1}]\njobs: []\n";
  const auto plain = Parse("site: {from: site.yaml}\n" + rest, "dir/s.yaml", read);
  ASSERT_TRUE(plain) << plain.error().text;
  EXPECT_EQ(plain->site_position, "dir/site.yaml");
  EXPECT_THAT(plain->nodes[0].pools, ElementsAre("p"));
  const auto changed =
      Parse("site: {from: site.yaml, pools: [{name: q}]}\n" + rest, "dir/s.yaml", read);
  ASSERT_TRUE(changed) << changed.error().text;
  EXPECT_THAT(changed->nodes[0].pools, ElementsAre("q"));
  EXPECT_THAT(changed->site_text, HasSubstr("\"org\":\"o\""));
  EXPECT_EQ(Parse("site: {from: gone.yaml}\n" + rest, "dir/s.yaml", read).error().text,
            "dir/gone.yaml");
  EXPECT_EQ(Parse("site: {from: 7}\n" + rest, "s.yaml", read).error().text,
            "s.yaml:1: site.from: must be the name of a site file");
  const auto broken = [](const std::string&) -> Result<std::string> { return std::string("]"); };
  EXPECT_FALSE(Parse("site: {from: site.yaml}\n" + rest, "s.yaml", broken));
}

TEST(ScenarioParse, MistakesAreNamedWithTheirLine) {
  const std::string head = "nodes: [{name: n1}]\n";
  EXPECT_EQ(ErrorOf("]"), ErrorOf("]"));
  EXPECT_THAT(ErrorOf("]"), HasSubstr("s.yaml:1: not YAML"));
  EXPECT_THAT(ErrorOf(head + "jobs:\n- {id: A, sise: 1x8}\n"),
              HasSubstr("s.yaml:3: jobs[0].sise: unknown key; did you mean size?"));
  EXPECT_THAT(ErrorOf(head + "jobs: [{id: A, size: big}]\n"), HasSubstr("s.yaml:2: jobs[0].size"));
  EXPECT_EQ(ErrorOf(head + "jobs:\n- {size: 1x1}\n"), "s.yaml:3: jobs[0]: needs an id");
  EXPECT_EQ(ErrorOf(head + "jobs: [{id: A}, {id: A}]\n"), "s.yaml:2: jobs: two jobs have the id A");
  EXPECT_EQ(ErrorOf("nodes: [{name: n1}, {name: 'n[1-2]'}]\njobs: []\n"),
            "s.yaml:1: nodes[1]: n1 is there already");
  EXPECT_THAT(ErrorOf("nodes: [{name: 'n[1'}]\njobs: []\n"), HasSubstr("s.yaml:1: nodes[0]: "));
  EXPECT_EQ(ErrorOf(head + "jobs: [{id: A, wall: soon}]\n"),
            "s.yaml:2: jobs[0]: wall is a number of seconds, or the word unknown");
  EXPECT_EQ(ErrorOf(head + "jobs: [{id: A, only: n1, not: n2}]\n"),
            "s.yaml:2: jobs[0]: has both only and not; a job has one rule");
}

TEST(ScenarioParse, JobsAndSitesAreJudgedByTheirOwnSchemasOnTheirOwnLines) {
  EXPECT_THAT(ErrorOf(Lines({
                  "nodes: [{name: n1}]",
                  "jobs:",
                  "- id: A",
                  "  spec:",
                  "    scheduling:",
                  "      capacityTipe: spot",
              })),
              HasSubstr("s.yaml:6: spec.scheduling.capacityTipe: unknown key"));
  EXPECT_THAT(ErrorOf("nodes: [{name: n1}]\njobs: [{id: A, spec: {scheduling: 3}}]\n"),
              HasSubstr("s.yaml:2: spec.scheduling: 3 is not a map"));
  EXPECT_THAT(ErrorOf(Lines({
                  "nodes: [{name: n1}]",
                  "site:",
                  "  quotas:",
                  "  - {tenant: a, pool: main, flavor: gpu, units: -1}",
                  "jobs: []",
              })),
              HasSubstr("s.yaml:4: quotas[0].units: -1 is below the minimum 0"));
}

TEST(ScenarioParse, AnEventIsOneThingAndNamesWhatThereIs) {
  const std::string head = "nodes: [{name: n1}]\njobs: [{id: Ab}]\nevents:\n";
  EXPECT_EQ(ErrorOf(head + "- {at: 1}\n"),
            "s.yaml:4: events[0]: says nothing that happens; see docs/scenarios.md");
  EXPECT_EQ(ErrorOf(head + "- {at: 1, up: n1, cancel: Ab}\n"),
            "s.yaml:4: events[0]: is two things at once: cancel and up; write two events");
  EXPECT_EQ(ErrorOf(head + "- {at: 1, cancel: Abc}\n"),
            "s.yaml:4: events[0]: no job has the id Abc; did you mean Ab?");
  EXPECT_EQ(ErrorOf(head + "- {at: 1, down: n2}\n"),
            "s.yaml:4: events[0]: no node has the name n2");
  EXPECT_EQ(ErrorOf(head + "- {at: 1, policy: {nodes: n1, until: 5}}\n"),
            "s.yaml:4: events[0].policy: is for one user or for one tenant; write one of the two");
  EXPECT_THAT(ErrorOf(head + "- {at: 1, reload: {qotas: []}}\n"),
              HasSubstr("s.yaml:4: events[0]: after this reload the site is wrong: "));
}

TEST(ScenarioParse, ExpectationsNameWhatThereIs) {
  const std::string head = "nodes: [{name: n1}]\njobs: [{id: A}]\nexpect:\n";
  EXPECT_EQ(ErrorOf(head + "  jobs:\n    Z: {start: 1}\n"),
            "s.yaml:5: expect.jobs.Z: no job has the id Z");
  EXPECT_EQ(ErrorOf(head + "  jobs: {A: {start: later}}\n"),
            "s.yaml:4: expect.jobs.A.start: is a time, a list of times, or never");
  EXPECT_EQ(ErrorOf(head + "  at: [{t: 1, says: {Z: x}}]\n"),
            "s.yaml:4: expect.at[0]: no job has the id Z");
  EXPECT_EQ(ErrorOf(head + "  at: [{t: 1, free: {n2: 1}}]\n"),
            "s.yaml:4: expect.at[0]: no node has the name n2");
  EXPECT_EQ(ErrorOf(head + "  at: [{t: 1, running: [Z], earliest: {Y: 3}}]\n"),
            "s.yaml:4: expect.at[0]: no job has the id Y\n"
            "s.yaml:4: expect.at[0]: no job has the id Z");
}

}  // namespace
}  // namespace cox::scenario::test
