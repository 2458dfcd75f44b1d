// One configured instance of one plugin: its extension tables, and the guard around every call into
// it. The guard measures, counts and puts into words; it decides nothing within a cycle: what an
// instance did wrong takes effect in EndCycle(), between two cycles.
//
// Owner: Plugins. Thread: the decision thread, and the observer's for monitors; records are behind
// a mutex that no plugin code runs under.
#pragma once

#include <cox/plugin.h>

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "host/config.hpp"
#include "host/plugins.hpp"

namespace cox::host {

// Is this a table we can call? ABI major, sizes, names, functions. One line on refusal; `where` is
// the file's path.
Error WrongMajor(const std::string& where, int major, int minor);
Result<void> CheckTable(const cox_plugin* table, const std::string& where);

class Instance {
 public:
  static Result<std::unique_ptr<Instance>> Create(const cox_plugin* table,
                                                  spec::PluginConfig config,
                                                  const Options& options);
  ~Instance();
  Instance(const Instance&) = delete;
  Instance& operator=(const Instance&) = delete;

  const std::string& name() const { return config_.name; }
  int64_t weight() const { return config_.weight; }
  bool Offers(Point point) const;
  bool quarantined() const { return quarantined_.load(std::memory_order_relaxed); }
  // Quota and filter: what the instance's failure means for a job.
  bool deny_on_error() const { return config_.on_error.value_or("deny") == "deny"; }

  const cox_quota* quota() const { return quota_; }
  const cox_priority* priority() const { return priority_; }
  const cox_node_policy* node_policy() const { return node_policy_; }
  const cox_fault* fault() const { return fault_; }
  const cox_monitor* monitor() const { return monitor_; }
  void* self() const { return self_; }

  // Runs `call` (which calls the plugin, judges what it returned and answers a COX_ code) under the
  // guard. False: it failed, or the instance is in quarantine and was not asked.
  template <class Body>
  bool Call(Point point, const char* function, Body&& call) {
    if (quarantined()) return false;
    cox_error error{sizeof error, {}};
    const int64_t begin = ticks_();
    const int32_t code = call(&error);
    return Record(point, function, code, error, ticks_() - begin);
  }

  // The static text of a code.
  std::string ReasonText(cox_verdict verdict) const;
  // Why this instance cannot be asked: the last error, or the quarantine.
  std::string Trouble() const;

  void EndCycle();
  void TakeNotices(std::vector<Notice>& out);
  InstanceStatus Status() const;

 private:
  Instance(const cox_plugin* table, spec::PluginConfig config, Config values,
           const Options& options);
  Result<void> Start();
  template <class Table>
  const Table* Find(const char* extension) const;
  bool Record(Point point, const char* function, int32_t code, const cox_error& error,
              int64_t nanos);
  void Note(Notice::Level level, std::string text);

  static void Log(void* ctx, int32_t level, cox_str message);
  static void Count(void* ctx, cox_str metric, double by);

  struct Tally {
    uint64_t calls = 0, errors = 0;
    int64_t nanos = 0, errors_in_a_row = 0, overruns = 0;
  };

  const cox_plugin* table_;
  const spec::PluginConfig config_;
  Config values_;
  const Ticks ticks_;
  const int64_t max_overruns_;
  cox_host host_{};
  void* self_ = nullptr;
  const cox_quota* quota_ = nullptr;
  const cox_priority* priority_ = nullptr;
  const cox_node_policy* node_policy_ = nullptr;
  const cox_fault* fault_ = nullptr;
  const cox_monitor* monitor_ = nullptr;
  std::atomic<bool> quarantined_ = false;

  mutable std::mutex mutex_;  // guards what follows
  Tally tallies_[kPoints];
  std::string last_error_, sentence_;  // sentence: quarantine to come, or in force, and why
  std::map<std::string, double> counters_;
  std::vector<Notice> notices_;
  uint64_t dropped_notices_ = 0;
};

}  // namespace cox::host
