#include "slurm/native_job.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>

#include "slurm/gres.hpp"

namespace cox::slurm {
namespace {

constexpr int64_t kMostNumber = 1'000'000'000;

std::vector<std::string> Split(std::string_view list, char separator) {
  std::vector<std::string> items;
  for (size_t begin = 0; begin <= list.size();) {
    const size_t end = std::min(list.find(separator, begin), list.size());
    if (end > begin) items.emplace_back(list.substr(begin, end - begin));
    begin = end + 1;
  }
  return items;
}

std::string Lower(std::string_view text) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return lower;
}

// "on-failure" and "OnFailure" are one word.
std::string Bare(std::string_view text) {
  std::string bare = Lower(text);
  std::erase(bare, '-');
  return bare;
}

int64_t CeilDiv(int64_t a, int64_t b) {
  return b <= 0 ? 1 : (a + b - 1) / b;
}

// S3: what a job's name may be made of.
std::string NamePrefix(const std::string& slurm_name) {
  constexpr size_t kLongest = 40;
  std::string prefix;
  for (const char c : Lower(slurm_name)) {
    const bool kept = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
    if (kept) {
      prefix += c;
    } else if (!prefix.empty() && prefix.back() != '-') {
      prefix += '-';
    }
    if (prefix.size() == kLongest) break;
  }
  if (!prefix.empty() && prefix.back() == '-') prefix.pop_back();
  return (prefix.empty() ? "job" : prefix) + "-";
}

class Reader {
 public:
  Reader(const JobRecord& record, const Options& options, const spec::Site& site)
      : record_(record), options_(options), site_(site) {}

  Result<spec::TrainingJob> Read() {
    Identity();
    Scheduling();
    Replicas();
    Flavors();
    Nodes();
    Failures();
    Unsupported();
    for (const auto& [key, value] : options_) {
      if (used_.contains(key)) continue;
      std::string text = "--cox-";
      Wrong(text.append(key).append("=").append(value).append(": is not an option"));
    }
    if (!wrong_.empty()) return InvalidArgument(wrong_);
    return job_;
  }

 private:
  void Wrong(const std::string& text) {
    if (!wrong_.empty()) wrong_ += '\n';
    wrong_ += text;
  }

  const std::string* Take(const std::string& key) {
    used_[key] = true;
    const auto found = options_.find(key);
    return found == options_.end() ? nullptr : &found->second;
  }

  void TakeText(const std::string& key, std::string& into) {
    if (const std::string* value = Take(key)) into = *value;
  }

  void TakeNodes(const std::string& key, std::vector<std::string>& into) {
    const std::string* value = Take(key);
    if (value == nullptr) return;
    into = ExpandNodes(*value);
    if (into.empty()) Wrong("--cox-" + key + "=" + *value + ": names no node");
  }

  bool TakeFlag(const std::string& key) {
    const std::string* value = Take(key);
    return value != nullptr && *value != "false";
  }

  template <class E, size_t N>
  void TakeWord(const std::string& key, const std::array<E, N>& values, E& into) {
    const std::string* value = Take(key);
    if (value == nullptr) return;
    std::string allowed;
    for (const E one : values) {
      if (Bare(*value) == Bare(spec::Name(one))) {
        into = one;
        return;
      }
      allowed += (allowed.empty() ? "" : ", ") + std::string(spec::Name(one));
    }
    Wrong("--cox-" + key + "=" + *value + ": must be one of " + allowed);
  }

  std::optional<int64_t> TakeNumber(const std::string& key) {
    const std::string* value = Take(key);
    if (value == nullptr) return std::nullopt;
    int64_t number = 0;
    const char* end = value->data() + value->size();
    const auto [rest, error] = std::from_chars(value->data(), end, number);
    // The bound keeps sums of these within 64 bits.
    const bool all = error == std::errc() && rest == end && !value->empty();
    if (all && -kMostNumber <= number && number <= kMostNumber) return number;
    Wrong("--cox-" + key + "=" + *value + ": must be a whole number, at most " +
          std::to_string(kMostNumber));
    return std::nullopt;
  }

