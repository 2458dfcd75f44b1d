#include "run/cluster.hpp"

#include <algorithm>
#include <set>
#include <tuple>

#include "model/probation.hpp"
#include "run/rows.hpp"

namespace cox::run {
namespace {

// A native object that has just been made may be missing from a list that was read before.
constexpr Duration kMadeLately = std::chrono::seconds(60);

model::PolicyRow JobRule(const model::Task& task, const spec::JobNodePolicy& rule) {
  model::PolicyRow row;
  row.scope = model::PolicyRow::Scope::kJob;
  row.id = "job:" + task.name;
  row.type = rule.type;
  row.task = task.id;
  row.node_names = rule.node_names;
  if (rule.ttl_seconds && rule.type == spec::NodePolicyType::kNodeNotIn) {  // D11
    row.expires_at = task.submitted_at + std::chrono::seconds(*rule.ttl_seconds);
  }
  return row;
}

void Earliest(TimePoint& first, TimePoint now, TimePoint at) {
  if (at > now && at < first) first = at;
}

}  // namespace

Cluster::Cluster(std::shared_ptr<const spec::Site> site) : site_(std::move(site)) {
  ledger_.SetLimits(site_->quotas);
}

void Cluster::Restore(const Stored& stored) {
  for (model::Task task : stored.tasks) {
    task.candidates = model::Candidates(*task.job, *site_);
    const uint64_t id = task.id.value;
    const bool has_native = !task.native_id.empty();
    Put(std::move(task));
    const auto live = live_.find(id);
    if (live != live_.end()) live->second = has_native;
  }
  for (const spec::NodePolicy& policy : stored.policies) SetPolicy(policy);
  nominations_ = stored.nominations;
}

void Cluster::UseSite(std::shared_ptr<const spec::Site> site) {
  site_ = std::move(site);
  ledger_.SetLimits(site_->quotas);
  for (const auto& [id, seen] : live_) {
    model::Task task = *tasks_.at(id);
    task.candidates = model::Candidates(*task.job, *site_);
    tasks_[id] = std::make_shared<const model::Task>(std::move(task));
  }
}

void Cluster::Put(model::Task task) {
  const uint64_t id = task.id.value;
  if (!task.root_uuid.empty()) by_root_[task.root_uuid] = id;
  if (!task.native_id.empty()) by_native_[task.native_id] = id;
  if (model::IsCharged(task.state) && task.placement) {
    std::vector<model::Charge> charges = model::Charges(task.owner, task.placement->candidate);
    const auto held = ledger_.allocations().find(id);
    if (held == ledger_.allocations().end() || held->second != charges) {
      ledger_.Allocate(task.id, std::move(charges));
    }
  } else {
    ledger_.Release(task.id);
  }
  if (model::IsTerminal(task.state)) {
    const bool known = tasks_.contains(id);
    if (live_.erase(id) != 0 || !known) ended_.push_back(id);
  } else {
    live_.emplace(id, false);
  }
  tasks_[id] = std::make_shared<const model::Task>(std::move(task));
}

std::vector<TaskId> Cluster::DropEnded(size_t keep) {
  std::vector<TaskId> dropped;
  for (; ended_.size() > keep; ended_.pop_front()) {
    const uint64_t id = ended_.front();
    const auto task = tasks_.at(id);
    const auto forget = [&](auto& index, const std::string& key) {
      const auto it = index.find(key);
      if (it != index.end() && it->second == id) index.erase(it);
    };
    forget(by_root_, task->root_uuid);
    forget(by_native_, task->native_id);
    tasks_.erase(id);
    dropped.push_back(TaskId{id});
  }
  return dropped;
}

void Cluster::SetPolicy(spec::NodePolicy policy) {
  policies_[policy.id] = std::move(policy);
}

bool Cluster::DropPolicy(const std::string& id) {
  return policies_.erase(id) != 0;
}

std::shared_ptr<const model::Task> Cluster::Find(TaskId id) const {
  const auto it = tasks_.find(id.value);
  return it == tasks_.end() ? nullptr : it->second;
}

std::shared_ptr<const model::Task> Cluster::FindNative(const std::string& native_id,
                                                       const std::string& root_uuid) const {
  // The uuid is ours and for ever; a batch system may use its ids again.
  if (!root_uuid.empty()) {
    const auto it = by_root_.find(root_uuid);
    return it == by_root_.end() ? nullptr : tasks_.at(it->second);
  }
  const auto it = by_native_.find(native_id);
  return it == by_native_.end() ? nullptr : tasks_.at(it->second);
}

std::vector<model::Node> Cluster::nodes() const {
  std::vector<model::Node> nodes;
  nodes.reserve(nodes_.size());
  for (const auto& [name, node] : nodes_) nodes.push_back(node);
  return nodes;
}

// ---- Deltas ----

void Cluster::Observe(Effects& effects, const model::Observation& seen) {
  const auto task = FindNative(seen.native_id, seen.root_uuid);
  if (task == nullptr) return;
  const auto live = live_.find(task->id.value);
  if (live != live_.end()) live->second = true;
  effects.emplace_back(task->id, seen);
}

Cluster::Effects Cluster::ApplyBaseline(const model::Baseline& baseline, TimePoint now) {
  has_baseline_ = true;
  nodes_.clear();
  for (const model::Node& node : baseline.nodes) nodes_[node.name] = node;
  Effects effects;
  std::set<uint64_t> listed;
  const auto list = [&](const std::string& native_id, const std::string& root_uuid) {
    const auto task = FindNative(native_id, root_uuid);
    if (task != nullptr) listed.insert(task->id.value);
  };
  for (const model::Observation& seen : baseline.attempts) {
    list(seen.native_id, seen.root_uuid);
    Observe(effects, seen);
  }
  for (const model::Submission& s : baseline.submissions) list(s.native_id, s.root_uuid);
  for (const auto& [id, seen] : live_) {
    const model::Task& task = *tasks_.at(id);
    if (listed.contains(id) || task.native_id.empty()) continue;
    if (!seen && now - task.submitted_at < kMadeLately) continue;
    effects.emplace_back(task.id, model::NativeGone{task.native_id, task.root_uuid});
  }
  return effects;
}

Cluster::Effects Cluster::Apply(const model::Delta& delta, TimePoint now) {
  Effects effects;
  if (const auto* baseline = std::get_if<model::Baseline>(&delta)) {
    return ApplyBaseline(*baseline, now);
  }
  if (const auto* update = std::get_if<model::NodeUpdate>(&delta)) {
    nodes_[update->node.name] = update->node;
  } else if (const auto* gone = std::get_if<model::NodeGone>(&delta)) {
    nodes_.erase(gone->name);
  } else if (const auto* observed = std::get_if<model::Observed>(&delta)) {
    Observe(effects, observed->attempt);
  } else if (const auto* native = std::get_if<model::NativeGone>(&delta)) {
    const auto task = FindNative(native->native_id, native->root_uuid);
    if (task != nullptr) effects.emplace_back(task->id, *native);
  }
  return effects;
}

// ---- Snapshot and timers ----

std::vector<model::PolicyRow> Cluster::PolicyRows(TimePoint now) const {
  std::vector<model::PolicyRow> rows;
  for (const auto& [id, policy] : policies_) {
    const auto& kinds = policy.workload_types;
    if (!policy.enabled || std::find(kinds.begin(), kinds.end(), "task") == kinds.end()) continue;
    model::PolicyRow row;
    row.scope =
        policy.tenant_scope ? model::PolicyRow::Scope::kTenant : model::PolicyRow::Scope::kUser;
    row.id = id;
    row.type = policy.type;
    row.subject = policy.subject;
    row.node_names = policy.node_names;
    row.expires_at = policy.expires_at;
    if (row.expires_at <= now && !model::IsOnProbation(row, now)) continue;
    rows.push_back(std::move(row));
  }
  for (const auto& [id, seen] : live_) {
    const model::Task& task = *tasks_.at(id);
    if (task.state != model::State::kPending) continue;
    const auto& rule = task.job->scheduling.node_policy;
    if (rule) {
      model::PolicyRow row = JobRule(task, *rule);
      if (row.expires_at > now) rows.push_back(std::move(row));
    }
    for (const model::Exclusion& exclusion : task.exclusions) {
      if (exclusion.until <= now) continue;
      model::PolicyRow row;
      row.scope = model::PolicyRow::Scope::kFailure;
      row.id = "failure:" + task.name + ":" + exclusion.node;
      row.task = task.id;
      row.node_names = {exclusion.node};
      row.expires_at = exclusion.until;
      rows.push_back(std::move(row));
    }
  }
  std::sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) {
    return std::tie(a.scope, a.id, a.task) < std::tie(b.scope, b.id, b.task);
  });
  return rows;
}

