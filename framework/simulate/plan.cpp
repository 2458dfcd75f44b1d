#include "simulate/plan.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "model/gang.hpp"
#include "spec/parse.hpp"

namespace cox::simulate {
namespace {

constexpr const char* kDefaultSite = R"(
region: here
cluster: simulation
pools: [{name: main}]
plugins:
  - path: quota_tree.so
    config: {missing_quota: {reserved: allow, on-demand: allow, spot: allow}}
  - {path: priority_multifactor.so}
  - {path: node_policy.so}
  - path: fault_tolerance.so
)";
constexpr const char* kNobody = "user";    // whom a trace does not name
constexpr const char* kEverybody = "all";  // the tenant of those whom neither trace nor site place

std::string Or(const std::string& text, const std::string& otherwise) {
  return text.empty() ? otherwise : text;
}

// "1.5" GPUs as "1500m", 8 as "8".
std::string Short(int64_t milli) {
  return milli % 1000 == 0 ? std::to_string(milli / 1000) : std::to_string(milli) + "m";
}

class Planner {
 public:
  Planner(const Workload& workload, spec::Site site) : workload_(workload), site_(std::move(site)) {
    limited_ = !site_.quotas.empty();
    own_flavors_ = site_.flavors.size();
    if (site_.pools.empty()) site_.pools.emplace_back().name = "main";
    for (spec::Pool& pool : site_.pools) {
      if (pool.capacity_types.empty()) pool.capacity_types = {spec::CapacityType::kReserved};
    }
  }

  Result<void> Make(Plan& plan) {
    plan.nodes = workload_.nodes;
    if (plan.nodes.empty()) {
      return InvalidArgument(workload_.file +
                             " does not say which nodes there were; say --nodes 16x8 or a list");
    }
    for (model::Node& node : plan.nodes) Settle(node);
    for (const TraceJob& job : workload_.jobs) AddUser(job);
    for (const TraceJob& job : workload_.jobs) plan.jobs.push_back(JobOn(job));
    if (made_ > 0 && own_flavors_ > 0) {
      plan.notes.push_back(std::to_string(made_) + (made_ == 1 ? " flavor was" : " flavors were") +
                           " added, for jobs of a size that the site's own do not make up" +
                           (limited_ ? "; its quotas do not name them" : ""));
    }
    return {};
  }
  spec::Site&& site() && { return std::move(site_); }

 private:
  // ---- Nodes ----

  void Settle(model::Node& node) {
    node.address = node.name;
    const std::vector<std::string> stated = std::exchange(node.pools, {});
    for (const spec::Pool& pool : site_.pools) {
      const bool in = pool.nodes.empty()
                          ? stated.empty() || std::ranges::count(stated, pool.name) > 0
                          : std::ranges::count(pool.nodes, node.name) > 0;
      if (in) node.pools.push_back(pool.name);
    }
    largest_.gpu_milli = std::max(largest_.gpu_milli, node.capacity.gpu_milli);
    largest_.cpu_milli = std::max(largest_.cpu_milli, node.capacity.cpu_milli);
  }

  // ---- Users ----

  void AddUser(const TraceJob& job) {
    const std::string name = Name(job);
    if (site_.FindUser(name) != nullptr && !added_.contains(name)) return;
    if (added_.try_emplace(name, site_.users.size()).second) {
      spec::User user;
      user.name = name;
      user.tenant = Or(job.tenant, Or(site_.default_tenant, kEverybody));
      site_.users.push_back(std::move(user));
    }
    auto& projects = site_.users[added_[name]].projects;
    const std::string project = Or(job.project, site_.users[added_[name]].tenant);
    if (std::ranges::count(projects, project) == 0) projects.push_back(project);
  }
  // Who is in two tenants is two users.
  std::string Name(const TraceJob& job) {
    const std::string name = Or(job.user, Or(job.tenant, kNobody));
    const auto [first, fresh] = tenant_of_.try_emplace(name, job.tenant);
    return fresh || first->second == job.tenant ? name : name + "@" + job.tenant;
  }

  // ---- Jobs ----

