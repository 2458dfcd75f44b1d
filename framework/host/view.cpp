#include "host/view.hpp"

#include <algorithm>
#include <limits>
#include <type_traits>

namespace cox::host {
namespace {

cox_str Str(std::string_view s) {
  return {s.data(), s.size()};
}

int32_t Clamp(int64_t v) {
  return static_cast<int32_t>(std::clamp<int64_t>(v, 0, std::numeric_limits<int32_t>::max()));
}

// The two sides number the same things in the same order.
template <class E>
uint32_t Number(E value) {
  return static_cast<uint32_t>(value);
}
static_assert(static_cast<int>(spec::CapacityType::kIdle) == COX_IDLE);
static_assert(static_cast<int>(spec::Priority::kHigh) == COX_HIGH);
static_assert(static_cast<int>(spec::QuotaLevel::kUser) == COX_USER);
static_assert(static_cast<int>(spec::NodePolicyType::kNodeNotIn) == COX_NODE_NOT_IN);
static_assert(static_cast<int>(model::PolicyRow::Scope::kFailure) == COX_SCOPE_FAILURE);

uint32_t Replicas(const model::PendingJob& job) {
  int64_t n = 0;
  if (!job.candidates.empty()) {
    for (const auto& role : job.candidates.front().roles) n += role.replicas;
  }
  return static_cast<uint32_t>(n);
}
uint32_t Replicas(const model::RunningJob& job) {
  return static_cast<uint32_t>(job.placement.replicas.size());
}

}  // namespace

void View::Names::Seal() {
  column_.reserve(rows_.size());
  for (const auto& [name, row] : rows_) column_.push_back(Str(name));
  std::ranges::sort(column_, {}, [](cox_str s) { return std::string_view(s.ptr, s.len); });
  for (uint32_t i = 0; i < column_.size(); ++i) rows_[{column_[i].ptr, column_[i].len}] = i;
  table_ = {sizeof table_, static_cast<uint32_t>(column_.size()), column_.data()};
}

uint32_t View::Names::Find(std::string_view name) const {
  const auto it = rows_.find(name);
  return it == rows_.end() ? COX_NONE : it->second;
}

View::View(const model::Snapshot& snapshot) {
  CollectNames(snapshot);
  FillNodes(snapshot);
  pending_.Fill(snapshot.pending);
  running_.Fill(snapshot.running);
  FillLedger(snapshot);
  FillPolicies(snapshot);
  table_ = {sizeof table_,
            0,
            snapshot.generation,
            snapshot.seed,
            ToNanos(snapshot.now),
            &nodes_,
            &pending_.table,
            &running_.table,
            &ledger_,
            &policies_,
            &users_.table(),
            &projects_.table(),
            &tenants_.table(),
            &pools_.table(),
            &flavors_.table(),
            &gpu_types_.table()};
}

void View::CollectNames(const model::Snapshot& snapshot) {
  const auto add_owner = [&](Jobs& jobs, const model::Owner& owner) {
    jobs.owners.push_back(
        {users_.Add(owner.user), projects_.Add(owner.project), tenants_.Add(owner.tenant)});
  };
  for (const auto& job : snapshot.pending) {
    add_owner(pending_, job.owner);
    for (const auto& candidate : job.candidates) {
      if (!candidate.pool.empty()) pools_.Add(candidate.pool);
      for (const auto& role : candidate.roles) flavors_.Add(role.flavor);
    }
  }
  for (const auto& job : snapshot.running) add_owner(running_, job.owner);
  for (const auto& [key, row] : snapshot.ledger.rows()) {
    Names& subjects = key.level == spec::QuotaLevel::kTenant    ? tenants_
                      : key.level == spec::QuotaLevel::kProject ? projects_
                                                                : users_;
    subjects.Add(key.subject);
    if (!key.pool.empty()) pools_.Add(key.pool);
    flavors_.Add(key.flavor);
  }
  for (const auto& policy : snapshot.policies) {
    if (policy.scope == model::PolicyRow::Scope::kUser) users_.Add(policy.subject);
    if (policy.scope == model::PolicyRow::Scope::kTenant) tenants_.Add(policy.subject);
  }
  if (snapshot.site) {
    for (const auto& pool : snapshot.site->pools) pools_.Add(pool.name);
    for (const auto& flavor : snapshot.site->flavors) flavors_.Add(flavor.name);
  }
  for (const auto& node : snapshot.nodes) gpu_types_.Add(node.gpu_type);
  for (Names* names : {&users_, &projects_, &tenants_, &pools_, &flavors_, &gpu_types_}) {
    names->Seal();
  }
}

void View::FillNodes(const model::Snapshot& snapshot) {
  const size_t count = snapshot.nodes.size();
  const size_t stride = (count + 63) / 64 * 64;
  for (Lane& lane : lanes_) lane.assign(stride, 0);
  for (size_t c = 0; c < columns_.size(); ++c) columns_[c] = lanes_[c].data();
  node_names_.reserve(count);
  node_rows_.reserve(count);
  for (uint32_t i = 0; i < count; ++i) {
    const model::Node& node = snapshot.nodes[i];
    node_names_.push_back(Str(node.name));
    node_rows_.emplace(node.name, i);
    lanes_[COX_NODE_CPU_MILLI_CAPACITY][i] = Clamp(node.capacity.cpu_milli);
    lanes_[COX_NODE_MEM_MIB_CAPACITY][i] = Clamp(node.capacity.mem_mib);
    lanes_[COX_NODE_GPU_MILLI_CAPACITY][i] = Clamp(node.capacity.gpu_milli);
    lanes_[COX_NODE_GPU_TYPE][i] = static_cast<int32_t>(gpu_types_.Find(node.gpu_type));
    // A node that became ready this very second is ready: its age is never 0.
    lanes_[COX_NODE_READY_AGE_S][i] =
        node.ready ? std::max(1, Clamp(ToSeconds(snapshot.now) - ToSeconds(node.ready_since))) : 0;
    SetFree(i, node.capacity - node.unmanaged);
  }
  nodes_ = {sizeof nodes_,    static_cast<uint32_t>(count), static_cast<uint32_t>(stride),
            COX_NODE_COLUMNS, node_names_.data(),           columns_.data()};
}

uint32_t View::NodeRow(std::string_view name) const {
  const auto it = node_rows_.find(name);
  return it == node_rows_.end() ? COX_NONE : it->second;
}

void View::SetFree(uint32_t node, const Resources& free) {
  lanes_[COX_NODE_CPU_MILLI_FREE][node] = Clamp(free.cpu_milli);
  lanes_[COX_NODE_MEM_MIB_FREE][node] = Clamp(free.mem_mib);
  lanes_[COX_NODE_GPU_MILLI_FREE][node] = Clamp(free.gpu_milli);
}

template <class Job>
void View::Jobs::Fill(const std::vector<Job>& jobs) {
  for (const Job& job : jobs) {
    const auto& owner = owners[id.size()];
    id.push_back(job.id.value);
    name.push_back(Str(job.name));
    user.push_back(*owner[0]);
    project.push_back(*owner[1]);
    tenant.push_back(*owner[2]);
    priority.push_back(Number(job.priority));
    guaranteed.push_back(job.guaranteed ? 1 : 0);
    capacity.push_back(Number(job.capacity));
    attempt.push_back(static_cast<uint32_t>(job.attempt));
    replicas.push_back(Replicas(job));
    submit_ns.push_back(ToNanos(job.submitted_at));
    if constexpr (std::is_same_v<Job, model::RunningJob>) {
      start_ns.push_back(ToNanos(job.started_at));
    } else {
      start_ns.push_back(0);
    }
  }
  table = {sizeof table,      static_cast<uint32_t>(jobs.size()),
           id.data(),         name.data(),
           user.data(),       project.data(),
           tenant.data(),     priority.data(),
           guaranteed.data(), capacity.data(),
           attempt.data(),    replicas.data(),
           submit_ns.data(),  start_ns.data()};
}

View::PayerKey View::KeyOf(uint32_t pending_job, const model::Candidate& candidate,
                           std::string_view flavor) const {
  return {pending_.user[pending_job], pending_.project[pending_job], pending_.tenant[pending_job],
          Number(candidate.source),   pools_.Find(candidate.pool),   flavors_.Find(flavor)};
}

const View::Payer& View::PayerOf(uint32_t pending_job, const model::Candidate& candidate,
                                 std::string_view flavor) const {
  return payers_.at(KeyOf(pending_job, candidate, flavor));
}

// One row for each quota, each row in use, and each row that a pending job would be charged to.
void View::FillLedger(const model::Snapshot& snapshot) {
  for (const auto& [key, row] : snapshot.ledger.rows()) ledger_rows_.emplace(key, 0);
  // Why by payer: a queue holds a hundred thousand jobs of few owners, and names are slow to
  // compare.
  std::vector<std::pair<Payer*, std::vector<const uint32_t*>>> fresh;
  for (uint32_t job = 0; job < snapshot.pending.size(); ++job) {
    for (const auto& candidate : snapshot.pending[job].candidates) {
      for (const auto& role : candidate.roles) {
        const auto [payer, is_new] = payers_.try_emplace(KeyOf(job, candidate, role.flavor));
        if (!is_new) continue;
        payer->second.number = static_cast<uint32_t>(payers_.size());
        auto& [owner, rows] = fresh.emplace_back(&payer->second, std::vector<const uint32_t*>{});
        for (const auto& charge : model::Charges(snapshot.pending[job].owner, candidate)) {
          if (charge.key.flavor != role.flavor) continue;
          rows.push_back(&ledger_rows_.emplace(charge.key, 0).first->second);
        }
      }
    }
  }
  uint32_t next = 0;
  for (auto& [key, row] : ledger_rows_) {
    row = next++;
    ledger_keys_.push_back(&key);
    const Names& subjects = key.level == spec::QuotaLevel::kTenant    ? tenants_
                            : key.level == spec::QuotaLevel::kProject ? projects_
                                                                      : users_;
    level_.push_back(Number(key.level));
    subject_.push_back(subjects.Find(key.subject));
    capacity_.push_back(Number(key.capacity));
    pool_.push_back(key.pool.empty() ? COX_NONE : pools_.Find(key.pool));
    flavor_.push_back(flavors_.Find(key.flavor));
    const auto known = snapshot.ledger.rows().find(key);
    const bool in_ledger = known != snapshot.ledger.rows().end();
    limit_.push_back(in_ledger ? known->second.limit.value_or(-1) : -1);
    used_.push_back(in_ledger ? known->second.used : 0);
  }
  for (auto& [payer, rows] : fresh) {
    for (const uint32_t* row : rows) payer->rows.push_back(*row);
  }
  ledger_ = {sizeof ledger_, next,           level_.data(), subject_.data(), capacity_.data(),
             pool_.data(),   flavor_.data(), limit_.data(), used_.data()};
}

uint32_t View::LedgerRow(const model::LedgerKey& key) const {
  const auto it = ledger_rows_.find(key);
  return it == ledger_rows_.end() ? COX_NONE : it->second;
}

void View::FillPolicies(const model::Snapshot& snapshot) {
  using Scope = model::PolicyRow::Scope;
  for (const auto& policy : snapshot.policies) {
    if (snapshot.now >= policy.expires_at) continue;  // S78: the end is exclusive
    policy_id_.push_back(Str(policy.id));
    policy_kind_.push_back(Number(policy.type));
    policy_scope_.push_back(Number(policy.scope));
    policy_subject_.push_back(policy.scope == Scope::kUser     ? users_.Find(policy.subject)
                              : policy.scope == Scope::kTenant ? tenants_.Find(policy.subject)
                                                               : policy.task.value);
    policy_expires_.push_back(ToNanos(policy.expires_at));
    policy_begin_.push_back(static_cast<uint32_t>(policy_node_.size()));
    for (const auto& name : policy.node_names) {
      if (const uint32_t row = NodeRow(name); row != COX_NONE) policy_node_.push_back(row);
    }
  }
  policy_begin_.push_back(static_cast<uint32_t>(policy_node_.size()));
  policies_ = {sizeof policies_,       static_cast<uint32_t>(policy_id_.size()),
               policy_id_.data(),      policy_kind_.data(),
               policy_scope_.data(),   policy_subject_.data(),
               policy_expires_.data(), policy_begin_.data(),
               policy_node_.data()};
}

}  // namespace cox::host
