#include <gmock/gmock.h>

#include <functional>

#include "unit/spec/samples.hpp"

namespace cox::spec {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TrainingJob JobOf(const std::string& text) {
  const auto job = ParseTrainingJob(text, "job.yaml");
  EXPECT_TRUE(job) << job.error().text;
  return job ? *job : TrainingJob();
}

std::string ParseError(const std::string& text) {
  const auto job = ParseTrainingJob(text, "job.yaml");
  return job ? "accepted" : job.error().text;
}

TEST(ParseJob, TheContractsOwnExampleIsRead) {
  const TrainingJob job = JobOf(kJobYaml);
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
  const Verdict verdict = Validate(JobOf(kJobYaml), site, *Resolve(site, "alice", "nlp"));
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

TEST(ParseJob, DefaultsComeFromTheSchema) {
  // What a struct says of itself and what the schema says is the same.
  TrainingJob job;
  job.generate_name = "a-";
  job.command = "python train.py";
  job.scheduling.queue = "team-shared";
  job.scheduling.flavors = {{"h200.1g", 1}};
  EXPECT_EQ(ToJson(JobOf(JobText())), ToJson(job));
  job.type = TaskType::kRayJob;
  EXPECT_EQ(ToJson(JobOf(JobText({{"/spec/type", "RayJob"}}))), ToJson(job));
}

TEST(ParseJob, DefaultsOfInnerMapsAreTheStructs) {
  const TrainingJob job = JobOf(JobText({
      {"/spec/env", {{{"name", "A"}, {"value", "x"}}}},
      {"/spec/ray/sharedStorage", {{"volume", "v"}}},
      {"/spec/scheduling/nodePolicy", {{"nodeNames", {"n1"}}}},
      {"/spec/failurePolicy/rules", {{{"action", "Fail"}}}},
      {"/spec/notifications", {{{"on", {"Failed"}}}}},
  }));
  EXPECT_EQ(job.env[0].hidden, EnvVar().hidden);
  EXPECT_EQ(job.ray.shared_storage->cleanup_on_exit, SharedStorage().cleanup_on_exit);
  EXPECT_EQ(job.scheduling.node_policy->type, JobNodePolicy().type);
  EXPECT_EQ(job.scheduling.node_policy->ttl_seconds, std::nullopt);
  EXPECT_EQ(job.failure_policy.rules[0].on_log, "");
  EXPECT_EQ(job.notifications[0].webhook, "");
}

constexpr const char* kFullRayJob = R"(
metadata: {generateName: r, project: nlp, labels: {a: b}}
spec:
  type: RayJob
  region: cn-shanghai
  cluster: auriga
  visibility: Project
  timeZone: Asia/Shanghai
  image: {ref: x, pullSecret: s, pullPolicy: {maxRetries: -1}}
  command: python main.py
  env: [{name: A, value: "b", hidden: true}]
  volumeMounts: [{volume: vol-a, mountPath: /volume/a, readOnly: true}]
  datasets: [{name: c4, version: v1, mountPath: /mnt/c4, readOnly: false}]
  models: [{name: qwen, version: v2, mountPath: /mnt/qwen, readOnly: false}]
  scheduling:
    capacityType: reserved
    queue: team-shared
    flavors: [{name: h200.1g, count: 2}, {name: h100.1g, count: 3}]
    priorityClassName: high
    preemptible: false
    idle: {accept: true, prefer: true, minStability: low}
    gang: {minMember: 4}
    nodePolicy: {type: NodeIn, nodeNames: [n1, n2], ttlSeconds: 61}
    terminationGracePeriodSeconds: 31
  replicas: {workers: 3}
  ray:
    head: {flavors: [{name: cpu.4c, count: 4}]}
    runtimeEnvYAML: "pip: [einops]"
    sharedStorage: {volume: vol-rwx, cleanupOnExit: true}
    autoscaling: {enabled: true, minReplicas: 1, maxReplicas: 5, idleTimeoutSeconds: 61, upscalingMode: Aggressive}
    debug: {enabled: true, holdSeconds: 601}
  failurePolicy:
    enabled: true
    maxRetries: 4
    policy: ExitCodeAndLog
    rules: [{onExitCodes: [42, 43], onSignals: [SIGKILL], onLog: "nan", action: Retry}]
    excludeFailedNodes: {enabled: false, ttlSeconds: 3601}
    maxPreemptionRetries: 7
    hangDetection: {enabled: true, logSilenceSeconds: 1801, gpuSignature: false,
      heartbeat: {firstSeconds: 3601, laterSeconds: 2701}, exitHangSeconds: 601, action: Event}
  ssh: {enabled: true}
  metrics: {enabled: true, port: 9101, path: /m}
  notifications: [{on: [Failed], webhook: "http://h", email: a@b}]
  timeLimitSeconds: 7200
)";

TEST(ParseJob, EveryKeyReachesItsMember) {
  const TrainingJob job = JobOf(kFullRayJob);
  EXPECT_EQ(job.type, TaskType::kRayJob);
  EXPECT_EQ(job.visibility, Visibility::kProject);
  EXPECT_EQ(job.image.pull_secret, "s");
  EXPECT_EQ(job.image.pull_max_retries, -1);
  EXPECT_TRUE(job.env[0].hidden);
  EXPECT_TRUE(job.mounts[0].read_only);
  EXPECT_FALSE(job.mounts[1].read_only);
  EXPECT_EQ(job.mounts[2].version, "v2");
  EXPECT_EQ(job.scheduling.priority, Priority::kHigh);
  EXPECT_FALSE(job.scheduling.preemptible);
  EXPECT_TRUE(job.scheduling.idle.accept);
  EXPECT_TRUE(job.scheduling.idle.prefer);
  EXPECT_EQ(job.scheduling.idle.min_stability, Stability::kLow);
  EXPECT_EQ(job.scheduling.gang_min_member, 4);
  EXPECT_EQ(job.scheduling.node_policy->type, NodePolicyType::kNodeIn);
  EXPECT_EQ(job.scheduling.termination_grace_period_seconds, 31);
  EXPECT_EQ(job.ray.head_flavors[0].count, 4);
  EXPECT_EQ(job.ray.runtime_env_yaml, "pip: [einops]");
  EXPECT_TRUE(job.ray.shared_storage->cleanup_on_exit);
  EXPECT_TRUE(job.ray.autoscaling.enabled);
  EXPECT_EQ(job.ray.autoscaling.min_replicas, 1);
  EXPECT_EQ(job.ray.autoscaling.max_replicas, 5);
  EXPECT_EQ(job.ray.autoscaling.idle_timeout_seconds, 61);
  EXPECT_EQ(job.ray.autoscaling.mode, UpscalingMode::kAggressive);
  EXPECT_TRUE(job.ray.debug_enabled);
  EXPECT_EQ(job.ray.debug_hold_seconds, 601);
  EXPECT_TRUE(job.failure_policy.enabled);
  EXPECT_EQ(job.failure_policy.max_retries, 4);
  EXPECT_EQ(job.failure_policy.policy, FailurePolicyKind::kExitCodeAndLog);
  EXPECT_THAT(job.failure_policy.rules[0].on_exit_codes, ElementsAre(42, 43));
  EXPECT_THAT(job.failure_policy.rules[0].on_signals, ElementsAre("SIGKILL"));
  EXPECT_EQ(job.failure_policy.rules[0].on_log, "nan");
  EXPECT_EQ(job.failure_policy.rules[0].action, FailureAction::kRetry);
  EXPECT_FALSE(job.failure_policy.exclude_failed_nodes);
  EXPECT_EQ(job.failure_policy.exclude_ttl_seconds, 3601);
  EXPECT_EQ(job.failure_policy.max_preemption_retries, 7);
  EXPECT_TRUE(job.failure_policy.hang_detection.enabled);
  EXPECT_EQ(job.failure_policy.hang_detection.log_silence_seconds, 1801);
  EXPECT_FALSE(job.failure_policy.hang_detection.gpu_signature);
  EXPECT_EQ(job.failure_policy.hang_detection.heartbeat_first_seconds, 3601);
  EXPECT_EQ(job.failure_policy.hang_detection.heartbeat_seconds, 2701);
  EXPECT_EQ(job.failure_policy.hang_detection.exit_hang_seconds, 601);
  EXPECT_EQ(job.failure_policy.hang_detection.action, HangAction::kEvent);
  EXPECT_TRUE(job.ssh);
  EXPECT_TRUE(job.metrics.enabled);
  EXPECT_EQ(job.metrics.port, 9101);
  EXPECT_EQ(job.metrics.path, "/m");
  EXPECT_EQ(job.notifications[0].email, "a@b");
  EXPECT_EQ(job.time_limit_seconds, 7200);
}

TEST(ParseJob, TheCanonicalTextGivesTheSameJobAgain) {
  for (const std::string& text : {std::string(kFullRayJob), std::string(kJobYaml), JobText()}) {
    const std::string canonical = ToJson(JobOf(text));
    EXPECT_EQ(ToJson(JobOf(canonical)), canonical);
  }
}

TEST(ParseJob, TheCanonicalTextHoldsEveryKeyThatWasWritten) {
  // Every leaf differs from its default in the full job, so nothing may be lost on the way.
  const auto canonical = nlohmann::json::parse(ToJson(JobOf(kFullRayJob)));
  EXPECT_EQ(canonical["spec"]["failurePolicy"]["hangDetection"]["heartbeat"]["laterSeconds"], 2701);
  EXPECT_EQ(canonical["spec"]["datasets"][0]["readOnly"], false);
  EXPECT_EQ(canonical["spec"]["scheduling"]["gang"]["minMember"], "4");
  EXPECT_EQ(canonical["spec"]["image"]["pullPolicy"]["maxRetries"], -1);
  EXPECT_EQ(canonical["spec"]["env"][0]["value"], "b");
}

TEST(ParseJob, AnIdleJobStaysValidThroughItsCanonicalText) {
  const TrainingJob job =
      JobOf(JobText({{"/spec/scheduling/capacityType", "idle"}, {"/spec/scheduling/queue", ""}}));
  const TrainingJob again = JobOf(ToJson(job));
  const Site site = SampleSite();
  EXPECT_EQ(Validate(again, site, *Resolve(site, "alice", "")).ErrorText(), "");
}

TEST(ParseJob, WhatAnIdleJobMayNotSayIsStillInItsCanonicalText) {
  const TrainingJob job = JobOf(JobText({{"/spec/scheduling/capacityType", "idle"},
                                         {"/spec/scheduling/priorityClassName", "medium"}}));
  const TrainingJob again = JobOf(ToJson(job));
  EXPECT_TRUE(again.scheduling.written.priority);
  EXPECT_FALSE(again.scheduling.written.preemptible);
}

TEST(Rules, S13_ValuesStayIntact) {
  for (const std::string value : {"a,b", "line\nline\n", "\"quoted\" 'twice'", "back\\slash",
                                  " blanks ", "", "1e-4", "010", "yes", "null", "~", "# no comment",
                                  "{\"json\": [1]}", "\ttab", "$HOME `x` %s", "\U0001F600"}) {
    const TrainingJob job = JobOf(JobText({{"/spec/env", {{{"name", "A"}, {"value", value}}}}}));
    EXPECT_EQ(job.env[0].value, value);
    EXPECT_EQ(JobOf(ToJson(job)).env[0].value, value);
  }
}

TEST(Rules, S14_UnquotedValuesStayText) {
  const TrainingJob job = JobOf(
      "metadata: {generateName: a, labels: {version: 1.10, on: true}}\n"
      "spec: {type: PyTorchJob, command: 1, env: [{name: LR, value: 1e-4}, {name: B, value: 0x10},"
      " {name: C, value: 010}, {name: D, value: yes}, {name: E, value: true}, {name: F, value: "
      "1.0},"
      " {name: G, value: 99999999999999999999}]}");
  std::vector<std::string> values;
  for (const EnvVar& env : job.env) values.push_back(env.value);
  EXPECT_THAT(values,
              ElementsAre("1e-4", "0x10", "010", "yes", "true", "1.0", "99999999999999999999"));
  EXPECT_EQ(job.labels.at("version"), "1.10");
  EXPECT_EQ(job.labels.at("on"), "true");
  EXPECT_EQ(job.command, "1");
}

TEST(ParseJob, AWordIsNotANumberOfMembers) {
  EXPECT_EQ(ParseError("metadata: {generateName: a}\nspec:\n  type: RayJob\n  command: x\n"
                       "  scheduling:\n    gang: {minMember: most}\n"),
            "job.yaml:6: spec.scheduling.gang.minMember: \"most\" is neither auto nor a number");
}

TEST(ParseJob, AStructWithBytesThatAreNotTextIsWrittenAsText) {
  TrainingJob job;
  job.command = "a\xFFz";
  EXPECT_TRUE(nlohmann::json::accept(ToJson(job)));
}

TEST(ParseJob, EveryPropertyOfTheSchemasIsDescribed) {
  const std::function<void(const nlohmann::json&, const std::string&)> check =
      [&](const nlohmann::json& schema, const std::string& path) {
        for (const char* maps : {"properties", "definitions"}) {
          if (!schema.contains(maps)) continue;
          for (const auto& [key, inner] : schema[maps].items()) {
            const bool described = inner.contains("description") || inner.contains("$ref");
            EXPECT_TRUE(described || std::string(maps) == "definitions") << path << "/" << key;
            check(inner, path + "/" + key);
          }
        }
        if (schema.contains("items")) check(schema["items"], path + "/items");
      };
  check(nlohmann::json::parse(TrainingJobSchema()), "job");
  check(nlohmann::json::parse(SiteSchema()), "site");
}

}  // namespace
}  // namespace cox::spec
