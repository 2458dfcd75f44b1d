// The actuator's insides, on its one thread; `queue` and `stopping` alone are shared, under
// `mutex`. Internal to this folder.
#pragma once

#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "slurm/actuator.hpp"

namespace cox::slurm {

struct Done {                // how an order was carried out
  std::string native_id{};   // of Create
  bool not_started = false;  // of Kill
  bool later = false;        // answered when the release has been watched
};

struct Release {  // a Place that waits for its job to run
  model::Action action;
  std::vector<std::string> nodes;
  TimePoint deadline{};
};

inline bool Runs(const JobRecord& record) {
  return record.state == JobState::kRunning || record.state == JobState::kSuspended;
}

std::string StateText(const JobRecord& record);  // "job 12 is RUNNING, restart 0"

struct SlurmActuator::State {
  explicit State(ActuatorParts p) : parts(p) {}

  ActuatorParts parts;
  std::thread thread;
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<model::Action> queue;
  bool stopping = false;
  std::map<uint32_t, Release> releases;
  std::vector<std::pair<model::Action, Error>> withdrawn;  // releases that a later order ended

  Api& api() { return *parts.api; }

  // ---- What all orders share (actuator.cpp) ----

  void Do(const model::Action& action, DeltaSink& sink);
  void Answer(DeltaSink& sink, const model::Action& action, const Result<Done>& result);
  Result<JobRecord> Load(const model::Action& action);         // whatever its attempt
  Result<JobRecord> LoadAttempt(const model::Action& action);  // Conflict: it has moved on
  Result<void> Hold(uint32_t job);
  static Result<Done> Tolerant(const Result<void>& done);
  Result<Done> Carry(const model::Action& action, const model::Annotate& order);

  // ---- Its beginning (actuator_start.cpp) ----

  Result<Done> Carry(const model::Action& action, const model::Create& order);
  Result<Done> Carry(const model::Action& action, const model::Place& order);
  Result<uint32_t> Made(const model::Action& action, const model::Create& order);
  Result<void> Let(const JobRecord& record, const model::Action& action, const model::Place& order);
  void Watch(DeltaSink& sink);
  std::optional<Result<void>> Judge(const Release& release, const JobRecord& record);
  void Withdraw(uint32_t job, Error why);  // a later order has overtaken its release

  // ---- Its end (actuator_end.cpp) ----

  Result<Done> Carry(const model::Action& action, const model::Terminate& order);
  Result<Done> Carry(const model::Action& action, const model::Kill& order);
  Result<Done> Carry(const model::Action& action, const model::Requeue& order);
  Result<Done> Carry(const model::Action& action, const model::Discard& order);
  Result<void> Term(const JobRecord& record);
  Result<void> Requeued(const model::Action& action, int64_t next);
};

}  // namespace cox::slurm
