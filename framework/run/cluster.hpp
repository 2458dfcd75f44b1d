// The model of the cluster: nodes, tasks, node policies, nominations and the ledger. One writer,
// the decision thread. It keeps and looks up; what happens to a task is lifecycle/'s, what is
// decided is cycle/'s.
//
// The ledger follows the tasks: Put() charges a task exactly while its state is charged, so usage
// is the sum of live allocations by construction, and CheckLedger() proves it.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "lifecycle/step.hpp"
#include "model/delta.hpp"
#include "model/snapshot.hpp"
#include "model/task.hpp"
#include "run/store.hpp"
#include "spec/site.hpp"

namespace cox::run {

class Cluster {
 public:
  using Tasks = std::map<uint64_t, std::shared_ptr<const model::Task>>;

  explicit Cluster(std::shared_ptr<const spec::Site> site);

  // What the store knows. The nodes come with the first Baseline.
  void Restore(const Stored& stored);
  // After a reload: limits and candidates are derived anew.
  void UseSite(std::shared_ptr<const spec::Site> site);

  // The tasks that a delta concerns, and as what. Nodes are taken over at once. Submissions and
  // Outcomes are the loop's and have no effect here.
  using Effects = std::vector<std::pair<TaskId, lifecycle::Event>>;
  Effects Apply(const model::Delta& delta, TimePoint now);

  void Put(model::Task task);
  // Forgets the tasks that ended first, until no more than `keep` ended ones are left.
  std::vector<TaskId> DropEnded(size_t keep);
  void SetPolicy(spec::NodePolicy policy);
  bool DropPolicy(const std::string& id);
  void SetNominations(std::vector<model::Nomination> nominations) {
    nominations_ = std::move(nominations);
  }

  // nullptr when there is none.
  std::shared_ptr<const model::Task> Find(TaskId id) const;
  std::shared_ptr<const model::Task> FindNative(const std::string& native_id,
                                                const std::string& root_uuid) const;

  const Tasks& tasks() const { return tasks_; }
  const std::map<std::string, spec::NodePolicy>& policies() const { return policies_; }
  const std::vector<model::Nomination>& nominations() const { return nominations_; }
  const model::Ledger& ledger() const { return ledger_; }
  std::vector<model::Node> nodes() const;
  bool has_baseline() const { return has_baseline_; }

  model::Snapshot Freeze(TimePoint now, uint64_t generation, uint64_t seed) const;

  // The earliest time at which something here changes by itself: a deadline, the end of a back-off,
  // of a policy, of an exclusion.
  TimePoint NextTimer(TimePoint now) const;
  // The tasks whose deadline has come.
  std::vector<TaskId> Overdue(TimePoint now) const;

  Result<void> CheckLedger() const;

 private:
  Effects ApplyBaseline(const model::Baseline& baseline, TimePoint now);
  void Observe(Effects& effects, const model::Observation& seen);
  std::vector<model::PolicyRow> PolicyRows(TimePoint now) const;

  std::shared_ptr<const spec::Site> site_;
  std::map<std::string, model::Node> nodes_;
  Tasks tasks_;
  std::unordered_map<std::string, uint64_t> by_root_, by_native_;
  std::deque<uint64_t> ended_;     // in the order of their ends
  std::map<uint64_t, bool> live_;  // not terminal; true once the batch system has shown it
  std::map<std::string, spec::NodePolicy> policies_;
  std::vector<model::Nomination> nominations_;
  model::Ledger ledger_;
  bool has_baseline_ = false;
};

}  // namespace cox::run
