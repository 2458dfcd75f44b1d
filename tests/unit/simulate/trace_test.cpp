#include <unistd.h>

#include <cstdio>

#include "run/recorder.hpp"
#include "unit/simulate/fixture.hpp"

namespace cox::simulate::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string NotesOf(const Workload& workload) {
  std::string all;
  for (const std::string& note : workload.notes) all += note + "\n";
  return all;
}

TEST(Traces, SwfHasProcessorsAskedTimesAndItsMachine) {
  const Workload w = Trace("small.swf");
  EXPECT_EQ(w.format, "swf");
  EXPECT_EQ(w.origin, 1'000'000'000);
  ASSERT_EQ(w.nodes.size(), 4U);
  EXPECT_EQ(w.nodes[0].capacity.cpu_milli, 8000);
  ASSERT_EQ(w.jobs.size(), 4U);
  EXPECT_EQ(w.jobs[1].need.cpu_milli, 16'000);
  EXPECT_EQ(w.jobs[1].wall, 120);
  EXPECT_EQ(w.jobs[2].tenant, "group2");
  EXPECT_EQ(w.jobs[2].user, "user2");
  EXPECT_EQ(NotesOf(w), "1 row left out: never ran (small.swf:9)\n");
}

TEST(Traces, PhillyIsSortedAndItsVirtualClustersAreTenants) {
  const Workload w = Trace("philly.csv");
  EXPECT_EQ(w.format, "philly");
  ASSERT_EQ(w.jobs.size(), 3U);
  EXPECT_EQ(w.origin, 1'507'529'583);
  EXPECT_EQ(w.jobs[0].tenant, "6214e9");
  EXPECT_EQ(w.jobs[0].submit, 0);
  EXPECT_EQ(w.jobs[0].need.gpu_milli, 16'000);
  EXPECT_EQ(w.jobs[1].run, 100);
  EXPECT_EQ(w.jobs[2].submit, 2932);
  EXPECT_EQ(NotesOf(w), "1 row left out: duration is no number (philly.csv:4)\n");
}

TEST(Traces, AcmeInBothItsTables) {
  const Workload jobs = Trace("acme_jobs.csv");
  EXPECT_EQ(jobs.format, "acme");
  ASSERT_EQ(jobs.jobs.size(), 2U);
  EXPECT_EQ(jobs.jobs[0].replicas, 2);
  EXPECT_EQ(jobs.jobs[0].need, (Resources{32'000, 0, 8000}));
  EXPECT_EQ(jobs.jobs[0].run, 3600);
  EXPECT_EQ(jobs.jobs[1].submit, 30);
  EXPECT_EQ(jobs.jobs[1].need.gpu_milli, 0);
  EXPECT_THAT(NotesOf(jobs), HasSubstr("never ran"));
  const Workload llm = Trace("acme_llm.csv");
  EXPECT_EQ(llm.jobs[0].run, 156);
  EXPECT_EQ(llm.jobs[0].replicas, 8);
  EXPECT_EQ(llm.jobs[0].need.gpu_milli, 8000);
  EXPECT_EQ(llm.jobs[1].submit, 313);
}

TEST(Traces, OpenbPodsMayTakePartsOfAGpuAndNameItsModels) {
  const Workload w = Trace("openb.csv");
  EXPECT_EQ(w.format, "openb");
  ASSERT_EQ(w.jobs.size(), 4U);
  EXPECT_EQ(w.jobs[1].need, (Resources{6000, 12'288, 460}));
  EXPECT_EQ(w.jobs[1].run, 480) << "from when it was scheduled";
  EXPECT_EQ(w.jobs[1].priority, spec::Priority::kLow);
  EXPECT_EQ(w.jobs[2].run, 60) << "from its creation, where it never was";
  EXPECT_TRUE(w.jobs[2].guaranteed);
  EXPECT_THAT(w.jobs[2].gpu_types, ElementsAre("V100M16", "V100M32"));
  EXPECT_EQ(w.jobs[3].need.gpu_milli, 0);
}

TEST(Traces, OpenbListsWithoutTimesComeOneByOneAndStay) {
  const std::string text =
      "name,cpu_milli,memory_mib,num_gpu,gpu_milli\na,1,1,1,1000\nb,1,1,1,500\n";
  const Workload w = Good(ReadTrace("pods.csv", text, "", ReadFile));
  EXPECT_EQ(w.jobs[1].submit, 1);
  EXPECT_GT(w.jobs[0].run, 1);
  EXPECT_THAT(NotesOf(w), HasSubstr("no times"));
}

TEST(Traces, SacctHasAccountsLimitsAndTres) {
  const Workload w = Trace("sacct.txt");
  EXPECT_EQ(w.format, "sacct");
  ASSERT_EQ(w.jobs.size(), 2U);
  EXPECT_EQ(w.jobs[0].id, "101");
  EXPECT_EQ(w.jobs[0].project, "nlp");
  EXPECT_EQ(w.jobs[0].replicas, 2);
  EXPECT_EQ(w.jobs[0].need, (Resources{96'000, 524'288, 8000}));
  EXPECT_THAT(w.jobs[0].gpu_types, ElementsAre("h100"));
  EXPECT_EQ(w.jobs[0].wall, 3600);
  EXPECT_EQ(w.jobs[0].priority, spec::Priority::kHigh);
  EXPECT_EQ(w.jobs[1].capacity, spec::CapacityType::kSpot);
  EXPECT_EQ(w.jobs[1].wall, std::nullopt);
  EXPECT_EQ(w.jobs[1].need.gpu_milli, 1000);
  EXPECT_THAT(NotesOf(w), HasSubstr("never ran"));
  EXPECT_THAT(NotesOf(w), HasSubstr("still runs"));
}

TEST(Traces, SacctWithoutRawColumns) {
  const std::string text =
      "JobID|Submit|Start|End|Elapsed|Timelimit|State|ReqTRES\n"
      "1|2024-03-01T10:00:00|2024-03-01T10:00:00|2024-03-02T11:01:01|1-01:01:01|2-00:00:00|TIMEOUT|"
      "cpu=2,gres/gpu:a100=2,mem=4Gn\n"
      "2|2024-03-01T10:00:00|2024-03-01T10:00:10|2024-03-01T10:00:40|||COMPLETED|cpu=2\n";
  const Workload w = Good(ReadTrace("x", text, "", ReadFile));
  EXPECT_EQ(w.jobs[0].run, 90'061);
  EXPECT_EQ(w.jobs[0].wall, 172'800);
  EXPECT_EQ(w.jobs[0].need, (Resources{2000, 4096, 2000}));
  EXPECT_EQ(w.jobs[1].run, 30);
}

// Two jobs on a node: the first runs from 5 to 65, the second from 65 on.
std::string Recorded() {
  const std::string file = testing::TempDir() + "cox-recording-" + std::to_string(getpid());
  std::remove(file.c_str());
  const auto recorder = Good(run::Recorder::Open(file, 1 << 20));
  const run::Config config = Good(run::MakeConfig(
      "region: r\ncluster: c\nflavors: [{name: g, gpus: '1', cpus: '1', memory: 1Gi}]\n"
      "pools: [{name: main}]\n",
      "site.yaml", {}));
  model::Snapshot snapshot;
  snapshot.site = config.site;
  snapshot.nodes.emplace_back().name = "n1";
  snapshot.nodes[0].capacity = {64'000, 65'536, 8000};
  model::Candidate candidate;
  candidate.pool = "main";
  candidate.roles.push_back({model::Role::kMaster, 1, "g", 8, {8000, 8192, 8000}, ""});
  model::PendingJob first, second;
  first.id = TaskId{1};
  first.name = "first";
  first.owner = {"ann", "nlp", "lab"};
  first.submitted_at = FromSeconds(1'700'000'000);
  first.time_limit_seconds = 100;
  first.candidates = {candidate};
  first.guaranteed = true;
  second = first;
  second.id = TaskId{2};
  second.name = "second";
  second.priority = spec::Priority::kHigh;
  second.submitted_at = FromSeconds(1'700'000'010);
  const auto record = [&](int64_t second_of_it) {
    snapshot.now = FromSeconds(1'700'000'000 + second_of_it);
    ++snapshot.generation;
    recorder->Record(config, snapshot, {});
  };
  const auto running = [&](const model::PendingJob& job, int64_t started) {
    model::RunningJob row;
    row.id = job.id;
    row.name = job.name;
    row.owner = job.owner;
    row.priority = job.priority;
    row.guaranteed = job.guaranteed;
    row.submitted_at = job.submitted_at;
    row.started_at = FromSeconds(1'700'000'000 + started);
    row.placement.candidate = candidate;
    row.placement.replicas.push_back({model::Role::kMaster, 0, "n1", {8000, 8192, 8000}});
    return row;
  };
  snapshot.pending = {first};
  record(0);
  snapshot.pending = {second};
  snapshot.running = {running(first, 5)};
  record(10);
  snapshot.running = {};
  record(65);
  snapshot.pending = {};
  snapshot.running = {running(second, 65)};
  record(100);
  const std::string text = Good(ReadFile(file));
  std::remove(file.c_str());
  return text;
}

TEST(Traces, ARecordingKnowsItsSiteItsNodesAndWhenJobsRan) {
  const Workload w = Good(ReadTrace("rec", Recorded() + "{\"kind\":\"cy", "", ReadFile));
  EXPECT_EQ(w.format, "recording");
  EXPECT_EQ(w.origin, 1'700'000'000);
  EXPECT_THAT(w.site_text, HasSubstr("region: r"));
  ASSERT_EQ(w.nodes.size(), 1U);
  ASSERT_EQ(w.jobs.size(), 2U);
  EXPECT_EQ(w.jobs[0].id, "first");
  EXPECT_EQ(w.jobs[0].run, 60);
  EXPECT_EQ(w.jobs[0].wall, 100);
  EXPECT_EQ(w.jobs[0].tenant, "lab");
  EXPECT_EQ(w.jobs[1].submit, 10);
  EXPECT_EQ(w.jobs[1].run, 35);
  EXPECT_EQ(w.jobs[1].job->scheduling.priority, spec::Priority::kHigh);
  EXPECT_EQ(w.jobs[1].job->scheduling.flavors[0].count, 8);
  EXPECT_THAT(NotesOf(w), HasSubstr("1 row left out: is cut short"));
  EXPECT_THAT(NotesOf(w), HasSubstr("1 jobs still ran when the recording ended"));
}

TEST(Traces, ARecordingIsSimulatedWithItsOwnSite) {
  const Workload w = Good(ReadTrace("rec", Recorded(), "", ReadFile));
  EXPECT_EQ(Runs(Played(w)), "first 0-60; second 60-95");
}

TEST(Traces, WhatIsNoRecordingIsRefused) {
  EXPECT_EQ(ErrorOf(ReadTrace("rec", "{\"a\": 1}\n", "", ReadFile)),
            "rec:1: is neither a site nor a cycle of a recording");
}

TEST(Traces, AScenarioFileIsOneToo) {
  const Workload w =
      Good(ReadTrace("s.yaml", "nodes: [{name: n1}]\njobs: [{id: A, run: 5}]\n", "", ReadFile));
  EXPECT_EQ(w.format, "scenario");
  ASSERT_NE(w.scenario, nullptr);
  EXPECT_EQ(w.jobs.size(), 1U);
}

TEST(Traces, WhatIsNoTraceIsRefusedInWords) {
  EXPECT_EQ(ErrorOf(ReadTrace("x.txt", "hello\n", "", ReadFile)),
            "x.txt: its first line tells no format that is known; say --format");
  EXPECT_THAT(ErrorOf(ReadTrace("x.csv", "timestamp,duration,num_gpus\n", "", ReadFile)),
              HasSubstr("the trace has no job that can be simulated"));
  EXPECT_THAT(ErrorOf(ReadTrace("x.csv", "job_id,gpu_num\n\"1,2\n", "", ReadFile)),
              HasSubstr("x.csv:"));
}

TEST(Traces, TimesAreReadInTheFormsThatTracesHave) {
  EXPECT_EQ(
      ErrorOf(
          ReadTrace("x", "timestamp,duration,num_gpus\n2017-02-30 00:00:00,1,1\n", "", ReadFile)),
      "the trace has no job that can be simulated; 1 row left out: timestamp is no time (x:2)");
  const std::string text =
      "timestamp,duration,num_gpus\n2017-10-09T07:01:55.250Z,1,1\n1507532516,1,1\n"
      "2017-10-09 07:01:57+00:00,1,1\n2017-10-09 07:01:58+08:00,1,1\n";
  const Workload w = Good(ReadTrace("x", text, "", ReadFile));
  ASSERT_EQ(w.jobs.size(), 3U) << "another zone than UTC is not guessed at";
  EXPECT_EQ(w.origin, 1'507'532'515);
  EXPECT_EQ(w.jobs[2].submit, 2);
}

TEST(Nodes, AreCountedListedAndPutIntoPools) {
  const auto nodes =
      Good(ReadNodes({"2x8:h100", "cpu=1x0", "own=" + kTraces + "openb_nodes.csv"}, ReadFile));
  ASSERT_EQ(nodes.size(), 5U);
  EXPECT_EQ(nodes[1].name, "n2");
  EXPECT_EQ(nodes[1].gpu_type, "h100");
  EXPECT_EQ(nodes[2].capacity.gpu_milli, 0);
  EXPECT_THAT(nodes[2].pools, ElementsAre("cpu"));
  EXPECT_EQ(nodes[3].gpu_type, "V100M16");
  EXPECT_EQ(nodes[3].capacity, (Resources{64'000, 262'144, 2000}));
  EXPECT_THAT(nodes[4].pools, ElementsAre("own"));
}

TEST(Nodes, MistakesAreNamed) {
  EXPECT_THAT(ErrorOf(ReadNodes({"16y8"}, ReadFile)),
              HasSubstr("--nodes 16y8: is neither like 16x8 nor a list: "));
  const std::string list = kTraces + "openb_nodes.csv";
  EXPECT_EQ(ErrorOf(ReadNodes({list, list}, ReadFile)), "--nodes: two nodes are called b0");
  const auto broken = [](const std::string&) {
    return Result<std::string>(std::string("sn,cpu_milli,memory_mib,gpu\nb0,x,1,1\n"));
  };
  EXPECT_THAT(ErrorOf(ReadNodes({"list"}, broken)), HasSubstr("cpu_milli is no number"));
}

}  // namespace
}  // namespace cox::simulate::test
