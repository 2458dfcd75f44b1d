// One Step in progress: the task as it changes, the orders and events that come of it. Internal to
// lifecycle/; stepper.cpp has the tools and what people and time do, observe.cpp what the batch
// system shows, ending.cpp how an attempt is judged.
#pragma once

#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "lifecycle/step.hpp"

namespace cox::lifecycle {

class Stepper {
 public:
  Stepper(model::Task task, TimePoint now, const Limits& limits, const FaultJudge& judge)
      : before_(task), task_(std::move(task)), now_(now), limits_(limits), judge_(judge) {}

  void On(const Admit& event);
  void On(const Preempt& event);
  void On(const Stop& event);
  void On(const Wait& event);
  void On(const Tick& event);
  void On(const Answered& event);
  void On(const model::Observation& event);
  void On(const model::NativeGone& event);

  void Enter(model::State to, std::string reason, std::string message, bool warning = false);
  // The state stays, its reason or message changes; an event only when the reason does.
  void Note(std::string reason, std::string message, bool warning = false);

  StepResult Finish() &&;

  using What = decltype(model::Action::what);

 private:
  using State = model::State;

  // stepper.cpp
  void Touch() { ++task_.version; }
  void Give(What what);
  void Leave(TimePoint kill_at);  // its processes are going; Kill at that time
  void AskToLeave();              // SIGTERM, then the grace period (S55)
  void KillNow();
  void Withdraw(std::string text);  // GangStartTimeout
  void Answer(const Answered& event);
  Duration Grace() const;

  // observe.cpp
  void Jump(const model::Observation& seen);
  void Adopt(const model::Observation& seen);
  void Started(const model::Observation& seen);
  void Lingers(const model::Observation& seen);
  void Gone(const model::Observation& seen);
  void ShowsTerminal(const model::Observation& seen);
  void ShowsRetrying(const model::Observation& seen);
  void ShowsPending(const model::Observation& seen);
  void Hold(const std::string& held);
  void ShowsCharged(const model::Observation& seen);
  void FollowNodes(const model::Observation& seen);

  // ending.cpp
  // The processes of the attempt are gone. `restartable`: the batch system can run it once more.
  void End(const model::Exit* exit, bool restartable, const std::string& why_not = "");
  void NotStarted(const std::string& reason, const std::string& text);
  void Judge(const model::Exit& exit, bool restartable, const std::string& why_not);
  void Retry(const host::FaultVerdict& verdict, const model::Exit& exit,
             const std::string& message);
  void RunAgain(const model::Observation& seen);
  void Finish(State state, std::string reason, std::string message);
  void NextAttempt(int64_t attempt);
  void Record(const model::Exit* exit, const std::string& failure_class, const std::string& reason,
              const std::string& text, const std::string& action);
  void ReleasePlacement();

  const model::Task before_;
  model::Task task_;
  const TimePoint now_;
  const Limits& limits_;
  const FaultJudge& judge_;
  std::vector<model::Action> actions_;
  std::vector<model::TaskEvent> events_;
};

inline model::Exit ExitOf(model::Cause cause, std::string detail) {
  model::Exit exit;
  exit.cause = cause;
  exit.detail = std::move(detail);
  return exit;
}

// One line about an exit for people: "killed by signal 9 (KILL) on n3, rank 2".
std::string Describe(const model::Exit& exit);

}  // namespace cox::lifecycle
