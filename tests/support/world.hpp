// A small cluster in the words of a scenario: nodes, quotas, jobs; then Decide() with the real
// plugins. Shared by the tests of the cycle, the property tests and the benchmarks.
#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "cycle/decide.hpp"
#include "host/plugins.hpp"
#include "model/snapshot.hpp"

namespace cox::test {

using model::Candidate;
using model::Decision;
using model::PendingJob;
using model::Replica;
using model::Role;
using model::RunningJob;
using spec::CapacityType;
using spec::Priority;

inline TimePoint At(int64_t s) {
  return FromSeconds(s);
}

// A gang of `replicas` times `gpus` of flavor "gpu", or of another flavor.
struct Gang {
  int64_t replicas = 1, gpus = 1;
  std::string flavor = "gpu";
  CapacityType source = CapacityType::kReserved;
  std::string pool = "p";
};

inline Resources Gpus(int64_t n) {
  return {n * 1000, n * 1024, n * 1000};
}

inline Candidate MakeCandidate(const Gang& gang) {
  Candidate c;
  c.source = gang.source;
  c.pool = gang.pool;
  if (gang.source == CapacityType::kIdle || gang.source == CapacityType::kSpot) c.pool.clear();
  const std::string type = gang.flavor == "gpu" || gang.flavor == "cpu" ? "" : gang.flavor;
  c.roles.push_back({Role::kMaster, 1, gang.flavor, gang.gpus, Gpus(gang.gpus), type});
  if (gang.replicas > 1) {
    c.roles.push_back(
        {Role::kWorker, gang.replicas - 1, gang.flavor, gang.gpus, Gpus(gang.gpus), type});
  }
  return c;
}

class World {
 public:
  World() {
    spec::Pool pool;
    pool.name = "p";
    pool.capacity_types = {CapacityType::kReserved, CapacityType::kOnDemand, CapacityType::kSpot};
    site.pools.push_back(pool);
    for (const char* name : {"gpu", "h100", "h200", "cpu"}) {
      spec::Flavor flavor;
      flavor.name = name;
      flavor.unit = Gpus(1);
      site.flavors.push_back(flavor);
    }
    snapshot.now = At(1000);
  }

  model::Node& Node(const std::string& name, int64_t gpus, const std::string& type = "") {
    model::Node node;
    node.name = name;
    node.pools = {"p"};
    node.gpu_type = type;
    node.capacity = {64'000, 512 * 1024, gpus * 1000};
    return snapshot.nodes.emplace_back(node);
  }

  PendingJob& Pending(const std::string& name, const Gang& gang,
                      Priority priority = Priority::kMedium) {
    PendingJob job;
    job.id = {next_id_++};
    job.name = name;
    job.owner = {"u1", "proj", "acme"};
    job.capacity = gang.source;
    job.priority = priority;
    job.submitted_at = At(static_cast<int64_t>(job.id.value));
    job.candidates = {MakeCandidate(gang)};
    return snapshot.pending.emplace_back(job);
  }

  // `where`: one node a replica.
  RunningJob& Running(const std::string& name, const Gang& gang,
                      const std::vector<std::string>& where,
                      Priority priority = Priority::kMedium) {
    RunningJob job;
    job.id = {next_id_++};
    job.name = name;
    job.owner = {"u0", "other", "acme"};
    job.capacity = gang.source;
    job.priority = priority;
    job.placement.candidate = MakeCandidate(gang);
    for (const std::string& node : where) {
      const auto rank = static_cast<int64_t>(job.placement.replicas.size());
      job.placement.replicas.push_back(
          {rank == 0 ? Role::kMaster : Role::kWorker, rank, node, Gpus(gang.gpus)});
    }
    return snapshot.running.emplace_back(job);
  }

  void Quota(spec::QuotaLevel level, const std::string& subject, int64_t units,
             const std::string& flavor = "gpu", CapacityType type = CapacityType::kReserved,
             const std::string& pool = "p") {
    site.quotas.push_back({level, subject, type, pool, flavor, units});
  }

  model::PolicyRow& Policy(const std::string& id, model::PolicyRow::Scope scope,
                           const std::string& subject, std::vector<std::string> nodes,
                           TimePoint expires = kNever) {
    model::PolicyRow row;
    row.id = id;
    row.scope = scope;
    row.subject = subject;
    row.node_names = std::move(nodes);
    row.expires_at = expires;
    return snapshot.policies.emplace_back(row);
  }

  // The snapshot with its ledger: limits of the quotas, charges of what runs.
  model::Snapshot Freeze() const {
    model::Snapshot s = snapshot;
    s.site = std::make_shared<const spec::Site>(site);
    s.ledger.SetLimits(site.quotas);
    for (const RunningJob& job : s.running) {
      s.ledger.Allocate(job.id, model::Charges(job.owner, job.placement.candidate));
    }
    return s;
  }

  Decision Decide(host::Plugins& plugins) const { return cycle::Decide(Freeze(), plugins); }

  spec::Site site;
  model::Snapshot snapshot;

 private:
  uint64_t next_id_ = 1;
};

// The plugins that come with Coxswain, as built: quota, priority and node policy.
inline host::Plugins BuiltIns(const std::vector<std::string>& names = {"quota_tree", "node_policy"},
                              const std::string& directory = COX_BINARY_DIR "/plugins") {
  std::vector<spec::PluginConfig> configs;
  for (const std::string& name : names) {
    spec::PluginConfig config;
    config.name = name;
    config.path = name + ".so";
    if (name == "quota_tree") {
      config.config_json = R"({"missing_quota": {"reserved": "allow", "on-demand": "allow"}})";
    }
    configs.push_back(config);
  }
  host::Options options;
  options.plugin_directory = directory;
  auto plugins = host::Plugins::Create(configs, options);
  if (!plugins) {
    fprintf(stderr, "%s\n", plugins.error().text.c_str());
    abort();
  }
  return std::move(*plugins);
}

// "j1@n1,n2 j2@n3": who starts, and where its replicas are.
inline std::string Starts(const Decision& decision, const World& world) {
  std::string out;
  for (const model::Start& start : decision.starts) {
    for (const PendingJob& job : world.snapshot.pending) {
      if (job.id == start.task) out += (out.empty() ? "" : " ") + job.name + "@";
    }
    for (const Replica& replica : start.placement.replicas) {
      out += (replica.rank == 0 ? "" : ",") + replica.node;
    }
  }
  return out;
}

inline std::string Evicted(const Decision& decision, const World& world) {
  std::vector<std::string> names;
  for (const model::Eviction& eviction : decision.evictions) {
    for (const RunningJob& job : world.snapshot.running) {
      if (job.id == eviction.victim) names.push_back(job.name);
    }
  }
  std::ranges::sort(names);
  std::string out;
  for (const std::string& name : names) out += (out.empty() ? "" : " ") + name;
  return out;
}

inline const model::Explanation* Why(const Decision& decision, TaskId task) {
  for (const model::Explanation& e : decision.waiting) {
    if (e.task == task) return &e;
  }
  return nullptr;
}

// "Code Code": the codes of all blockers.
inline std::string Codes(const Decision& decision, TaskId task) {
  std::string out;
  if (const model::Explanation* e = Why(decision, task)) {
    for (const model::Blocker& b : e->blockers) out += (out.empty() ? "" : " ") + b.code;
  }
  return out;
}

inline std::string Texts(const Decision& decision, TaskId task) {
  std::string out;
  if (const model::Explanation* e = Why(decision, task)) {
    for (const model::Blocker& b : e->blockers) out += (out.empty() ? "" : "\n") + b.text;
  }
  return out;
}

}  // namespace cox::test
