// cox/harness/cluster.hpp -- a small cluster by hand, as the columns that a plugin sees.
//
//   auto cluster = Cluster().Now(1000)
//       .Add(Node("n1").Gpus(8, 3)).Add(Node("n2").ReadyFor(30))
//       .Add(Job(7).User("alice").Tenant("acme").Priority(COX_HIGH));
//
// A name that a job, quota or policy mentions exists from then on.
#pragma once

#include <cox/plugin.h>

#include <algorithm>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace cox::harness {

constexpr int64_t kSecond = 1'000'000'000;

struct Node {
  explicit Node(std::string n) : name(std::move(n)) {}
  Node& Cpus(int32_t capacity, int32_t free) {
    cpu_milli = capacity * 1000, cpu_milli_free = free * 1000;
    return *this;
  }
  Node& MemMib(int32_t capacity, int32_t free) {
    mem_mib = capacity, mem_mib_free = free;
    return *this;
  }
  Node& Gpus(int32_t capacity, int32_t free, std::string type = "") {
    gpu_milli = capacity * 1000, gpu_milli_free = free * 1000, gpu_type = std::move(type);
    return *this;
  }
  Node& ReadyFor(int32_t seconds) {  // 0: not ready
    ready_age_s = seconds;
    return *this;
  }

  std::string name, gpu_type;
  int32_t cpu_milli = 64'000, cpu_milli_free = 64'000, mem_mib = 262'144, mem_mib_free = 262'144;
  int32_t gpu_milli = 0, gpu_milli_free = 0, ready_age_s = 86'400;
};

struct Job {
  explicit Job(uint64_t i) : id(i), name("job-" + std::to_string(i)) {}
  Job& User(std::string v) { return user = std::move(v), *this; }
  Job& Project(std::string v) { return project = std::move(v), *this; }
  Job& Tenant(std::string v) { return tenant = std::move(v), *this; }
  Job& Priority(uint32_t v) { return priority = v, *this; }
  Job& Guaranteed() { return guaranteed = 1, *this; }
  Job& Capacity(uint32_t v) { return capacity = v, *this; }
  Job& Replicas(uint32_t v) { return replicas = v, *this; }
  Job& SubmittedAt(int64_t seconds) { return submit_ns = seconds * kSecond, *this; }

  uint64_t id;
  std::string name, user = "user", project = "project", tenant = "tenant";
  uint32_t priority = COX_MEDIUM, guaranteed = 0, capacity = COX_RESERVED, replicas = 1;
  int64_t submit_ns = 0;
};

struct Quota {  // one row of the ledger
  Quota(uint32_t l, std::string s, uint32_t c, std::string p, std::string f, int64_t lim, int64_t u)
      : level(l),
        subject(std::move(s)),
        capacity(c),
        pool(std::move(p)),
        flavor(std::move(f)),
        limit(lim),
        used(u) {}
  uint32_t level;
  std::string subject;
  uint32_t capacity;
  std::string pool;  // "" = any
  std::string flavor;
  int64_t limit, used;  // limit -1: no quota object
};

struct Ask {  // of the job in row `job`; it is charged to every ledger row that names its owner
  Ask(uint32_t j, uint32_t c, std::string p, std::string f, int64_t u)
      : job(j), capacity(c), pool(std::move(p)), flavor(std::move(f)), units(u) {}
  uint32_t job, capacity;
  std::string pool, flavor;
  int64_t units;
};

struct Policy {
  explicit Policy(std::string i) : id(std::move(i)) {}
  Policy& In(std::vector<std::string> n) { return kind = COX_NODE_IN, nodes = std::move(n), *this; }
  Policy& NotIn(std::vector<std::string> n) {
    return kind = COX_NODE_NOT_IN, nodes = std::move(n), *this;
  }
  Policy& OfUser(std::string v) { return scope = COX_SCOPE_USER, subject = std::move(v), *this; }
  Policy& OfTenant(std::string v) {
    return scope = COX_SCOPE_TENANT, subject = std::move(v), *this;
  }
  Policy& OfJob(uint64_t v) { return scope = COX_SCOPE_JOB, job = v, *this; }
  Policy& AfterFailureOf(uint64_t v) { return scope = COX_SCOPE_FAILURE, job = v, *this; }
  Policy& Until(int64_t seconds) { return expires_ns = seconds * kSecond, *this; }

  std::string id;
  uint32_t kind = COX_NODE_NOT_IN, scope = COX_SCOPE_USER;
  std::string subject;
  uint64_t job = 0;
  int64_t expires_ns = INT64_MAX;
  std::vector<std::string> nodes;
};

namespace detail {

// Strings with stable addresses, numbered in the order of arrival.
class NameTable {
 public:
  uint32_t Row(const std::string& name) {
    const auto it = std::find(names_.begin(), names_.end(), name);
    if (it != names_.end()) return static_cast<uint32_t>(it - names_.begin());
    names_.push_back(name);
    return static_cast<uint32_t>(names_.size() - 1);
  }
  const cox_names* abi() {
    rows_.clear();
    for (const std::string& name : names_) rows_.push_back({name.data(), name.size()});
    table_ = {sizeof table_, static_cast<uint32_t>(rows_.size()), rows_.data()};
    return &table_;
  }

