#include <gmock/gmock.h>

#include "unit/spec/samples.hpp"

namespace cox::spec {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TrainingJob Parse(const std::string& text) {
  const auto job = ParseTrainingJob(text, "job.yaml");
  EXPECT_TRUE(job) << job.error().text;
  return job ? *job : TrainingJob();
}

std::string ParseError(const std::string& text) {
  const auto job = ParseTrainingJob(text, "job.yaml");
  return job ? "accepted" : job.error().text;
}

TEST(ParseJob, TheContractsOwnExampleIsRead) {
  const TrainingJob job = Parse(kJobYaml);
  EXPECT_EQ(job.generate_name, "llama-sft-");
  EXPECT_EQ(job.labels.at("stage"), "sft");
  EXPECT_EQ(job.type, TaskType::kPyTorchJob);
  EXPECT_EQ(job.time_zone, "Asia/Shanghai");
  EXPECT_EQ(job.image.ref, "registry/x:1");
  EXPECT_EQ(job.image.pull_max_retries, std::nullopt);
  EXPECT_THAT(job.command, HasSubstr("\"$WORLD_SIZE\" --nproc_per_node"));
  ASSERT_EQ(job.mounts.size(), 3u);
  EXPECT_FALSE(job.mounts[0].read_only);
  EXPECT_TRUE(job.mounts[1].read_only);
  EXPECT_TRUE(job.mounts[2].read_only);
  EXPECT_EQ(job.mounts[2].kind, Mount::Kind::kModel);
  EXPECT_EQ(job.scheduling.flavors[1].name, "h100.1g");
  EXPECT_EQ(job.scheduling.flavors[1].count, 8);
  EXPECT_EQ(job.scheduling.node_policy->ttl_seconds, 3600);
  EXPECT_EQ(job.scheduling.gang_min_member, std::nullopt);
  EXPECT_EQ(job.workers, 3);
  EXPECT_THAT(job.notifications[0].on, ElementsAre("Failed", "Preempted"));
}

TEST(ParseJob, TheContractsOwnExampleIsValid) {
  const Site site = SampleSite();
  const Verdict verdict = Validate(Parse(kJobYaml), site, *Resolve(site, "alice", "nlp"));
  EXPECT_TRUE(verdict.accepted()) << verdict.ErrorText();
  EXPECT_THAT(Texts(verdict.warnings), ElementsAre());
}

TEST(ParseJob, ErrorsNameFileLinePathValueAndRemedy) {
  EXPECT_EQ(ParseError("metadata: {generateName: a}\n"
                       "spec:\n"
                       "  type: PyTorchJob\n"
                       "  command: x\n"
                       "  scheduling:\n"
                       "    capacityType: reservd\n"),
            "job.yaml:6: spec.scheduling.capacityType: \"reservd\" is not one of reserved, "
            "on-demand, spot, idle; did you mean reserved?");
}

TEST(ParseJob, AllErrorsComeAtOnceInTheOrderOfTheFile) {
  EXPECT_EQ(
      ParseError("metadata:\n"
                 "  generateNam: a\n"
                 "spec:\n"
                 "  type: MPIJob\n"
                 "  replicas: {workers: many}\n"
                 "  tensorboard: true\n"),
      "job.yaml:1: metadata.generateName: is required\n"
      "job.yaml:2: metadata.generateNam: unknown key; did you mean generateName?\n"
      "job.yaml:3: spec.command: is required\n"
      "job.yaml:4: spec.type: \"MPIJob\" is not one of PyTorchJob, RayJob\n"
      "job.yaml:5: spec.replicas.workers: \"many\" is not a whole number of at most 64 bits\n"
      "job.yaml:6: spec.tensorboard: unknown key; known here: cluster, command, datasets, env, "
      "failurePolicy, image, metrics, models, notifications, ray, region, replicas, "
      "scheduling, ssh, timeLimitSeconds, timeZone, type, visibility, volumeMounts");
}

}  // namespace
}  // namespace cox::spec