  // The pool of this name or partition; the tenant's own; the first that is everybody's.
  spec::Pool& PoolOf(const TraceJob& job, const std::string& tenant) {
    const auto usable = [&](const spec::Pool& pool) {
      return !pool.dedicated || pool.tenant == tenant;
    };
    for (spec::Pool& pool : site_.pools) {
      const bool named = !job.pool.empty() && (pool.name == job.pool || pool.partition == job.pool);
      if (named && usable(pool)) return pool;
    }
    for (spec::Pool& pool : site_.pools) {
      if (pool.dedicated && usable(pool)) return pool;
    }
    for (spec::Pool& pool : site_.pools) {
      if (usable(pool)) return pool;
    }
    return site_.pools.front();  // it will be refused, with a reason
  }

  // Of the site's own flavors the first of this type whose units make up `need`.
  const spec::Flavor* Fitting(const Resources& need, const std::string& type,
                              const spec::Pool& pool) const {
    for (const spec::Flavor& flavor : site_.flavors) {
      const bool offered =
          pool.flavors.empty() || std::ranges::count(pool.flavors, flavor.name) > 0;
      if (!offered || flavor.gpu_class != (need.gpu_milli > 0)) continue;
      if (!type.empty() && flavor.gpu_type != type && need.gpu_milli > 0) continue;
      const int64_t unit = need.gpu_milli > 0 ? flavor.unit.gpu_milli : flavor.unit.cpu_milli;
      const int64_t whole = need.gpu_milli > 0 ? need.gpu_milli : need.cpu_milli;
      if (unit <= 0 || whole % unit != 0) continue;
      if (made_flavors_.contains(flavor.name) && flavor.unit * (whole / unit) != need) continue;
      return &flavor;
    }
    return nullptr;
  }

  spec::FlavorChoice Choose(const Resources& need, const std::string& type, spec::Pool& pool) {
    const spec::Flavor* found = Fitting(need, type, pool);
    if (found == nullptr) {
      spec::Flavor flavor;
      flavor.gpu_class = need.gpu_milli > 0;
      flavor.gpu_type = flavor.gpu_class ? type : "";
      flavor.unit = need;
      // Whole GPUs, or whole CPUs, and nothing else: one flavor serves every number of them.
      const bool plain = need.mem_mib == 0 && (need.gpu_milli == 0) != (need.cpu_milli == 0);
      if (plain && need.gpu_milli % 1000 == 0 && need.cpu_milli % 1000 == 0) {
        flavor.unit = need.gpu_milli > 0 ? Resources{0, 0, 1000} : Resources{1000, 0, 0};
      }
      flavor.name = Or(flavor.gpu_type, flavor.gpu_class ? "gpu" : "cpu");
      if (!plain) {
        flavor.name += "." + Short(need.gpu_milli) + "g." + Short(need.cpu_milli) + "c." +
                       std::to_string(need.mem_mib) + "Mi";
      }
      while (site_.FindFlavor(flavor.name) != nullptr) flavor.name += "'";
      ++made_;
      made_flavors_.emplace(flavor.name, true);
      if (!pool.flavors.empty()) pool.flavors.push_back(flavor.name);
      site_.flavors.push_back(std::move(flavor));
      found = &site_.flavors.back();
    }
    const bool gpus = need.gpu_milli > 0;
    return {found->name,
            gpus ? need.gpu_milli / found->unit.gpu_milli : need.cpu_milli / found->unit.cpu_milli};
  }

  // A job of which only the total is known takes as few equal nodes as hold it.
  static std::pair<int64_t, int64_t> Split(int64_t total, int64_t node) {
    if (node <= 0) return {1, total};
    for (int64_t replicas = (total + node - 1) / node;; ++replicas) {
      if (total % replicas == 0) return {replicas, total / replicas};
    }
  }

  void Shape(const TraceJob& job, Plan::Job& made) const {
    made.need = job.need;
    made.replicas = job.replicas;
    if (job.replicas != 0) return;
    // SWF counts processors; on nodes with GPUs they are meant to be GPUs.
    int64_t total = (job.need.gpu_milli + job.need.cpu_milli) / 1000;
    const bool gpus = largest_.gpu_milli > 0;
    const auto [replicas, each] =
        Split(total, (gpus ? largest_.gpu_milli : largest_.cpu_milli) / 1000);
    made.replicas = replicas;
    made.need = gpus ? Resources{0, 0, each * 1000} : Resources{each * 1000, 0, 0};
  }

