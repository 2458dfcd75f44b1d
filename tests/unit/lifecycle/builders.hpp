// Tasks for the lifecycle tests, brought into a state by the events that lead there.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "lifecycle/step.hpp"
#include "lifecycle/uuid.hpp"

namespace cox::lifecycle::test {

using model::Observation;
using model::State;
using Phase = Observation::Phase;

inline constexpr TimePoint kT0 = FromSeconds(1'000'000);
inline const std::string kRoot = "6fa459ea-ee8a-3ca4-894e-db77e160355e";

inline Limits SiteLimits() {
  return {.start_timeout = std::chrono::seconds(300),
          .unknown_timeout = std::chrono::seconds(120),
          .kill_timeout = std::chrono::seconds(60)};
}

inline FaultJudge Says(host::FaultVerdict verdict) {
  return [verdict](const cox_failure&) { return verdict; };
}
inline FaultJudge RetryJudge() {
  host::FaultVerdict verdict;
  verdict.retry = verdict.counts = true;
  verdict.backoff = std::chrono::seconds(10);
  verdict.reason = "ExitCode";
  return Says(verdict);
}
inline FaultJudge FailJudge() {
  host::FaultVerdict verdict;
  verdict.reason = "ExitCode";
  return Says(verdict);
}

inline spec::TrainingJob Job() {
  spec::TrainingJob job;
  job.command = "train";
  job.region = "north";
  job.cluster = "auriga";
  job.workers = 1;
  job.failure_policy.enabled = true;
  job.scheduling.flavors = {{"h100.1g", 8}};
  return job;
}
inline spec::TrainingJob DebuggedRayJob() {
  spec::TrainingJob job = Job();
  job.type = spec::TaskType::kRayJob;
  job.ray.debug_enabled = true;
  job.ray.debug_hold_seconds = 600;
  return job;
}

inline model::Candidate TwoNodes() {
  model::Candidate candidate;
  candidate.roles = {{model::Role::kMaster, 1, "h100.1g", 8, {}, "h100"},
                     {model::Role::kWorker, 1, "h100.1g", 8, {}, "h100"}};
  return candidate;
}
inline model::Placement OnTwoNodes() {
  return {TwoNodes(), {{model::Role::kMaster, 0, "n1", {}}, {model::Role::kWorker, 1, "n2", {}}}};
}

inline model::Exit ExitCode(int code, const std::string& node = "n2") {
  model::Exit exit;
  exit.exit_code = code;
  exit.node = node;
  exit.rank = 1;
  return exit;
}

// What one event does to one task, under limits and a judge that a test may change.
struct World {
  Limits limits = SiteLimits();
  FaultJudge judge = RetryJudge();
  TimePoint now = kT0;
  StepResult last;

  explicit World(spec::TrainingJob job = Job(), bool interactive = false) {
    model::Task task;
    task.id = TaskId{7};
    task.root_uuid = kRoot;
    task.name = "llama-k3v9x2ab";
    task.owner = {"alice", "nlp", "acme"};
    task.org = "acme-org";
    task.job = std::make_shared<const spec::TrainingJob>(std::move(job));
    task.candidates = {TwoNodes()};
    task.submitted_at = now;
    task.native_id = "1234";
    task.native_interactive = interactive;
    last = Begin(std::move(task), now);
  }

  const model::Task& task() const { return last.task; }

  World& Do(const Event& event) {
    last = Step(last.task, event, now, limits, judge);
    return *this;
  }
  World& Later(int64_t seconds) {
    now += std::chrono::seconds(seconds);
    return *this;
  }
  Observation Sees(Phase phase) const {
    Observation seen;
    seen.native_id = "1234";
    seen.root_uuid = kRoot;
    seen.attempt = task().attempt;
    seen.phase = phase;
    if (phase != Phase::kHeld && phase != Phase::kReleased) seen.nodes = {"n1", "n2"};
    return seen;
  }
  Observation Ends(int exit_code, const std::string& node = "n2") const {
    Observation seen = Sees(Phase::kEnded);
    if (exit_code != 0) seen.exit = ExitCode(exit_code, node);
    return seen;
  }
  World& Run() { return Do(Admit{OnTwoNodes()}).Do(Sees(Phase::kRunning)); }

  template <class T>
  const T* Ordered() const {
    for (const auto& action : last.actions) {
      if (const T* what = std::get_if<T>(&action.what)) return what;
    }
    return nullptr;
  }
};

inline World InState(State state) {
  World w(state == State::kDebugHolding ? DebuggedRayJob() : Job());
  switch (state) {
    case State::kPending:
      return w;
    case State::kAdmitted:
      return w.Do(Admit{OnTwoNodes()});
    case State::kStarting:
      return w.Do(Admit{OnTwoNodes()}).Do(w.Sees(Phase::kStarting));
    case State::kRunning:
      return w.Run();
    case State::kRetrying:
      return w.Run().Do(w.Ends(1));
    case State::kPreempting:
      return w.Run().Do(Preempt{"task a was preempted by another task b", "b"});
    case State::kStopping:
      return w.Run().Do(Stop{"alice"});
    case State::kDebugHolding:
      return w.Run().Do(w.Sees(Phase::kLeaving));
    case State::kUnknown: {
      w.Run();
      Observation lost = w.Sees(Phase::kRunning);
      lost.contact_lost = true;
      return w.Do(lost);
    }
    case State::kSucceeded:
      return w.Run().Do(w.Ends(0));
    case State::kFailed:
      w.judge = FailJudge();
      w.Run().Do(w.Ends(1));
      w.judge = RetryJudge();
      return w;
    case State::kStopped:
      return w.Do(Stop{"alice"});
  }
  return w;
}

inline constexpr State kStates[] = {State::kPending,   State::kAdmitted,     State::kStarting,
                                    State::kRunning,   State::kRetrying,     State::kPreempting,
                                    State::kStopping,  State::kDebugHolding, State::kUnknown,
                                    State::kSucceeded, State::kFailed,       State::kStopped};

}  // namespace cox::lifecycle::test
