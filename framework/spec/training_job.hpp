// What a user asks for: one training job (semantics 3.1). Plain data, made by spec/parse.hpp, which
// fills every default from schema/training_job.schema.json; nothing here has a default of its own
// that differs from the schema. Immutable once admitted: everyone shares one const copy.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace cox::spec {

enum class TaskType { kPyTorchJob, kRayJob };                                           // S4
enum class CapacityType { kReserved, kOnDemand, kSpot, kIdle };                         // S25
enum class Priority { kLow, kMedium, kHigh };                                           // S56
enum class Stability { kLow, kMedium, kHigh };                                          // 2.3
enum class Visibility { kPrivate, kProject };                                           // S5
enum class UpscalingMode { kConservative, kAggressive };                                // S99
enum class FailurePolicyKind { kOnFailure, kOnInfraFailure, kExitCodeAndLog, kNever };  // 2.1
enum class FailureAction { kRetry, kFail };
enum class HangAction { kEvent, kRestart };         // 2.2
enum class NodePolicyType { kNodeIn, kNodeNotIn };  // S73, S74

// The words of the contract: "PyTorchJob", "on-demand", "medium", ...
const char* Name(TaskType v);
const char* Name(CapacityType v);
const char* Name(Priority v);
const char* Name(Stability v);
const char* Name(Visibility v);
const char* Name(UpscalingMode v);
const char* Name(FailurePolicyKind v);
const char* Name(FailureAction v);
const char* Name(HangAction v);
const char* Name(NodePolicyType v);

struct Image {
  std::string ref;  // empty = the bare host (Slurm) or the site's default image
  std::string pull_secret;
  std::optional<int64_t> pull_max_retries;  // S66: none = the site's value, 0, -1 = no breaker, N
};

struct EnvVar {
  std::string name, value;
  bool hidden = false;  // S13
};

struct Mount {  // of a volume, a data set or a model (S17-S20)
  enum class Kind { kVolume, kDataset, kModel } kind = Kind::kVolume;
  std::string source;   // volume id or name; data set or model name
  std::string version;  // data sets and models
  std::string path;
  bool read_only = false;
};

struct FlavorChoice {
  std::string name;
  int64_t count = 1;  // units of the flavor per replica (S37)
};

struct IdlePolicy {  // S27
  bool accept = false;
  bool prefer = false;
  Stability min_stability = Stability::kMedium;
};

struct JobNodePolicy {  // S81; a NodeIn lasts as long as the job (D11)
  NodePolicyType type = NodePolicyType::kNodeNotIn;
  std::vector<std::string> node_names;
  std::optional<int64_t> ttl_seconds;
};

// Nodes near each other, such as those of one rack: a level of the site's topology. At most one of
// the two is named; empty = none.
struct Topology {
  std::string required;   // all replicas in one domain of this level, or none starts
  std::string preferred;  // rather so; else within a wider level, else anywhere

  friend bool operator==(const Topology&, const Topology&) = default;
};

// The keys that not every capacity type has (matrix 3.2): did the user write them himself? An idle
// job may not, not even the default value (S31); so the value alone does not tell.
struct WrittenKeys {
  bool priority = false;
  bool preemptible = false;
  bool idle_accept = false;
  bool idle_prefer = false;
  bool idle_min_stability = false;
};

struct Scheduling {
  CapacityType capacity_type = CapacityType::kReserved;
  std::string queue;                  // pool
  std::vector<FlavorChoice> flavors;  // in the user's order of preference (S38)
  Priority priority = Priority::kMedium;
  bool preemptible = true;  // false = resource guarantee (S58)
  IdlePolicy idle;
  WrittenKeys written;
  std::optional<int64_t> gang_min_member;  // none = auto = all replicas (S44)
  std::optional<JobNodePolicy> node_policy;
  Topology topology;
  bool spread = false;                            // no two replicas on one node
  int64_t termination_grace_period_seconds = 30;  // S55
};

struct Autoscaling {  // S96-S100
  bool enabled = false;
  int64_t min_replicas = 0;
  int64_t max_replicas = 0;
  int64_t idle_timeout_seconds = 60;
  UpscalingMode mode = UpscalingMode::kConservative;
};

struct SharedStorage {  // S87-S94
  std::string volume;
  bool cleanup_on_exit = false;
};

struct Ray {
  std::vector<FlavorChoice> head_flavors;  // empty = as the workers (S85)
  std::string runtime_env_yaml;            // S86
  std::optional<SharedStorage> shared_storage;
  Autoscaling autoscaling;
  bool debug_enabled = false;  // S102
  int64_t debug_hold_seconds = 600;
};

struct FailureRule {  // 2.1, first match wins; each list that is not empty must match
  std::vector<int64_t> on_exit_codes;
  std::vector<std::string> on_signals;  // "SIGKILL"
  std::string on_log;                   // a regular expression (RE2)
  FailureAction action = FailureAction::kFail;
};

struct HangDetection {  // 2.2
  bool enabled = false;
  int64_t log_silence_seconds = 1800;
  bool gpu_signature = true;
  int64_t heartbeat_first_seconds = 3600;
  int64_t heartbeat_seconds = 2700;
  int64_t exit_hang_seconds = 600;
  HangAction action = HangAction::kRestart;
};

struct FailurePolicy {  // S108-S112
  bool enabled = false;
  int64_t max_retries = 3;
  FailurePolicyKind policy = FailurePolicyKind::kOnFailure;
  std::vector<FailureRule> rules;
  bool exclude_failed_nodes = true;
  int64_t exclude_ttl_seconds = 3600;
  int64_t max_preemption_retries = -1;  // -1 = no limit
  HangDetection hang_detection;
};

struct Metrics {  // S121
  bool enabled = false;
  int64_t port = 9100;
  std::string path = "/metrics";
};

struct Notification {  // S70
  std::vector<std::string> on;
  std::string webhook, email;
};

struct TrainingJob {
  std::string generate_name;                  // prefix; the name adds 8 characters (S3)
  std::string project;                        // S2
  std::map<std::string, std::string> labels;  // S113

  TaskType type = TaskType::kPyTorchJob;
  std::string region, cluster;  // S1
  Visibility visibility = Visibility::kPrivate;
  std::string time_zone = "UTC";
  Image image;
  std::string command;      // run as bash -c (S23)
  std::vector<EnvVar> env;  // temporary ones (S14); persistent ones are merged at admission (S15)
  std::vector<Mount> mounts;
  Scheduling scheduling;
  int64_t workers = 0;  // PyTorch: 1 + workers replicas (S34); Ray: head + workers (S35)
  Ray ray;              // only for RayJob
  FailurePolicy failure_policy;
  bool ssh = false;
  Metrics metrics;
  std::vector<Notification> notifications;
  std::optional<int64_t> time_limit_seconds;  // wall time, where the user states one
};

}  // namespace cox::spec