  Plan::Job JobOn(const TraceJob& job) {
    Plan::Job made;
    made.user = Name(job);
    made.tenant = site_.FindUser(made.user)->tenant;
    if (job.job != nullptr) return InItsOwnWords(job, std::move(made));
    Shape(job, made);
    spec::Pool& pool = PoolOf(job, made.tenant);
    auto asked = std::make_shared<spec::TrainingJob>();
    asked->generate_name = "job-";
    asked->command = "true";
    const auto& projects = site_.FindUser(made.user)->projects;
    if (std::ranges::count(projects, job.project) > 0) asked->project = job.project;
    asked->scheduling.capacity_type = job.capacity;
    const bool reserved = job.capacity == spec::CapacityType::kReserved;
    if (reserved) asked->scheduling.queue = pool.name;
    const std::vector<std::string> any = {""};
    for (const std::string& type : job.gpu_types.empty() ? any : job.gpu_types) {
      asked->scheduling.flavors.push_back(Choose(made.need, type, pool));
    }
    const spec::FlavorChoice& first = asked->scheduling.flavors.front();
    made.need = site_.FindFlavor(first.name)->unit * first.count;
    asked->scheduling.priority = job.priority;
    asked->scheduling.preemptible = !job.guaranteed;
    asked->workers = made.replicas - 1;
    asked->time_limit_seconds = job.wall;
    RunAgain(*asked);
    made.job = std::move(asked);
    return made;
  }

  Plan::Job InItsOwnWords(const TraceJob& job, Plan::Job made) {
    auto asked = std::make_shared<spec::TrainingJob>(*job.job);
    made.replicas = asked->workers + 1;
    if (!asked->scheduling.flavors.empty()) {
      const spec::FlavorChoice& first = asked->scheduling.flavors.front();
      const spec::Flavor* flavor = site_.FindFlavor(first.name);
      if (flavor != nullptr) made.need = flavor->unit * first.count;
    }
    RunAgain(*asked);
    made.job = std::move(asked);
    return made;
  }

  // A trace tells how long a job ran, not how often it failed: only an eviction starts it again.
  static void RunAgain(spec::TrainingJob& job) {
    job.failure_policy.enabled = true;
    job.failure_policy.max_retries = 0;
    job.failure_policy.max_preemption_retries = -1;
  }

  const Workload& workload_;
  spec::Site site_;
  bool limited_ = false;    // the site has quotas
  size_t own_flavors_ = 0;  // of the site file
  Resources largest_;
  std::map<std::string, size_t> added_;           // users, by name: row of site_.users
  std::map<std::string, std::string> tenant_of_;  // of a name's first job
  std::map<std::string, bool> made_flavors_;
  int64_t made_ = 0;
};

}  // namespace

std::string GroupOf(const spec::TrainingJob& job) {
  return std::string(spec::Name(job.scheduling.capacity_type)) + ", " +
         spec::Name(job.scheduling.priority) + (job.scheduling.preemptible ? "" : ", guaranteed");
}

Result<Plan> MakePlan(const Workload& workload, const std::string& name,
                      const std::string& site_text, const host::Options& options) {
  Plan plan;
  plan.name = name;
  plan.config.site_file = name;
  plan.config.site_text = site_text.empty() ? kDefaultSite : site_text;
  auto site = spec::ParseSite(plan.config.site_text, name);
  if (!site) return site.error();
  auto plugins = host::Plugins::Create(site->plugins, options);
  if (!plugins) return plugins.error();
  plan.config.plugins = std::make_shared<host::Plugins>(*std::move(plugins));
  Planner planner(workload, *std::move(site));
  if (auto made = planner.Make(plan); !made) return made.error();
  plan.config.site = std::make_shared<const spec::Site>(std::move(planner).site());
  return plan;
}

}  // namespace cox::simulate