  void Identity() {
    job_.generate_name = NamePrefix(record_.name);
    // Slurm has the script and runs it; this line is what people and `cox get` see.
    job_.command =
        std::string(record_.batch ? "# batch script of Slurm job " : "# interactive Slurm job ") +
        (record_.name.empty() ? "(no name)" : record_.name);
    job_.project = record_.account;
    TakeText("project", job_.project);
    TakeText("region", job_.region);
    TakeText("cluster", job_.cluster);
    TakeText("time-zone", job_.time_zone);
    TakeText("image", job_.image.ref);
    job_.image.pull_max_retries = TakeNumber("image-retries");
    if (const std::string* type = Take("type")) {
      if (Bare(*type) == "ray" || Bare(*type) == "rayjob") {
        job_.type = spec::TaskType::kRayJob;
      } else if (Bare(*type) != "pytorch" && Bare(*type) != "pytorchjob") {
        Wrong("--cox-type=" + *type + ": must be pytorch or ray");
      }
    }
    TakeWord("visibility", std::array{spec::Visibility::kPrivate, spec::Visibility::kProject},
             job_.visibility);
    if (const std::string* labels = Take("label")) {
      for (const std::string& label : Split(*labels, ',')) {
        const size_t equals = label.find('=');
        if (equals == label.npos || equals == 0) {
          Wrong("--cox-label=" + *labels + ": must be KEY=VALUE[,KEY=VALUE...]");
        } else {
          job_.labels[label.substr(0, equals)] = label.substr(equals + 1);
        }
      }
    }
    if (const auto port = TakeNumber("metrics-port")) {
      job_.metrics.enabled = true;
      job_.metrics.port = *port;
    }
    if (const std::string* path = Take("metrics-path")) {
      job_.metrics.enabled = true;
      job_.metrics.path = *path;
    }
    if (record_.time_limit_min) job_.time_limit_seconds = *record_.time_limit_min * 60;
  }

  void Scheduling() {
    spec::Scheduling& s = job_.scheduling;
    using spec::CapacityType;
    using spec::Stability;
    TakeWord("capacity-type",
             std::array{CapacityType::kReserved, CapacityType::kOnDemand, CapacityType::kSpot,
                        CapacityType::kIdle},
             s.capacity_type);
    s.written.priority = options_.contains("priority");
    TakeWord("priority",
             std::array{spec::Priority::kHigh, spec::Priority::kMedium, spec::Priority::kLow},
             s.priority);
    s.written.preemptible = TakeFlag("guarantee");
    s.preemptible = !s.written.preemptible;
    s.written.idle_accept = s.idle.accept = TakeFlag("accept-idle");
    s.written.idle_prefer = s.idle.prefer = TakeFlag("prefer-idle");
    s.written.idle_min_stability = options_.contains("idle-stability");
    TakeWord("idle-stability", std::array{Stability::kHigh, Stability::kMedium, Stability::kLow},
             s.idle.min_stability);
    if (const std::string* level = Take("topology-required")) s.topology.required = *level;
    if (const std::string* level = Take("topology-preferred")) s.topology.preferred = *level;
    s.spread = TakeFlag("spread");
    if (const auto grace = TakeNumber("grace")) s.termination_grace_period_seconds = *grace;
    if (const std::string* queue = Take("queue")) {
      s.queue = *queue;
    } else if (s.capacity_type == CapacityType::kReserved) {  // S26: these name a pool
      const spec::Pool* pool = PoolOf(site_, record_.partition, s.capacity_type);
      if (pool == nullptr) {
        Wrong("--partition=" + record_.partition + ": no pool of it offers reserved capacity");
      } else {
        s.queue = pool->name;
      }
    }
  }

  void Replicas() {
    int64_t nodes = std::max<int64_t>(record_.min_nodes, 1);
    if (record_.tasks > 0 && record_.tasks_per_node > 0)
      nodes = std::max(nodes, CeilDiv(record_.tasks, record_.tasks_per_node));
    if (record_.max_nodes > nodes)
      Wrong("--nodes=" + std::to_string(nodes) + "-" + std::to_string(record_.max_nodes) +
            ": a gang has one size, write a single number");
    if (record_.tasks > 0 && record_.tasks_per_node > 0 &&
        record_.tasks != record_.tasks_per_node * nodes)
      Wrong("--ntasks=" + std::to_string(record_.tasks) +
            " and --ntasks-per-node=" + std::to_string(record_.tasks_per_node) + ": " +
            std::to_string(nodes) + " nodes would have " +
            std::to_string(record_.tasks_per_node * nodes) + " tasks; leave out --ntasks");
    else if (record_.tasks % nodes != 0)
      Wrong("--ntasks=" + std::to_string(record_.tasks) + ": " + std::to_string(nodes) +
            " nodes cannot have the same number of tasks each; write --ntasks-per-node");
    if (const auto workers = TakeNumber("workers")) {
      if (nodes != 1 && nodes != *workers + 1)
        Wrong("--cox-workers=" + std::to_string(*workers) + ": master and workers are " +
              std::to_string(*workers + 1) + " nodes, but --nodes says " + std::to_string(nodes));
      nodes = *workers + 1;
    }
    job_.workers = nodes - 1;
    if (const std::string* min = Take("gang-min"); min != nullptr && *min != "auto")
      job_.scheduling.gang_min_member = TakeNumber("gang-min");
  }

