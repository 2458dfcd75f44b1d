// What a site's administrator declares: the objects of the site file (semantics 3.1, last lines).
// Plain data, made by spec/parse.hpp from schema/site.schema.json. Immutable; a reload makes a new
// one. A region or cluster that an object does not name is the site's own.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/resources.hpp"
#include "base/time.hpp"
#include "spec/training_job.hpp"

namespace cox::spec {

struct Flavor {  // S36: one unit; a replica takes `count` of them
  std::string name;
  bool gpu_class = true;  // class GPU or CPU
  std::string gpu_type;   // empty for class CPU: any node serves
  Resources unit;
  bool rdma = false;
};

struct Pool {  // S26
  std::string name;
  std::string region, cluster;
  bool dedicated = false;  // isolation: dedicated | shared
  std::string tenant;      // the only one that may use a dedicated pool
  std::vector<CapacityType> capacity_types;
  std::vector<std::string> flavors;  // that may be asked for here; empty = all
  std::vector<std::string> nodes;    // names; Slurm ranges such as n[1-4] are expanded
  std::string partition;             // Slurm partition; its nodes when `nodes` is empty
  std::map<std::string, std::string> node_selector;  // Kubernetes labels
  bool lends_idle = true;                            // idle jobs may use what is free here (2.3)
};

struct TopologyDomain {  // nodes near each other: one rack, the reach of one switch
  std::string name;
  std::vector<std::string> nodes;  // ranges are expanded
};

struct TopologyLevel {
  std::string level;  // "rack"
  std::vector<TopologyDomain> domains;
};

enum class QuotaLevel { kTenant, kProject, kUser };  // S40
const char* Name(QuotaLevel v);

struct Quota {
  QuotaLevel level = QuotaLevel::kTenant;
  std::string subject;  // tenant, project or user name
  CapacityType capacity_type = CapacityType::kReserved;
  std::string pool;  // "" = on-demand and spot: any pool
  std::string flavor;
  int64_t units = 0;
};

struct User {
  std::string name, tenant, org;
  std::vector<std::string> projects;  // the first is the default
  bool admin = false;
};

struct NodePolicy {           // S72; lives in the store, made by `cox nodepolicy create`
  std::string id;             // given by the framework: np-<number>
  bool tenant_scope = false;  // scope Tenant needs an administrator (S75)
  std::string subject;        // user name, or tenant name for tenant scope
  NodePolicyType type = NodePolicyType::kNodeNotIn;
  std::vector<std::string> node_names;
  std::vector<std::string> workload_types = {"task"};
  TimePoint expires_at = kNever;  // exclusive: in effect while now < expires_at (S78)
  std::string reason, source;
  bool enabled = true;
};

struct Volume {  // S17, S89, S90
  std::string name, id;
  std::string region, cluster;
  std::string path;                          // backend directory
  std::vector<std::string> access_modes;     // ReadWriteOnce, ReadOnlyMany, ReadWriteMany
  std::vector<std::string> users, projects;  // who may mount it; both empty = everybody
};

struct EnvProfile {  // S15: persistent variables of a user
  std::string user;
  std::vector<EnvVar> env;
};

struct LabelPolicy {  // S114
  bool enabled = false;
  std::map<std::string, std::vector<std::string>> keys;  // required key -> allowed values
};

struct PluginConfig {  // one instance of one plugin
  std::string name;    // of the instance; default: the file's stem
  std::string path;    // absolute, or relative to the plugin directory
  bool optional = false;
  std::optional<std::string> on_error;  // allow | deny; none = the extension point's default
  int64_t budget_ms = 100;              // per call, before it counts as an overrun
  int64_t max_errors = 5;               // in a row, before quarantine
  int64_t weight = 1;                   // of its ranks and scores
  std::string config_json = "{}";       // validated against the plugin's own schema by host/
  // For messages: "site.yaml:9: plugins[1].path" and the same of `config`.
  std::string path_position, position;
};

struct Site {
  std::string region, cluster;
  std::string org;
  std::vector<Pool> pools;
  std::vector<Flavor> flavors;
  std::vector<TopologyLevel> topology;  // the widest level first
  std::vector<Quota> quotas;
  std::vector<User> users;
  std::string default_tenant;  // of users who are not listed; empty = they may not submit
  std::vector<Volume> volumes;
  std::vector<EnvProfile> env_profiles;
  LabelPolicy label_policy;
  std::vector<std::string> shadowed_mount_warnings;  // S21: /opt, /workspace, /usr
  int64_t default_pull_max_retries = 3;              // D16
  int64_t start_timeout_seconds = 300;               // Starting -> Pending GangStartTimeout
  int64_t unknown_timeout_seconds = 300;             // Unknown -> Failed NodeUnreachable
  int64_t starvation_bound_seconds = 3600;           // 0 = none; see cycle/reserve.cpp
  bool prefer_flavor_order = false;   // evict for an earlier flavor before trying the next (S38)
  int64_t min_run_seconds = 0;        // that a job runs before it may be preempted
  int64_t spot_headroom_percent = 0;  // of the capacity, not for spot jobs (S50)
  std::vector<PluginConfig> plugins;
  std::vector<std::string>
      time_zones;  // that this machine knows, sorted; none = any name goes (S6)

  // The block of the one adapter that runs here, checked and complete like the rest of the file.
  std::string adapter;  // "slurm" or "kubernetes"; empty when the file has no block
  std::string adapter_json = "{}";
  std::string adapter_position;  // file:line of the block, for messages about it
  std::string plugin_dir;        // its pluginDir: where relative plugin paths start

  // Slurm gives a job each node once, so there two replicas of a gang never share one (decision
  // 0052). A pod per replica may.
  bool one_replica_per_node() const { return adapter == "slurm"; }

  // nullptr when there is none.
  const Pool* FindPool(const std::string& name) const;
  const Flavor* FindFlavor(const std::string& name) const;
  const TopologyLevel* FindTopologyLevel(const std::string& level) const;
  const Volume* FindVolume(const std::string& name_or_id) const;
  const User* FindUser(const std::string& name) const;
};

}  // namespace cox::spec
