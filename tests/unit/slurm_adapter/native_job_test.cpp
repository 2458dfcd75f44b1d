#include "slurm/native_job.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/slurm_adapter/fake_slurm.hpp"

namespace cox::slurm {
namespace {

using ::testing::HasSubstr;

JobRecord Record() {
  JobRecord record;
  record.name = "Train_LLaMA.sh";
  record.partition = "train";
  record.gres_per_node = "gres:gpu:h100:8";
  record.min_nodes = 2;
  return record;
}

spec::TrainingJob Read(const JobRecord& record, const Options& options = {}) {
  auto job = NativeJob(record, options, *testing::TestSite());
  EXPECT_TRUE(job) << (job ? "" : job.error().text);
  return job ? *job : spec::TrainingJob();
}

std::string Refusal(const JobRecord& record, const Options& options = {}) {
  auto job = NativeJob(record, options, *testing::TestSite());
  return job ? "accepted" : job.error().text;
}

TEST(NativeJob, SlurmsOwnOptionsSuffice) {
  JobRecord record = Record();
  record.time_limit_min = 90;
  record.account = "nlp";
  const auto job = Read(record);
  EXPECT_EQ(job.generate_name, "train-llama-sh-");
  EXPECT_EQ(job.workers, 1);
  EXPECT_EQ(job.project, "nlp");
  EXPECT_EQ(job.time_limit_seconds, 5400);
  EXPECT_EQ(job.scheduling.queue, "shared");
  ASSERT_EQ(job.scheduling.flavors.size(), 1U);
  EXPECT_EQ(job.scheduling.flavors[0].name, "h100.1g");
  EXPECT_EQ(job.scheduling.flavors[0].count, 8);
}

TEST(NativeJob, UntypedGpusMayBeAnyFlavorThatDivides) {
  JobRecord record = Record();
  record.gres_per_node = "gres:gpu:4";
  const auto job = Read(record);
  ASSERT_EQ(job.scheduling.flavors.size(), 2U);
  EXPECT_EQ(job.scheduling.flavors[0].count, 4);
  EXPECT_EQ(job.scheduling.flavors[1].name, "a100.2g");
  EXPECT_EQ(job.scheduling.flavors[1].count, 2);
}

TEST(NativeJob, WithoutGpusProcessorsAndMemoryChooseTheUnits) {
  JobRecord record = Record();
  record.gres_per_node = "";
  record.cpus_per_task = 6;
  record.mem_per_node_mib = 20000;
  const auto job = Read(record);
  ASSERT_EQ(job.scheduling.flavors.size(), 1U);
  EXPECT_EQ(job.scheduling.flavors[0].name, "cpu.4c");
  EXPECT_EQ(job.scheduling.flavors[0].count, 3);  // by memory; by processors it would be 2
}

TEST(NativeJob, WhatNoFlavorMakesUpIsRefusedWithTheListOfThem) {
  JobRecord record = Record();
  record.gres_per_node = "gres:gpu:b200:8";
  EXPECT_THAT(Refusal(record), HasSubstr("h100.1g = gpu:h100:1, 8 CPUs, 65536 MiB"));
  record.gres_per_node = "gres:gpu:h100:1";
  record.cpus_per_task = 16;  // more than the flavor of one GPU brings
  EXPECT_THAT(Refusal(record), HasSubstr("gpu:h100:1, 16 CPUs"));
}

TEST(NativeJob, ExplicitFlavorsAreTakenInTheirOrder) {
  JobRecord record = Record();
  record.gres_per_node = "";
  const auto job = Read(record, {{"flavors", "a100.2g:4,h100.1g:8"}});
  ASSERT_EQ(job.scheduling.flavors.size(), 2U);
  EXPECT_EQ(job.scheduling.flavors[0].name, "a100.2g");
  EXPECT_EQ(job.scheduling.flavors[0].count, 4);
}

TEST(NativeJob, ATypeInGresAndAnotherInTheFlavorsContradict) {
  EXPECT_THAT(Refusal(Record(), {{"flavors", "h100.1g:8,a100.2g:4"}}),
              HasSubstr("flavor a100.2g has GPUs of type a100"));
}

TEST(NativeJob, SlurmsOptionsMayAskForNoMoreThanTheNamedFlavorBrings) {
  const Options options = {{"flavors", "h100.1g:8"}};  // 8 x (8 CPUs, 64 GiB)
  JobRecord record = Record();
  record.cpus_per_task = 64;
  record.mem_per_node_mib = int64_t{512} * 1024;
  Read(record, options);
  record.cpus_per_task = 65;
  record.mem_per_node_mib += 1;
  record.gres_per_node = "gres:gpu:h100:4";
  const std::string text = Refusal(record, options);
  EXPECT_THAT(text, HasSubstr("--cpus-per-task=65 for 1 tasks a node: more than h100.1g:8 brings, "
                              "64 CPUs"));
  EXPECT_THAT(text, HasSubstr("--mem=524289M a node: more than h100.1g:8 brings, 524288M"));
  EXPECT_THAT(text, HasSubstr("--gres=gpu:4: h100.1g:8 brings 8 GPUs"));
  record = Record();
  record.tasks_per_node = 8;
  record.cpus_per_task = 8;
  record.mem_per_cpu_mib = 8192;
  Read(record, options);
  record.mem_per_cpu_mib = 8193;
  EXPECT_THAT(Refusal(record, options), HasSubstr("--mem="));
}

TEST(NativeJob, WhatIsNoGpuOrNotPerNodeIsRefused) {
  JobRecord record = Record();
  record.gres_per_node = "gres:gpu:h100:8,gres:nvme:1";
  EXPECT_THAT(Refusal(record), HasSubstr("--gres=nvme:1: only GPUs are given here"));
  record = Record();
  record.gres_elsewhere = "gres:nvme:2";
  EXPECT_THAT(Refusal(record), HasSubstr("gres:nvme:2: GPUs are given per node"));
}

TEST(NativeJob, TasksAreTheSameOnEveryNode) {
  JobRecord record = Record();  // two nodes
  record.tasks = 7;
  EXPECT_THAT(Refusal(record), HasSubstr("--ntasks=7: 2 nodes cannot have the same number"));
  record.tasks = 4;
  record.tasks_per_node = 4;
  EXPECT_THAT(Refusal(record), HasSubstr("2 nodes would have 8 tasks; leave out --ntasks"));
  record.tasks = 8;
  Read(record);
  record.min_nodes = 1;  // as sbatch counts them before --cox-workers
  record.tasks = 4;
  EXPECT_EQ(Read(record, {{"workers", "1"}}).workers, 1);
}

TEST(NativeJob, EachOptionReachesItsField) {
  const auto job = Read(Record(), {{"type", "ray"},
                                   {"project", "vision"},
                                   {"visibility", "project"},
                                   {"label", "a=1,b=2"},
                                   {"time-zone", "Asia/Shanghai"},
                                   {"image", "reg/x:1"},
                                   {"image-retries", "-1"},
                                   {"metrics-port", "9200"},
                                   {"metrics-path", "/m"},
                                   {"queue", "gold"},
                                   {"workers", "1"},
                                   {"gang-min", "2"},
                                   {"accept-idle", "true"},
                                   {"prefer-idle", "true"},
                                   {"idle-stability", "high"},
                                   {"priority", "high"},
                                   {"grace", "60"},
                                   {"topology-required", "rack"},
                                   {"topology-preferred", "block"},
                                   {"spread", "true"},
                                   {"node-not-in", "n[1-2]"},
                                   {"node-ttl", "600"},
                                   {"max-retries", "5"},
                                   {"failure-policy", "on-infra-failure"},
                                   {"max-preemption-retries", "2"},
                                   {"hang-silence", "900"},
                                   {"region", "r"},
                                   {"cluster", "c"}});
  EXPECT_EQ(job.type, spec::TaskType::kRayJob);
  EXPECT_EQ(job.project, "vision");
  EXPECT_EQ(job.visibility, spec::Visibility::kProject);
  EXPECT_EQ(job.labels.at("b"), "2");
  EXPECT_EQ(job.image.pull_max_retries, -1);
  EXPECT_EQ(job.metrics.port, 9200);
  EXPECT_EQ(job.scheduling.queue, "gold");
  EXPECT_EQ(job.scheduling.gang_min_member, 2);
  EXPECT_TRUE(job.scheduling.idle.prefer);
  EXPECT_TRUE(job.scheduling.written.idle_min_stability);
  EXPECT_EQ(job.scheduling.priority, spec::Priority::kHigh);
  EXPECT_TRUE(job.scheduling.written.priority);
  EXPECT_EQ(job.scheduling.termination_grace_period_seconds, 60);
  EXPECT_EQ(job.scheduling.topology, (spec::Topology{"rack", "block"}));
  EXPECT_TRUE(job.scheduling.spread);
  ASSERT_TRUE(job.scheduling.node_policy);
  EXPECT_EQ(job.scheduling.node_policy->node_names.size(), 2U);
  EXPECT_EQ(job.scheduling.node_policy->ttl_seconds, 600);
  EXPECT_TRUE(job.failure_policy.enabled);
  EXPECT_EQ(job.failure_policy.policy, spec::FailurePolicyKind::kOnInfraFailure);
  EXPECT_EQ(job.failure_policy.hang_detection.log_silence_seconds, 900);
}

TEST(NativeJob, ItsOptionsMakeTheSameJobAgain) {
  JobRecord bare;
  bare.partition = "train";
  bare.min_nodes = 2;
  for (const Options& options :
       {Options{{"guarantee", "true"}, {"priority", "high"}, {"max-retries", "5"}},
        Options{{"capacity-type", "idle"}, {"idle-stability", "high"}, {"grace", "7"}},
        Options{{"topology-required", "rack"}, {"spread", "true"}},
        Options{{"topology-preferred", "rack"}},
        Options{{"accept-idle", "true"},
                {"prefer-idle", "true"},
                {"node-not-in", "n[1-2]"},
                {"node-ttl", "600"},
                {"project", "nlp"}}}) {
    const Options complete = OptionsOf(Read(Record(), options));
    for (const auto& [key, value] : options) EXPECT_EQ(complete.at(key), value) << key;
    EXPECT_EQ(OptionsOf(Read(bare, complete)), complete);
  }
}

TEST(NativeJob, AGuaranteeIsWrittenDownAsOne) {
  EXPECT_FALSE(Read(Record(), {{"guarantee", "true"}}).scheduling.preemptible);
  EXPECT_TRUE(Read(Record()).scheduling.preemptible);
}

TEST(NativeJob, IdleAndSpotNameNoPool) {
  EXPECT_EQ(Read(Record(), {{"capacity-type", "idle"}}).scheduling.queue, "");
}

TEST(NativeJob, SlurmsNodeListsAreANodePolicy) {
  JobRecord record = Record();
  record.excluded_nodes = {"n9"};
  EXPECT_EQ(Read(record).scheduling.node_policy->type, spec::NodePolicyType::kNodeNotIn);
  record.required_nodes = {"n1"};
  EXPECT_THAT(Refusal(record), HasSubstr("only one of"));
}

TEST(NativeJob, EveryMistakeIsNamedAtOnceAndInTheUsersWords) {
  JobRecord record = Record();
  record.max_nodes = 5;
  record.not_ours = {"--dependency=afterok:7"};
  const std::string text =
      Refusal(record, {{"priority", "hihg"}, {"grace", "soon"}, {"colour", "red"}});
  EXPECT_THAT(text, HasSubstr("--cox-priority=hihg: must be one of high, medium, low"));
  EXPECT_THAT(text, HasSubstr("--cox-grace=soon: must be a whole number"));
  EXPECT_THAT(text, HasSubstr("--cox-colour=red: is not an option"));
  EXPECT_THAT(text, HasSubstr("--nodes=2-5"));
  EXPECT_THAT(text, HasSubstr("--dependency=afterok:7: cannot be used"));
}

TEST(NativeJob, WorkersAndNodesMustAgree) {
  EXPECT_THAT(Refusal(Record(), {{"workers", "3"}}), HasSubstr("--nodes says 2"));
  JobRecord record = Record();
  record.min_nodes = 1;
  EXPECT_EQ(Read(record, {{"workers", "3"}}).workers, 3);
}

TEST(Regress, AFewBytesDoNotNameMillionsOfNodes) {
  std::string list;
  for (int i = 0; i < 100; ++i) list += "m" + std::to_string(i) + "x[1-60000],";
  EXPECT_EQ(ExpandNodes(list).size(), kMostNodes + 1);
}

TEST(Regress, ANodeListOfNothingIsNotTakenForNone) {
  EXPECT_THAT(Refusal(Record(), {{"node-in", ",,,"}}),
              HasSubstr("--cox-node-in=,,,: names no node"));
  EXPECT_THAT(Refusal(Record(), {{"node-not-in", ""}, {"node-ttl", "600"}}),
              HasSubstr("--cox-node-not-in=: names no node"));
}

TEST(Regress, NumbersBeyondReasonAreRefusedNotWrapped) {
  const std::string most = std::to_string(INT64_MAX);
  for (const char* option : {"workers", "grace", "max-retries", "hang-silence", "image-retries"}) {
    EXPECT_THAT(Refusal(Record(), {{option, most}}), HasSubstr("at most 1000000000")) << option;
  }
  JobRecord record = Record();
  for (const char* gres : {"gres:gpu:-1", "gres:gpu:9223372036854775807,gres:gpu:2",
                           "gres:gpu:h100:-3,gres:gpu:h100:4"}) {
    record.gres_per_node = gres;
    EXPECT_THAT(Refusal(record), HasSubstr("is not a number of GPUs")) << gres;
  }
  record = Record();
  record.mem_per_cpu_mib = INT64_MAX / 1000;
  record.cpus_per_task = 65535;
  record.tasks_per_node = INT32_MAX;
  EXPECT_THAT(Refusal(record), HasSubstr("no flavor of pool"));
}

TEST(NativeJob, ManagedPartitionsAreThoseOfThePools) {
  const auto site = testing::TestSite();
  EXPECT_TRUE(IsManaged(*site, "train"));
  EXPECT_FALSE(IsManaged(*site, "foreign"));
  EXPECT_FALSE(IsManaged(*site, ""));
}

}  // namespace
}  // namespace cox::slurm
