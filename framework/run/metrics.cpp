#include "run/metrics.hpp"

#include <map>

namespace cox::run {
namespace {

Labels LabelsOf(const model::LedgerKey& key) {
  return {{"level", spec::Name(key.level)},
          {"subject", key.subject},
          {"capacity", spec::Name(key.capacity)},
          {"pool", key.pool},
          {"flavor", key.flavor}};
}

class Sheet {
 public:
  void Gauge(const char* name, const char* help, double value, Labels labels = {}) {
    samples.push_back({name, help, COX_GAUGE, value, std::move(labels)});
  }
  void Counter(const char* name, const char* help, uint64_t value, Labels labels = {}) {
    samples.push_back({name, help, COX_COUNTER, static_cast<double>(value), std::move(labels)});
  }
  void Seconds(const char* name, const char* help, uint64_t nanos, Labels labels = {}) {
    samples.push_back(
        {name, help, COX_COUNTER, static_cast<double>(nanos) / 1e9, std::move(labels)});
  }
  std::vector<Sample> samples;
};

void Quotas(Sheet& sheet, const Published& p) {
  // Not read from the ledger: what it must equal at every moment.
  std::map<model::LedgerKey, int64_t> live;
  for (const auto& [id, task] : p.tasks) {
    if (!task->placement) continue;
    for (const auto& charge : model::Charges(task->owner, task->placement->candidate)) {
      live[charge.key] += charge.units;
    }
  }
  for (const auto& [key, row] : p.ledger->rows()) {
    sheet.Gauge("cox_quota_used_units", "Units in use, as the ledger has it.",
                static_cast<double>(row.used), LabelsOf(key));
    if (row.limit) {
      sheet.Gauge("cox_quota_limit_units", "Units that may be used.",
                  static_cast<double>(*row.limit), LabelsOf(key));
    }
  }
  for (const auto& [key, units] : live) {
    sheet.Gauge("cox_live_allocated_units", "Units held by live jobs, summed job by job.",
                static_cast<double>(units), LabelsOf(key));
  }
  sheet.Gauge("cox_ledger_consistent", "1 while usage equals the sum of live allocations.",
              p.ledger_error.empty() ? 1 : 0);
}

void Inventory(Sheet& sheet, const Published& p) {
  std::map<std::string, double> states;
  for (int i = 0; i <= static_cast<int>(model::State::kStopped); ++i) {
    states[model::Name(static_cast<model::State>(i))] = 0;
  }
  for (const auto& [id, task] : p.tasks) ++states[model::Name(task->state)];
  for (const auto& [state, count] : states) {
    sheet.Gauge("cox_tasks", "Tasks by state.", count, {{"state", state}});
  }
  double ready = 0;
  for (const model::Node& node : p.nodes) ready += node.ready ? 1 : 0;
  sheet.Gauge("cox_nodes", "Nodes.", ready, {{"ready", "1"}});
  sheet.Gauge("cox_nodes", "Nodes.", static_cast<double>(p.nodes.size()) - ready, {{"ready", "0"}});
}

void Totals(Sheet& sheet, const Published& p) {
  const Counters& c = p.counters;
  sheet.Counter("cox_turns_total", "Turns of the decision loop; its liveness.", c.turns);
  sheet.Counter("cox_cycles_total", "Scheduling cycles.", c.cycles);
  sheet.Seconds("cox_cycle_seconds_total", "Time spent in scheduling cycles.", c.cycle_nanos);
  sheet.Counter("cox_starts_total", "Jobs admitted.", c.starts);
  sheet.Counter("cox_evictions_total", "Jobs preempted or reclaimed.", c.evictions);
  sheet.Counter("cox_retries_total", "Attempts that will be tried again.", c.retries);
  sheet.Counter("cox_bind_conflicts_total", "Placements that lost a race.", c.bind_conflicts);
  sheet.Counter("cox_actions_total", "Orders given to the batch system.", c.actions);
  sheet.Counter("cox_actions_overdue_total", "Orders that were not answered in time.",
                c.actions_overdue);
  sheet.Counter("cox_late_outcomes_total", "Answers to no order that is on its way.",
                c.late_outcomes);
  sheet.Counter("cox_store_errors_total", "Failed attempts to save.", c.store_errors);
  sheet.Counter("cox_reloads_total", "Configurations taken over.", c.reloads);
  sheet.Counter("cox_reload_errors_total", "Configurations refused.", c.reload_errors);
  sheet.Counter("cox_recorder_dropped_total", "Cycles that were not recorded.", c.recorder_dropped);
  sheet.Gauge("cox_degraded", "1 while nothing can be saved, so nothing is decided.",
              p.degraded.empty() ? 0 : 1);
  sheet.Gauge("cox_ready", "1 while the scheduler decides.", p.not_ready.empty() ? 1 : 0);
}

void Instances(Sheet& sheet, const Published& p) {
  for (const host::InstanceStatus& status : p.instances) {
    sheet.Gauge("cox_plugin_quarantined", "1 while the instance is out.",
                status.quarantined.empty() ? 0 : 1, {{"instance", status.name}});
    for (int i = 0; i < host::kPoints; ++i) {
      const host::PointStats& point = status.points[i];
      if (!point.offered) continue;
      const Labels labels = {{"instance", status.name},
                             {"point", host::Name(static_cast<host::Point>(i))}};
      sheet.Counter("cox_plugin_calls_total", "Calls of the plugin.", point.calls, labels);
      sheet.Counter("cox_plugin_errors_total", "Calls that failed.", point.errors, labels);
      sheet.Counter("cox_plugin_overruns_total", "Calls over their budget.", point.overruns,
                    labels);
      sheet.Seconds("cox_plugin_seconds_total", "Time spent in the plugin.",
                    static_cast<uint64_t>(point.nanos), labels);
    }
  }
}

cox_str View(const std::string& text) {
  return {text.data(), text.size()};
}

// The columns of cox_samples and cox_targets; they point into the vectors they were made of.
struct LabelColumns {
  std::vector<uint32_t> begin = {0};
  std::vector<cox_str> key, value;
  void Add(const Labels& labels) {
    for (const auto& [k, v] : labels) {
      key.push_back(View(k));
      value.push_back(View(v));
    }
    begin.push_back(static_cast<uint32_t>(key.size()));
  }
};

void Tell(host::Plugins& plugins, const std::vector<Sample>& samples,
          const std::vector<Target>& targets) {
  std::vector<cox_str> name, help, address, path;
  std::vector<uint32_t> kind;
  std::vector<double> value;
  LabelColumns sample_labels, target_labels;
  for (const Sample& sample : samples) {
    name.push_back(View(sample.name));
    help.push_back(View(sample.help));
    kind.push_back(sample.kind);
    value.push_back(sample.value);
    sample_labels.Add(sample.labels);
  }
  for (const Target& target : targets) {
    address.push_back(View(target.address));
    path.push_back(View(target.path));
    target_labels.Add(target.labels);
  }
  const cox_samples abi_samples = {sizeof(cox_samples),
                                   static_cast<uint32_t>(samples.size()),
                                   name.data(),
                                   help.data(),
                                   kind.data(),
                                   value.data(),
                                   sample_labels.begin.data(),
                                   sample_labels.key.data(),
                                   sample_labels.value.data()};
  const cox_targets abi_targets = {sizeof(cox_targets),
                                   static_cast<uint32_t>(targets.size()),
                                   address.data(),
                                   path.data(),
                                   target_labels.begin.data(),
                                   target_labels.key.data(),
                                   target_labels.value.data()};
  plugins.Observe(abi_samples, abi_targets);
}

}  // namespace

std::vector<Sample> Samples(const Published& published) {
  Sheet sheet;
  Quotas(sheet, published);
  Inventory(sheet, published);
  Totals(sheet, published);
  Instances(sheet, published);
  return std::move(sheet.samples);
}

std::vector<Target> Targets(const Published& published) {
  std::map<std::string, std::string> address;
  for (const model::Node& node : published.nodes) {
    address[node.name] = node.address.empty() ? node.name : node.address;
  }
  std::vector<Target> targets;
  for (const auto& [id, task] : published.tasks) {
    if (task->state != model::State::kRunning || !task->job->metrics.enabled) continue;
    const std::string& pool = task->placement->candidate.pool;
    for (const model::Replica& replica : task->placement->replicas) {
      const auto known = address.find(replica.node);
      Target target;
      target.address = (known == address.end() ? replica.node : known->second) + ":" +
                       std::to_string(task->job->metrics.port);
      target.path = task->job->metrics.path;
      target.labels = {{"cluster", task->job->cluster},
                       {"orgname", task->org},
                       {"user", task->owner.user},
                       {"module", "training"},  // D15
                       {"task_type", spec::Name(task->job->type)},
                       {"task_name", task->name},
                       {"task_uuid", task->attempt_uuid},
                       {"resource_pool", pool.empty() ? task->job->scheduling.queue : pool},
                       {"region", task->job->region},
                       {"role", model::Name(replica.role)},
                       {"rank", std::to_string(replica.rank)}};
      targets.push_back(std::move(target));
    }
  }
  return targets;
}

Observer::Observer(Look look, Duration interval) : look_(std::move(look)) {
  thread_ = std::thread([this, interval] { Run(interval); });
}

Observer::~Observer() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

void Observer::Observe() {
  const std::shared_ptr<const Published> picture = look_();
  const uint64_t turn = picture->counters.turns;
  if (turn > last_turn_ + 1) skipped_ += turn - last_turn_ - 1;
  last_turn_ = turn;
  if (!picture->plugins->Offers(host::Point::kMonitor)) return;
  Tell(*picture->plugins, Samples(*picture), Targets(*picture));
  ++observed_;
}

void Observer::Run(Duration interval) {
  std::unique_lock lock(mutex_);
  while (!stop_) {
    lock.unlock();
    Observe();
    lock.lock();
    changed_.wait_for(lock, interval, [this] { return stop_; });
  }
  lock.unlock();
  Observe();
}

}  // namespace cox::run