  void Flavors() {
    const Gpus asked = ParseGpus(record_.gres_per_node);
    if (asked.count < 0) return Wrong(record_.gres_per_node + ": is not a number of GPUs");
    if (!record_.gres_elsewhere.empty())
      Wrong(record_.gres_elsewhere + ": GPUs are given per node here, write --gres=gpu:N");
    if (const std::string other = OtherThanGpus(record_.gres_per_node); !other.empty())
      Wrong("--gres=" + other.substr(other.starts_with("gres:") ? 5 : 0) +
            ": only GPUs are given here; leave it out");
    const std::string* list = Take("flavors");
    if (list == nullptr) return Infer(asked);
    for (const std::string& item : Split(*list, ',')) {
      spec::FlavorChoice choice;
      const size_t colon = item.find(':');
      choice.name = item.substr(0, colon);
      if (colon != item.npos) {
        const char* end = item.data() + item.size();
        const auto [rest, error] = std::from_chars(item.data() + colon + 1, end, choice.count);
        if (error != std::errc() || rest != end)
          Wrong("--cox-flavors=" + *list + ": " + item + " must be NAME[:COUNT]");
      }
      // Slurm never forgets a GPU type that was asked for, so another could never be given.
      const spec::Flavor* flavor = site_.FindFlavor(choice.name);
      if (flavor != nullptr && !asked.type.empty() && flavor->gpu_type != asked.type)
        Wrong("--gres=gpu:" + asked.type + ": flavor " + choice.name + " has GPUs of type " +
              flavor->gpu_type + "; leave out one of the two options");
      if (flavor != nullptr) Compare(asked, choice, *flavor);
      job_.scheduling.flavors.push_back(choice);
    }
  }

  std::vector<const spec::Flavor*> Offered() const {
    const spec::Scheduling& s = job_.scheduling;
    const auto offers = [&](const spec::Pool& pool, const std::string& flavor) {
      return pool.flavors.empty() ||
             std::find(pool.flavors.begin(), pool.flavors.end(), flavor) != pool.flavors.end();
    };
    std::vector<const spec::Flavor*> offered;
    for (const spec::Flavor& flavor : site_.flavors) {
      const bool found =
          std::any_of(site_.pools.begin(), site_.pools.end(), [&](const spec::Pool& pool) {
            const auto& types = pool.capacity_types;
            return (s.queue.empty() || s.queue == pool.name) && offers(pool, flavor.name) &&
                   std::find(types.begin(), types.end(), s.capacity_type) != types.end();
          });
      if (found) offered.push_back(&flavor);
    }
    return offered;
  }

  struct PerNode {
    int64_t tasks = 1, cpus = 1, mem_mib = 0;
  };

  // What was asked of Slurm for each node. Bounded, so that products are, too; no flavor has as
  // much.
  PerNode Asked() const {
    PerNode asked;
    asked.tasks = record_.tasks_per_node > 0
                      ? record_.tasks_per_node
                      : CeilDiv(std::max<int64_t>(record_.tasks, 1), job_.workers + 1);
    asked.cpus =
        std::min(std::min(asked.tasks, kMostNumber) * std::max<int64_t>(record_.cpus_per_task, 1),
                 kMostNumber);
    asked.mem_mib = std::max(record_.mem_per_node_mib,
                             std::min(record_.mem_per_cpu_mib, kMostNumber) * asked.cpus);
    return asked;
  }

