// The batch system of a scenario: nodes that run what they are told, in virtual time. It starts a
// gang at once or not at all, ends it after its run time, kills when it is told to kill, and tells
// truthfully what it sees. It decides nothing. It also looks after the promises that nobody can
// see as well as the machines themselves: no node over its capacity, no attempt started twice.
//
// Owner: simulate.cpp, one thread. While `sink` is nullptr nobody listens: the scheduler is down.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "adapter.hpp"
#include "scenario/history.hpp"
#include "scenario/scenario.hpp"

namespace cox::scenario {

class Batch final : public Actuator {
 public:
  Batch(const Scenario& scenario, History& history);

  // The scenario's second, and the scheduler's clock.
  void SetTime(int64_t second, TimePoint now) {
    second_ = second;
    now_ = now;
  }
  void Connect(DeltaSink* sink) { sink_ = sink; }
  // Has anything been posted since this was asked last?
  bool TakePosted() { return std::exchange(posted_, false); }

  // What happens by itself.
  void Submit(size_t job);
  void End(size_t job, const std::optional<model::Exit>& exit);  // nothing if it does not run
  void Change(const NodeChange& change);
  void ShowAgain(size_t job);
  void ShowAll();
  std::vector<size_t> Due() const;  // jobs whose run time is over
  void RunOut(size_t job);          // ends it as its run time says
  std::optional<int64_t> NextEnd() const;

  // What is ordered.
  void Submit(std::vector<model::Action> actions) override;

  bool Runs(size_t job) const {
    return jobs_[job].shown.phase == model::Observation::Phase::kRunning;
  }
  Resources Free(const std::string& node) const;
  static std::string NativeId(size_t job) { return std::to_string(job + 1); }

 private:
  struct Native {
    bool submitted = false;
    TimePoint submitted_at{};
    model::Observation shown;
    std::vector<model::Replica> replicas;  // of the running attempt
    std::optional<int64_t> ends;           // second
    std::set<int64_t> started;             // attempts that have ever run
  };

  void Carry(const model::Action& action, model::Outcome& outcome);
  void Place(size_t job, const model::Placement& placement);
  void Kill(size_t job, model::Outcome& outcome);
  void Leave(size_t job, std::optional<model::Exit> exit);
  void Show(size_t job);
  void Post(model::Delta delta);
  model::Submission SubmissionOf(size_t job) const;
  void Broken(const std::string& what);

  const Scenario& scenario_;
  History& history_;
  std::map<std::string, model::Node> nodes_;
  std::vector<Native> jobs_;
  DeltaSink* sink_ = nullptr;
  bool posted_ = false;
  int64_t second_ = 0;
  TimePoint now_{};
};

}  // namespace cox::scenario