 private:
  std::deque<std::string> names_;
  std::vector<cox_str> rows_;
  cox_names table_{};
};

// The columns of one view. Never moves; its pointers live as long as it does.
struct Image {
  Image() = default;
  Image(const Image&) = delete;
  Image& operator=(const Image&) = delete;

  NameTable users, projects, tenants, pools, flavors, gpu_types, node_names, job_names;

  std::vector<int32_t> lane_memory;
  std::vector<const int32_t*> columns;
  cox_nodes nodes{};

  std::vector<uint64_t> job_id;
  std::vector<cox_str> job_name;
  std::vector<uint32_t> user, project, tenant, priority, guaranteed, capacity, attempt, replicas;
  std::vector<int64_t> submit_ns, start_ns;
  cox_jobs pending{}, running{};

  std::vector<uint32_t> row_level, row_subject, row_capacity, row_pool, row_flavor;
  std::vector<int64_t> row_limit, row_used;
  cox_ledger ledger{};

  std::vector<cox_str> policy_id;
  std::vector<uint32_t> policy_kind, policy_scope, node_begin, policy_node;
  std::vector<uint64_t> policy_subject;
  std::vector<int64_t> policy_expires;
  cox_policies policies{};

  std::vector<uint32_t> ask_job, ask_capacity, ask_pool, ask_flavor, ask_row_begin, ask_row;
  std::vector<int64_t> ask_units;
  cox_asks asks{};

  cox_view view{};
};

}  // namespace detail

class Cluster {
 public:
  Cluster& Now(int64_t seconds) { return now_ns_ = seconds * kSecond, *this; }
  Cluster& Add(Node v) { return nodes_.push_back(std::move(v)), *this; }
  Cluster& Add(Job v) { return jobs_.push_back(std::move(v)), *this; }
  Cluster& Add(Quota v) { return quotas_.push_back(std::move(v)), *this; }
  Cluster& Add(Policy v) { return policies_.push_back(std::move(v)), *this; }
  Cluster& Add(Ask v) { return asks_.push_back(std::move(v)), *this; }
  // A host that fills only the first `n` node columns.
  Cluster& OnlyColumns(uint32_t n) { return known_columns_ = n, *this; }

  const std::vector<Node>& nodes() const { return nodes_; }
  const std::vector<Job>& jobs() const { return jobs_; }

  // Valid until the cluster changes.
  const cox_view& view() { return Build().view; }
  // The asks that go with the last view().
  const cox_asks& asks_of_view() const { return image_->asks; }
  // Of one replica of the job in row `job`: demand of your choice, by default next to nothing.
  static cox_shape Shape(uint32_t job = 0, int32_t gpus = 0) {
    return {sizeof(cox_shape), job, 1000, 1024, gpus * 1000, COX_NONE};
  }

 private:
  static uint32_t Count(size_t n) { return static_cast<uint32_t>(n); }

  detail::Image& Build() {
    image_ = std::make_shared<detail::Image>();
    detail::Image& m = *image_;
    BuildNodes(m);
    BuildJobs(m);
    BuildLedger(m);
    BuildPolicies(m);
    BuildAsks(m);
    m.view = {sizeof m.view,
              0,
              1,
              1,
              now_ns_,
              &m.nodes,
              &m.pending,
              &m.running,
              &m.ledger,
              &m.policies,
              m.users.abi(),
              m.projects.abi(),
              m.tenants.abi(),
              m.pools.abi(),
              m.flavors.abi(),
              m.gpu_types.abi()};
    return m;
  }

  void BuildNodes(detail::Image& m) const {
    const uint32_t stride = (Count(nodes_.size()) + 63) / 64 * 64;
    m.lane_memory.assign(size_t{stride} * COX_NODE_COLUMNS + 16, 0);
    auto address = reinterpret_cast<uintptr_t>(m.lane_memory.data());
    int32_t* lanes = m.lane_memory.data() + ((64 - address % 64) % 64) / sizeof(int32_t);
    for (size_t i = 0; i < nodes_.size(); ++i) {
      const Node& n = nodes_[i];
      const int32_t row[COX_NODE_COLUMNS] = {n.cpu_milli,
                                             n.cpu_milli_free,
                                             n.mem_mib,
                                             n.mem_mib_free,
                                             n.gpu_milli,
                                             n.gpu_milli_free,
                                             static_cast<int32_t>(m.gpu_types.Row(n.gpu_type)),
                                             n.ready_age_s};
      for (size_t c = 0; c < COX_NODE_COLUMNS; ++c) lanes[c * stride + i] = row[c];
      m.node_names.Row(n.name);
    }
    for (uint32_t c = 0; c < known_columns_; ++c) m.columns.push_back(lanes + c * stride);
    m.nodes = {sizeof m.nodes, Count(nodes_.size()),     stride,
               known_columns_, m.node_names.abi()->name, m.columns.data()};
  }