  // With --cox-flavors: Slurm's own options may ask for no more than the flavor brings.
  void Compare(const Gpus& gpus, const spec::FlavorChoice& choice, const spec::Flavor& flavor) {
    const int64_t count = std::clamp<int64_t>(choice.count, 1, kMostNumber);
    const std::string brings = ": more than " + choice.name + ":" + std::to_string(count);
    const PerNode asked = Asked();
    const int64_t cpus = flavor.unit.cpu_milli * count / 1000;
    const int64_t has_gpus = flavor.unit.gpu_milli * count / 1000;
    if (asked.cpus > std::max<int64_t>(cpus, 1))
      Wrong("--cpus-per-task=" + std::to_string(record_.cpus_per_task) + " for " +
            std::to_string(asked.tasks) + " tasks a node" + brings + " brings, " +
            std::to_string(cpus) + " CPUs; ask for more units of it or for fewer CPUs");
    if (asked.mem_mib > flavor.unit.mem_mib * count)
      Wrong("--mem=" + std::to_string(asked.mem_mib) + "M a node" + brings + " brings, " +
            std::to_string(flavor.unit.mem_mib * count) +
            "M; ask for more units of it or for less memory");
    if (gpus.count > 0 && gpus.count != has_gpus)
      Wrong("--gres=gpu:" + std::to_string(gpus.count) + ": " + choice.name + ":" +
            std::to_string(count) + " brings " + std::to_string(has_gpus) +
            " GPUs; leave out one of the two options");
  }

  // Without --cox-flavors: those whose units make up exactly what was asked for, in the site's
  // order. Processors and memory come with a flavor and may only be asked for up to its share.
  void Infer(const Gpus& asked) {
    const PerNode each = Asked();
    const int64_t cpu_milli = each.cpus * 1000;
    const int64_t mem_mib = each.mem_mib;
    std::string available;
    for (const spec::Flavor* flavor : Offered()) {
      const Resources& unit = flavor->unit;
      available +=
          (available.empty() ? "" : "; ") + flavor->name + " = " +
          (unit.gpu_milli > 0
               ? "gpu:" + flavor->gpu_type + ":" + std::to_string(unit.gpu_milli / 1000) + ", "
               : "") +
          std::to_string(unit.cpu_milli / 1000) + " CPUs, " + std::to_string(unit.mem_mib) + " MiB";
      if ((unit.gpu_milli > 0) != (asked.count > 0)) continue;
      if (!asked.type.empty() && asked.type != flavor->gpu_type) continue;
      const int64_t gpu_milli = asked.count * 1000;
      int64_t units = std::max(CeilDiv(cpu_milli, unit.cpu_milli), CeilDiv(mem_mib, unit.mem_mib));
      if (gpu_milli > 0) {
        const bool divides = gpu_milli % unit.gpu_milli == 0;
        const int64_t by_gpu = gpu_milli / unit.gpu_milli;
        if (!divides || units > by_gpu) continue;
        units = by_gpu;
      }
      job_.scheduling.flavors.push_back({flavor->name, units});
    }
    if (!job_.scheduling.flavors.empty()) return;
    const std::string what = asked.count > 0 ? GresRequest(asked).substr(5) + ", " : "";
    Wrong("no flavor of " +
          (job_.scheduling.queue.empty() ? std::string("this site")
                                         : "pool " + job_.scheduling.queue) +
          " makes up " + what + std::to_string(cpu_milli / 1000) + " CPUs, " +
          std::to_string(mem_mib) + " MiB per node; it has " +
          (available.empty() ? "none" : available) + "; or name some with --cox-flavors");
  }

  void Nodes() {
    std::vector<std::string> in = record_.required_nodes, not_in = record_.excluded_nodes;
    TakeNodes("node-in", in);
    TakeNodes("node-not-in", not_in);
    const auto ttl = TakeNumber("node-ttl");
    if (!in.empty() && !not_in.empty())
      Wrong(
          "nodes are both required and excluded; a job has one node policy, use only one of "
          "--cox-node-in (--nodelist) and --cox-node-not-in (--exclude)");
    if (in.empty() && not_in.empty()) {
      if (ttl) Wrong("--cox-node-ttl: needs --cox-node-in or --cox-node-not-in");
      return;
    }
    spec::JobNodePolicy policy;
    policy.type = in.empty() ? spec::NodePolicyType::kNodeNotIn : spec::NodePolicyType::kNodeIn;
    policy.node_names = in.empty() ? not_in : in;
    policy.ttl_seconds = ttl;
    job_.scheduling.node_policy = policy;
  }

