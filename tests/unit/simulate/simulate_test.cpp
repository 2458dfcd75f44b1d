#include "unit/simulate/fixture.hpp"

namespace cox::simulate::test {
namespace {

using testing::HasSubstr;

const std::string kSite =
    "region: r\ncluster: c\n"
    "flavors: [{name: g8, gpuType: '', gpus: '8', cpus: '1', memory: 1Gi}]\n"
    "pools: [{name: main}]\n"
    "plugins:\n"
    "  - {path: quota_tree.so, config: {missing_quota: {reserved: allow}}}\n"
    "  - {path: priority_multifactor.so}\n"
    "  - {path: node_policy.so}\n"
    "  - {path: fault_tolerance.so}\n";

TraceJob Wall(TraceJob job) {
  job.wall = job.run;
  return job;
}

TEST(Simulate, JobsRunAsLongAsTheTraceSaysAndWaitForRoom) {
  const Record r = Played(Cluster(1, {Job("A", 0, 8, 10), Job("B", 3, 8, 5), Job("C", 4, 4, 5)}));
  EXPECT_EQ(Runs(r), "A 0-10; B 10-15; C 15-20");
  EXPECT_EQ(r.jobs[1].start, 10);
  EXPECT_EQ(r.jobs[1].end, 15);
  EXPECT_EQ(r.until, 20);
}

TEST(Simulate, AJobOfManyGpusTakesAsFewEqualNodesAsHoldIt) {
  const Record r = Played(Cluster(4, {Job("A", 0, 24, 10), Job("B", 1, 12, 10)}));
  ASSERT_EQ(r.runs.size(), 2U);
  EXPECT_EQ(r.runs[0].nodes.size(), 3U);
  EXPECT_EQ(r.jobs[1].replicas, 2);
  EXPECT_EQ(r.jobs[1].need.gpu_milli, 6000);
  EXPECT_EQ(r.runs[1].start, 10) << "one node is left, it needs two";
}

TEST(Simulate, KnownWallTimesAllowBackfillAndTheBaselineHasNone) {
  const Workload w =
      Cluster(2, {Wall(Job("A", 0, 8, 100)), Wall(Job("B", 1, 16, 50)), Wall(Job("C", 2, 8, 90))});
  EXPECT_EQ(Runs(Played(w)), "A 0-100; C 2-92; B 100-150");
  EXPECT_EQ(Runs(Played(w, "", true)), "A 0-100; B 100-150; C 150-240");
}

TEST(Simulate, TheBaselineLetsEachPoolHaveItsOwnLine) {
  Workload w = Cluster(1, {});
  w.nodes = Good(ReadNodes({"a=1x8", "b=1x8"}, ReadFile));
  for (const char* id : {"A1", "A2", "B1"}) {
    TraceJob job = Job(id, 0, 8, 10);
    job.pool = std::string(1, static_cast<char>(id[0] - 'A' + 'a'));
    w.jobs.push_back(job);
  }
  std::string site = kSite;
  site.replace(site.find("[{name: main}]"), 14, "[{name: a}, {name: b}]");
  EXPECT_EQ(Runs(Played(w, site, true)), "A1 0-10; B1 0-10; A2 10-20");
}

TEST(Simulate, AnEvictedJobComesBackAndWhatItLostIsCounted) {
  TraceJob spot = Job("S", 0, 8, 1000);
  spot.capacity = spec::CapacityType::kSpot;
  const Workload w = Cluster(1, {spot, Job("R", 500, 8, 100)});
  const Record r = Played(w);
  // 30 s of grace, then R; S waits for its back-off and for R, and begins anew.
  EXPECT_EQ(Runs(r), "S 0-530!; R 530-630; S 630-1630");
  EXPECT_EQ(r.jobs[0].evictions, 1);
  EXPECT_EQ(r.runs[0].lost, 530);
  const Report report = Measure(r);
  EXPECT_EQ(report.all.evictions, 1);
  EXPECT_NEAR(report.all.lost_unit_hours, 530.0 * 8 / 3600, 1e-9);
}

TEST(Simulate, WithCheckpointsOnlyTheLastPieceIsLost) {
  TraceJob spot = Job("S", 0, 8, 1000);
  spot.capacity = spec::CapacityType::kSpot;
  const Workload w = Cluster(1, {spot, Job("R", 500, 8, 100)});
  Settings settings = Defaults();
  settings.checkpoint_seconds = 200;
  const Record r = Played(w, "", false, settings);
  EXPECT_EQ(Runs(r), "S 0-530!; R 530-630; S 630-1230");
  EXPECT_EQ(r.runs[0].lost, 130);
}

TEST(Simulate, WhatNeverFitsWaitsAndTheEndComesAllTheSame) {
  const Record r = Played(Cluster(1, {Job("A", 0, 16, 10), Job("B", 1, 8, 10)}));
  const Report report = Measure(r);
  EXPECT_EQ(report.all.never_started, 1);
  EXPECT_EQ(report.all.ended, 1);
  EXPECT_LT(r.until, 400'000);
}

TEST(Simulate, WhatTheSiteRefusesIsNamed) {
  const std::string site = kSite + "quotas: [{tenant: all, pool: main, flavor: g8, units: 1}]\n";
  const Record r = Played(Cluster(2, {Job("A", 0, 16, 10), Job("B", 1, 8, 10)}), site);
  EXPECT_THAT(r.jobs[0].refused, HasSubstr("quota check failed"));
  EXPECT_EQ(Runs(r), "B 1-11");
  EXPECT_EQ(Measure(r).all.refused, 1);
}

TEST(Simulate, ASiteWithoutTheRightFlavorGetsOneAndSaysSo) {
  const Record r = Played(Cluster(1, {Job("A", 0, 8, 10), Job("B", 0, 1, 10)}), kSite);
  EXPECT_EQ(Runs(r), "A 0-10; B 10-20");
  ASSERT_EQ(r.notes.size(), 1U);
  EXPECT_THAT(r.notes[0], HasSubstr("1 flavor was added"));
}

TEST(Simulate, TenantsOfTheTraceAreTenantsOfTheSite) {
  Workload w = Cluster(2, {Job("A", 0, 8, 10), Job("B", 0, 8, 10), Job("C", 0, 8, 10)});
  w.jobs[0].tenant = w.jobs[1].tenant = "small";
  w.jobs[2].tenant = "large";
  for (TraceJob& job : w.jobs) job.user = "ann";  // in both
  const std::string site = kSite +
                           "quotas:\n  - {tenant: small, pool: main, flavor: g8, units: 1}\n"
                           "  - {tenant: large, pool: main, flavor: g8, units: 9}\n";
  const Record r = Played(w, site);
  EXPECT_EQ(Runs(r), "A 0-10; C 0-10; B 10-20");
  EXPECT_EQ(r.jobs[0].user, "ann");
  EXPECT_EQ(r.jobs[2].user, "ann@large");
}

TEST(Simulate, UsersOfTheSiteKeepTheirTenantAndDedicatedPoolsServeTheirs) {
  Workload w = Cluster(1, {Job("A", 0, 8, 10), Job("B", 0, 8, 10)});
  w.nodes = Good(ReadNodes({"own=1x8", "open=1x8"}, ReadFile));
  w.jobs[0].user = "viktor";
  w.jobs[0].project = "gone";
  w.jobs[1].user = "ann";
  std::string site = kSite + "users: [{name: viktor, tenant: vision, projects: [v]}]\n";
  site.replace(site.find("[{name: main}]"), 14,
               "[{name: open}, {name: own, isolation: dedicated, tenant: vision}]");
  const Record r = Played(w, site);
  EXPECT_EQ(Runs(r), "A 0-10; B 0-10");
  EXPECT_EQ(r.jobs[0].tenant, "vision");
  EXPECT_EQ(r.nodes[r.runs[0].nodes[0]].name, "n1");
  EXPECT_EQ(r.nodes[r.runs[1].nodes[0]].name, "n2");
}

TEST(Simulate, PartsOfGpusAndModelsArePlacedWhereTheyFit) {
  Workload w = Trace("openb.csv");
  w.nodes = Good(ReadNodes({kTraces + "openb_nodes.csv"}, ReadFile));
  const Record r = Played(w);
  EXPECT_EQ(Measure(r).all.never_started, 0);
  EXPECT_EQ(Measure(r).all.ended, 4);
}

TEST(Simulate, SwfProcessorsAreGpusWhereTheNodesHaveSome) {
  Workload w = Trace("small.swf");
  EXPECT_EQ(Measure(Played(w)).unit, "CPU");
  w.nodes = Good(ReadNodes({"4x8"}, ReadFile));
  const Record r = Played(w);
  EXPECT_EQ(Measure(r).unit, "GPU");
  EXPECT_EQ(r.jobs[2].replicas, 4);
}

TEST(Simulate, AScenarioIsPlayedWithItsEvents) {
  const Workload w =
      Good(ReadTrace("s.yaml",
                     "nodes: [{name: n1}]\n"
                     "jobs: [{id: S, capacity: spot, run: 9}, {id: H, at: 5, run: 4}]\n"
                     "events: [{at: 7, cancel: H}]\n",
                     "", ReadFile));
  const Record r = Played(w);
  EXPECT_EQ(Runs(r), "S 0-5!; H 5-7");
  EXPECT_EQ(Measure(r).all.evictions, 1);
  EXPECT_THAT(ErrorOf(Simulate(w, {"fifo", "", true}, Defaults())), HasSubstr("no strict FIFO"));
}

// The same jobs by the loop (a scenario) and by the engine (a trace): decision 0081.
TEST(Simulate, AgreesWithTheLoopOnAScenario) {
  const std::string jobs =
      "  - {id: A, size: 1x8, run: 100}\n"
      "  - {id: B, at: 1, size: 2x8, run: 50}\n"
      "  - {id: C, at: 2, size: 1x8, run: 90}\n"
      "  - {id: D, at: 3, size: 1x4, run: 300, priority: low}\n"
      "  - {id: E, at: 4, size: 1x8, run: 20, priority: high}\n";
  const Workload scenario =
      Good(ReadTrace("s.yaml", "nodes: [{name: \"n[1-2]\"}]\ndefaults: {grace: 30}\njobs:\n" + jobs,
                     "", ReadFile));
  Workload trace =
      Cluster(2, {Wall(Job("A", 0, 8, 100)), Wall(Job("B", 1, 16, 50)), Wall(Job("C", 2, 8, 90)),
                  Wall(Job("D", 3, 4, 300)), Wall(Job("E", 4, 8, 20))});
  trace.jobs[3].priority = spec::Priority::kLow;
  trace.jobs[4].priority = spec::Priority::kHigh;
  const Record by_loop = Played(scenario), by_engine = Played(trace);
  ASSERT_EQ(by_loop.jobs.size(), by_engine.jobs.size());
  for (size_t i = 0; i < by_loop.jobs.size(); ++i) {
    EXPECT_EQ(by_loop.jobs[i].start, by_engine.jobs[i].start) << by_loop.jobs[i].id;
    EXPECT_EQ(by_loop.jobs[i].evictions, by_engine.jobs[i].evictions) << by_loop.jobs[i].id;
  }
}

TEST(Simulate, TheSameTwiceIsTheSame) {
  const Workload w = Cluster(2, {Job("A", 0, 3, 10), Job("B", 0, 16, 5), Job("C", 1, 2, 7)});
  EXPECT_EQ(Runs(Played(w)), Runs(Played(w)));
}

TEST(Simulate, ProgressIsTold) {
  std::vector<TraceJob> jobs;
  for (int i = 0; i < 400; ++i) jobs.push_back(Job("", i * 10, 8, 5));
  Settings settings = Defaults();
  size_t came = 0;
  settings.progress = [&](const Progress& p) { came = p.came; };
  Played(Cluster(1, jobs), "", false, settings);
  EXPECT_GT(came, 0U);
}

TEST(Simulate, NodesMustBeKnown) {
  Workload w = Trace("philly.csv");
  EXPECT_THAT(ErrorOf(Simulate(w, {"it", "", false}, Defaults())), HasSubstr("say --nodes 16x8"));
}

TEST(Simulate, OnlyOneTenantIsKeptWhenAsked) {
  Workload w = Trace("philly.csv");
  EXPECT_EQ(ErrorOf(KeepTenant(w, "x")),
            "no job of philly.csv is of tenant x; there are 11cb48, 6214e9");
  ASSERT_TRUE(KeepTenant(w, "11cb48"));
  EXPECT_EQ(w.jobs.size(), 2U);
}

}  // namespace
}  // namespace cox::simulate::test
