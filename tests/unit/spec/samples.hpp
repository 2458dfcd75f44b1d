// A realistic site, a realistic job, and small variations of a job.
#pragma once

#include <gtest/gtest.h>

#include <initializer_list>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "spec/parse.hpp"
#include "spec/validate.hpp"

namespace cox::spec {

using Lines = std::vector<std::string>;

constexpr const char* kSiteYaml = R"(
region: cn-shanghai
cluster: auriga
org: lab
flavors:
- {name: h200.1g, gpuType: h200, gpus: 1, cpus: 16, memory: 128Gi, rdma: true}
- {name: h100.1g, gpuType: h100, gpus: 1, cpus: 16, memory: 128Gi}
- {name: cpu.4c, class: CPU, cpus: 4, memory: 16Gi}
pools:
- name: team-shared
  nodes: ["n[1-4]"]
  partition: shared
- name: vision-dedicated
  isolation: dedicated
  tenant: vision
  capacityTypes: [reserved]
  nodes: [v01]
- name: h200-only
  capacityTypes: [reserved, on-demand]
  flavors: [h200.1g]
- name: far-away
  cluster: orion
topology:
- level: block
  domains: [{name: east, nodes: ["n[1-4]"]}]
- level: rack
  domains: [{name: r1, nodes: ["n[1-2]"]}, {name: r2, nodes: [n3, n4]}]
quotas:
- {tenant: research, pool: team-shared, flavor: h200.1g, units: 32}
- {user: alice, capacityType: on-demand, flavor: h200.1g, units: 8}
users:
- {name: alice, tenant: research, projects: [nlp, speech]}
- {name: root, tenant: research, admin: true}
- {name: vera, tenant: vision, org: other}
volumes:
- {name: vol-a, id: v-0001, path: /data/a}
- {name: vol-rwx, path: /data/rwx, acl: {users: [alice]}}
- {name: vol-rwo, path: /data/rwo, accessModes: [ReadWriteOnce]}
- {name: vol-nlp, path: /data/nlp, acl: {projects: [nlp]}}
- {name: vol-vera, path: /data/vera, acl: {users: [vera]}}
- {name: vol-far, path: /data/far, cluster: orion}
envProfiles:
- user: alice
  env:
  - {name: HF_HOME, value: /volume/a/hf}
  - {name: LR, value: 1e-3}
plugins:
- path: quota_tree.so
  config:
    limits: {gpu: 64}
)";

constexpr const char* kJobYaml = R"(
apiVersion: coxswain.io/v1alpha1
kind: TrainingJob
metadata:
  generateName: llama-sft-
  project: nlp
  labels: {team: nlp, stage: sft}
spec:
  type: PyTorchJob
  region: cn-shanghai
  cluster: auriga
  visibility: Private
  timeZone: Asia/Shanghai
  image: {ref: "registry/x:1", pullSecret: "", pullPolicy: {maxRetries: null}}
  command: >-
    torchrun --master_addr "$MASTER_ADDR" --master_port "$MASTER_PORT" --nnodes "$WORLD_SIZE"
    --nproc_per_node 8 --node_rank "$RANK" train.py
  env:
  - {name: LR, value: "1e-4", hidden: false}
  volumeMounts:
  - {volume: vol-a, mountPath: /volume/a, readOnly: false}
  datasets: [{name: c4, version: v1, mountPath: /mnt/c4}]
  models:   [{name: qwen, version: v1, mountPath: /mnt/qwen}]
  scheduling:
    capacityType: reserved
    queue: team-shared
    flavors:
    - {name: h200.1g, count: 8}
    - {name: h100.1g, count: 8}
    priorityClassName: medium
    preemptible: true
    idle: {accept: false, prefer: false, minStability: medium}
    gang: {minMember: auto}
    nodePolicy: {type: NodeNotIn, nodeNames: [n1], ttlSeconds: 3600}
    terminationGracePeriodSeconds: 30
  replicas:
    workers: 3
  failurePolicy:
    enabled: false
    maxRetries: 3
    policy: OnFailure
    excludeFailedNodes: {enabled: true, ttlSeconds: 3600}
    maxPreemptionRetries: -1
    hangDetection: {enabled: false, logSilenceSeconds: 1800, gpuSignature: true, heartbeat: {}, exitHangSeconds: 600, action: Restart}
  ssh: {enabled: false}
  metrics: {enabled: false, port: 9100, path: /metrics}
  notifications: [{on: [Failed, Preempted], webhook: "http://127.0.0.1/hook"}]
)";

// One change of a job: where (a JSON pointer) and what.
struct Change {
  std::string where;
  nlohmann::json value;
};
using Changes = std::vector<Change>;

// The smallest reserved PyTorchJob that the site accepts, with changes.
inline std::string JobText(const Changes& changes = {}) {
  auto job = nlohmann::json::parse(R"({
    "metadata": {"generateName": "a-"},
    "spec": {
      "type": "PyTorchJob",
      "command": "python train.py",
      "scheduling": {"queue": "team-shared", "flavors": [{"name": "h200.1g"}]}
    }
  })");
  for (const Change& change : changes) {
    const nlohmann::json::json_pointer where(change.where);
    if (change.value.is_discarded()) {
      job[where.parent_pointer()].erase(where.back());
    } else {
      job[where] = change.value;
    }
  }
  return job.dump();
}

// Takes the key away.
inline nlohmann::json Nothing() {
  return nlohmann::json(nlohmann::json::value_t::discarded);
}

inline Site SampleSite(const std::string& more = "") {
  const auto site = ParseSite(kSiteYaml + more, "site.yaml");
  EXPECT_TRUE(site) << site.error().text;
  return site ? *site : Site();
}

inline Lines SplitLines(const std::string& text) {
  Lines lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

inline Lines Texts(const std::vector<Finding>& findings) {
  Lines lines;
  for (const Finding& f : findings) lines.push_back(f.Line());
  return lines;
}

// Everything that a submission says against a job, from the text to the last rule.
inline Lines Errors(const Changes& changes, const std::string& user = "alice",
                    const Site& site = SampleSite()) {
  const auto job = ParseTrainingJob(JobText(changes), "job");
  if (!job) return SplitLines(job.error().text);
  const auto who = Resolve(site, user, job->project);
  if (!who) return {who.error().text};
  return Texts(Validate(*job, site, *who).errors);
}

inline Lines Warnings(const Changes& changes) {
  const Site site = SampleSite();
  const auto job = ParseTrainingJob(JobText(changes), "job");
  if (!job) return SplitLines(job.error().text);
  return Texts(Validate(*job, site, *Resolve(site, "alice", "")).warnings);
}

}  // namespace cox::spec