  void Failures() {
    spec::FailurePolicy& policy = job_.failure_policy;
    if (const auto retries = TakeNumber("max-retries")) {
      policy.enabled = true;
      policy.max_retries = *retries;
    }
    if (options_.contains("failure-policy")) policy.enabled = true;
    using Kind = spec::FailurePolicyKind;
    TakeWord(
        "failure-policy",
        std::array{Kind::kOnFailure, Kind::kOnInfraFailure, Kind::kExitCodeAndLog, Kind::kNever},
        policy.policy);
    if (const auto retries = TakeNumber("max-preemption-retries")) {
      policy.enabled = true;
      policy.max_preemption_retries = *retries;
    }
    if (const auto silence = TakeNumber("hang-silence")) {
      policy.enabled = true;
      policy.hang_detection.enabled = true;
      policy.hang_detection.log_silence_seconds = *silence;
    }
  }

  void Unsupported() {
    for (const std::string& option : record_.not_ours)
      Wrong(option +
            ": cannot be used in a managed partition, where Coxswain decides when and "
            "where a job starts");
    if (record_.array) Wrong("--array: is not supported in a managed partition");
    if (record_.het) Wrong("heterogeneous jobs are not supported in a managed partition");
  }

  const JobRecord& record_;
  const Options& options_;
  const spec::Site& site_;
  spec::TrainingJob job_;
  std::map<std::string, bool> used_;
  std::string wrong_;
};

}  // namespace

Options OptionsOf(const spec::TrainingJob& job) {
  Options options;
  const spec::Scheduling& s = job.scheduling;
  std::string flavors;
  for (const spec::FlavorChoice& choice : s.flavors)
    flavors += (flavors.empty() ? "" : ",") + choice.name + ":" + std::to_string(choice.count);
  options["flavors"] = flavors;
  options["capacity-type"] = spec::Name(s.capacity_type);
  if (!job.project.empty()) options["project"] = job.project;
  if (!s.queue.empty()) options["queue"] = s.queue;
  if (s.written.priority) options["priority"] = spec::Name(s.priority);
  if (!s.preemptible) options["guarantee"] = "true";
  if (s.idle.accept) options["accept-idle"] = "true";
  if (s.idle.prefer) options["prefer-idle"] = "true";
  if (s.written.idle_min_stability) options["idle-stability"] = spec::Name(s.idle.min_stability);
  options["grace"] = std::to_string(s.termination_grace_period_seconds);
  if (s.node_policy) {
    const bool in = s.node_policy->type == spec::NodePolicyType::kNodeIn;
    options[in ? "node-in" : "node-not-in"] = CompressNodes(s.node_policy->node_names);
    if (s.node_policy->ttl_seconds)
      options["node-ttl"] = std::to_string(*s.node_policy->ttl_seconds);
  }
  if (!s.topology.required.empty()) options["topology-required"] = s.topology.required;
  if (!s.topology.preferred.empty()) options["topology-preferred"] = s.topology.preferred;
  if (s.spread) options["spread"] = "true";
  const spec::FailurePolicy& failure = job.failure_policy;
  if (failure.enabled) {
    options["max-retries"] = std::to_string(failure.max_retries);
    options["failure-policy"] = spec::Name(failure.policy);
    options["max-preemption-retries"] = std::to_string(failure.max_preemption_retries);
  }
  return options;
}

const spec::Pool* PoolOf(const spec::Site& site, const std::string& partition,
                         spec::CapacityType type) {
  for (const spec::Pool& pool : site.pools) {
    const auto& types = pool.capacity_types;
    if (pool.partition == partition && std::find(types.begin(), types.end(), type) != types.end())
      return &pool;
  }
  return nullptr;
}

bool IsManaged(const spec::Site& site, const std::string& partition) {
  return !partition.empty() &&
         std::any_of(site.pools.begin(), site.pools.end(),
                     [&](const spec::Pool& pool) { return pool.partition == partition; });
}

Result<spec::TrainingJob> NativeJob(const JobRecord& record, const Options& options,
                                    const spec::Site& site) {
  return Reader(record, options, site).Read();
}

}  // namespace cox::slurm