  void BuildJobs(detail::Image& m) const {
    for (const Job& j : jobs_) {
      m.job_id.push_back(j.id);
      m.job_name.push_back({j.name.data(), j.name.size()});
      m.user.push_back(m.users.Row(j.user));
      m.project.push_back(m.projects.Row(j.project));
      m.tenant.push_back(m.tenants.Row(j.tenant));
      m.priority.push_back(j.priority);
      m.guaranteed.push_back(j.guaranteed);
      m.capacity.push_back(j.capacity);
      m.attempt.push_back(0);
      m.replicas.push_back(j.replicas);
      m.submit_ns.push_back(j.submit_ns);
      m.start_ns.push_back(0);
    }
    m.pending = {sizeof m.pending,    Count(jobs_.size()), m.job_id.data(),  m.job_name.data(),
                 m.user.data(),       m.project.data(),    m.tenant.data(),  m.priority.data(),
                 m.guaranteed.data(), m.capacity.data(),   m.attempt.data(), m.replicas.data(),
                 m.submit_ns.data(),  m.start_ns.data()};
    m.running = m.pending;
    m.running.count = 0;
  }

  static uint32_t SubjectRow(detail::Image& m, uint32_t level, const std::string& subject) {
    return level == COX_TENANT    ? m.tenants.Row(subject)
           : level == COX_PROJECT ? m.projects.Row(subject)
                                  : m.users.Row(subject);
  }

  void BuildLedger(detail::Image& m) const {
    for (const Quota& q : quotas_) {
      m.row_level.push_back(q.level);
      m.row_subject.push_back(SubjectRow(m, q.level, q.subject));
      m.row_capacity.push_back(q.capacity);
      m.row_pool.push_back(q.pool.empty() ? COX_NONE : m.pools.Row(q.pool));
      m.row_flavor.push_back(m.flavors.Row(q.flavor));
      m.row_limit.push_back(q.limit);
      m.row_used.push_back(q.used);
    }
    m.ledger = {sizeof m.ledger,      Count(quotas_.size()), m.row_level.data(),
                m.row_subject.data(), m.row_capacity.data(), m.row_pool.data(),
                m.row_flavor.data(),  m.row_limit.data(),    m.row_used.data()};
  }

  void BuildPolicies(detail::Image& m) const {
    for (const Policy& p : policies_) {
      m.policy_id.push_back({p.id.data(), p.id.size()});
      m.policy_kind.push_back(p.kind);
      m.policy_scope.push_back(p.scope);
      m.policy_subject.push_back(p.scope == COX_SCOPE_USER     ? m.users.Row(p.subject)
                                 : p.scope == COX_SCOPE_TENANT ? m.tenants.Row(p.subject)
                                                               : p.job);
      m.policy_expires.push_back(p.expires_ns);
      m.node_begin.push_back(Count(m.policy_node.size()));
      for (const std::string& name : p.nodes)
        for (uint32_t n = 0; n < nodes_.size(); ++n)
          if (nodes_[n].name == name) m.policy_node.push_back(n);
    }
    m.node_begin.push_back(Count(m.policy_node.size()));
    m.policies = {sizeof m.policies,       Count(policies_.size()), m.policy_id.data(),
                  m.policy_kind.data(),    m.policy_scope.data(),   m.policy_subject.data(),
                  m.policy_expires.data(), m.node_begin.data(),     m.policy_node.data()};
  }

  void BuildAsks(detail::Image& m) const {
    for (const Ask& a : asks_) {
      m.ask_job.push_back(a.job);
      m.ask_capacity.push_back(a.capacity);
      m.ask_pool.push_back(a.pool.empty() ? COX_NONE : m.pools.Row(a.pool));
      m.ask_flavor.push_back(m.flavors.Row(a.flavor));
      m.ask_units.push_back(a.units);
      m.ask_row_begin.push_back(Count(m.ask_row.size()));
      const Job& job = jobs_.at(a.job);
      const std::string* owner[] = {&job.tenant, &job.project, &job.user};
      for (uint32_t r = 0; r < quotas_.size(); ++r) {
        const Quota& q = quotas_[r];
        if (q.subject == *owner[q.level] && q.capacity == a.capacity && q.flavor == a.flavor &&
            (q.pool.empty() || q.pool == a.pool))
          m.ask_row.push_back(r);
      }
    }
    m.ask_row_begin.push_back(Count(m.ask_row.size()));
    m.asks = {sizeof m.asks,         Count(asks_.size()),    m.ask_job.data(),
              m.ask_capacity.data(), m.ask_pool.data(),      m.ask_flavor.data(),
              m.ask_units.data(),    m.ask_row_begin.data(), m.ask_row.data()};
  }

  int64_t now_ns_ = 0;
  uint32_t known_columns_ = COX_NODE_COLUMNS;
  std::vector<Node> nodes_;
  std::vector<Job> jobs_;
  std::vector<Quota> quotas_;
  std::vector<Policy> policies_;
  std::vector<Ask> asks_;
  std::shared_ptr<detail::Image> image_;
};

}  // namespace cox::harness