model::Snapshot Cluster::Freeze(TimePoint now, uint64_t generation, uint64_t seed) const {
  model::Snapshot snapshot;
  snapshot.generation = generation;
  snapshot.now = now;
  snapshot.seed = seed;
  snapshot.site = site_;
  snapshot.nodes = nodes();
  for (const auto& [id, seen] : live_) {
    const model::Task& task = *tasks_.at(id);
    if (task.placement) {
      snapshot.running.push_back(RunningRow(task, now));
    } else if (task.state == model::State::kPending && !task.native_id.empty()) {
      snapshot.pending.push_back(PendingRow(task));
    }
  }
  snapshot.nominations = nominations_;
  snapshot.policies = PolicyRows(now);
  snapshot.ledger = ledger_;
  return snapshot;
}

TimePoint Cluster::NextTimer(TimePoint now) const {
  TimePoint first = kNever;
  for (const auto& [id, seen] : live_) {
    const model::Task& task = *tasks_.at(id);
    Earliest(first, now, task.deadline);
    if (task.state != model::State::kPending) continue;
    Earliest(first, now, task.not_before);
    for (const model::Exclusion& exclusion : task.exclusions) Earliest(first, now, exclusion.until);
    const auto& rule = task.job->scheduling.node_policy;
    if (rule) Earliest(first, now, JobRule(task, *rule).expires_at);
  }
  for (const auto& [id, policy] : policies_) Earliest(first, now, policy.expires_at);
  for (const model::Nomination& n : nominations_) Earliest(first, now, n.expires_at);
  return first;
}

std::vector<TaskId> Cluster::Overdue(TimePoint now) const {
  std::vector<TaskId> ids;
  for (const auto& [id, seen] : live_) {
    if (tasks_.at(id)->deadline <= now) ids.push_back(TaskId{id});
  }
  return ids;
}

Result<void> Cluster::CheckLedger() const {
  if (auto sums = ledger_.Check(); !sums) return sums;
  std::string wrong;
  for (const auto& [id, task] : tasks_) {
    const bool charged = model::IsCharged(task->state) && task->placement;
    const auto held = ledger_.allocations().find(id);
    const bool holds = held != ledger_.allocations().end();
    if (holds == charged &&
        (!charged || held->second == model::Charges(task->owner, task->placement->candidate))) {
      continue;
    }
    wrong += " " + task->name + " is " + model::Name(task->state) + " and " +
             (holds ? "holds an allocation that is not its own" : "holds no allocation") + ";";
  }
  if (wrong.empty()) return {};
  return Internal("ledger:" + wrong);
}

}  // namespace cox::run
