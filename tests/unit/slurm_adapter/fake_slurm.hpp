// A Slurm in memory: a held job waits, a released one starts on the nodes that it requires when
// `starts` is true, a requeue makes a new restart. Just as much as the adapter relies on.
#pragma once

#include <signal.h>

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "adapter.hpp"
#include "slurm/slurm_api.hpp"
#include "spec/parse.hpp"

namespace cox::slurm::testing {

class FakeSlurm final : public Api {
 public:
  std::map<uint32_t, JobRecord> jobs;
  std::vector<NodeRecord> nodes;
  std::vector<Partition> partitions = {{"train", {"n1", "n2", "n3"}}, {"foreign", {"n1", "n2"}}};
  bool away = false, starts = true, steps = false;
  bool unchanged = false;  // since the last look
  std::string starts_on;   // other nodes than required
  std::vector<std::string> log;
  std::function<void()> between;  // what happens once one list has been read

  JobRecord& Add(uint32_t id, const std::string& comment = "cox:u-1 v1 Pending Queued") {
    JobRecord& job = jobs[id];
    job.id = id;
    job.user = "ann";
    job.name = "llama";
    job.partition = "train";
    job.admin_comment = comment;
    return job;
  }
  void AddNode(const std::string& name, const std::string& gres = "gpu:h100:8") {
    NodeRecord node;
    node.name = name;
    node.state = NodeRecord::State::kIdle;
    node.cpus = 64;
    node.mem_mib = 512000;
    node.gres = gres;
    nodes.push_back(node);
  }

  Result<std::optional<Jobs>> LoadJobs(int64_t) override {
    if (away) return Unavailable("slurmctld is away");
    if (unchanged) return std::optional<Jobs>();
    Jobs all;
    for (auto& [id, job] : jobs) all.jobs.push_back(Stepped(job));
    if (between) between();
    return std::optional(all);
  }
  Result<std::optional<Nodes>> LoadNodes(int64_t) override {
    if (away) return Unavailable("slurmctld is away");
    if (unchanged) return std::optional<Nodes>();
    const Nodes all{1, nodes};
    if (between) between();
    return std::optional(all);
  }
  Result<std::vector<Partition>> LoadPartitions() override {
    if (away) return Unavailable("slurmctld is away");
    return partitions;
  }
  Result<JobRecord> LoadJob(uint32_t id) override {
    if (away) return Unavailable("slurmctld is away");
    const auto found = jobs.find(id);
    if (found == jobs.end()) return NotFound("no such job");
    return Stepped(found->second);
  }
  Result<bool> HasSteps(uint32_t) override { return steps; }

  Result<void> Update(uint32_t id, const JobUpdate& update) override {
    if (away) return Unavailable("slurmctld is away");
    JobRecord& job = jobs[id];
    if (update.required_nodes) job.required_nodes = ExpandNodes(*update.required_nodes);
    if (update.gres_per_node) job.gres_per_node = *update.gres_per_node;
    if (update.admin_comment) job.admin_comment = *update.admin_comment;
    if (update.comment) job.comment = *update.comment;
    if (update.partition) job.partition = *update.partition;
    if (update.cpus) job.cpus = *update.cpus;
    if (update.hold || update.user_hold) job.priority = 0;
    if (update.hold || update.user_hold || update.release) job.user_hold = update.user_hold;
    if (update.release) job.priority = 4294901700;
    if (update.hold) log.push_back("hold");
    if (update.user_hold) log.push_back("user hold");
    if (update.release) log.push_back("release");
    return {};
  }
  Result<void> Signal(uint32_t id, int number, Target target) override {
    const char* names[] = {"steps", "shell", "batch", "job"};
    log.push_back("signal " + std::to_string(number) + " " + names[static_cast<int>(target)]);
    if (target == Target::kJob) jobs[id].state = JobState::kCancelled;
    return {};
  }
  Result<void> RequeueHeld(uint32_t id) override {
    log.push_back("requeue");
    JobRecord& job = jobs[id];
    job.state = JobState::kPending;
    job.nodes.clear();
    job.priority = 0;
    job.user_hold = true;
    ++job.restarts;
    return {};
  }
  Result<uint32_t> Submit(const BatchJob& job) override {
    const uint32_t id = 100 + static_cast<uint32_t>(jobs.size());
    Add(id, job.admin_comment);
    submitted = job;
    return id;
  }
  BatchJob submitted;

 private:
  JobRecord& Stepped(JobRecord& job) {
    if (starts && job.state == JobState::kPending && job.priority > 0) {
      job.state = JobState::kRunning;
      job.nodes = starts_on.empty() ? job.required_nodes : ExpandNodes(starts_on);
    }
    return job;
  }
};

class Deltas final : public DeltaSink {
 public:
  void Post(model::Delta delta) override { all.push_back(std::move(delta)); }

  template <class T>
  std::vector<T> Of() const {
    std::vector<T> found;
    for (const auto& delta : all)
      if (const T* one = std::get_if<T>(&delta)) found.push_back(*one);
    return found;
  }
  std::vector<model::Delta> all;
};

class FakeClock final : public Clock {
 public:
  TimePoint Now() const override { return now; }
  TimePoint now = FromSeconds(1'800'000'000);
};

inline std::shared_ptr<const spec::Site> TestSite() {
  auto site = spec::ParseSite(R"(
region: r
cluster: c
org: acme
flavors:
- {name: h100.1g, gpuType: h100, gpus: 1, cpus: 8, memory: 64Gi}
- {name: a100.2g, gpuType: a100, gpus: 2, cpus: 8, memory: 64Gi}
- {name: cpu.4c, class: CPU, cpus: 4, memory: 8Gi}
pools:
- {name: shared, partition: train}
- {name: gold, partition: gold, nodes: ["n3"], flavors: [h100.1g]}
users:
- {name: ann, tenant: t1, projects: [nlp]}
envProfiles:
- {user: ann, env: [{name: LR, value: "1"}]}
slurm: {}
)",
                              "site.yaml");
  if (!site) {
    ADD_FAILURE() << site.error().text;
    return std::make_shared<spec::Site>();
  }
  return std::make_shared<const spec::Site>(*site);
}

}  // namespace cox::slurm::testing
