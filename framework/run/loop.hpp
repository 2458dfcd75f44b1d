// The decision loop: the one writer. A turn = drain the inbox; apply each delta to the cluster;
// step the tasks it concerns; freeze a snapshot; Decide; step the tasks it starts, evicts or leaves
// waiting; save all of it in one transaction; only then hand the actions to the adapter, answer the
// requests and publish. What is not saved is not carried out: while the store fails the loop goes
// on reading the world, but decides nothing new and gives no orders until a Save() works again.
//
// Nothing is decided before the store is loaded and one Baseline has come (complaints X1, Q10).
//
// A main() wires: MakeConfig -> Store::Open -> Loop::Create -> ControlServer -> source.Start(
// loop.sink()) -> loop.Run(). The outcomes of actions go into loop.sink() too. Tests call Turn(now)
// and never wait.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>

#include "adapter.hpp"
#include "base/log.hpp"
#include "base/result.hpp"
#include "base/time.hpp"
#include "run/config.hpp"
#include "run/inbox.hpp"
#include "run/published.hpp"
#include "run/store.hpp"

namespace cox::run {

class Recorder;

struct LoopParts {  // all outlive the loop
  const Clock* clock = nullptr;
  Store* store = nullptr;
  Actuator* actuator = nullptr;
  Recorder* recorder = nullptr;  // nullptr: cycles are not recorded
  Log* log = nullptr;            // nullptr: nothing is logged
  Config config;
  std::function<Result<Config>()> reload;  // what SIGHUP and `cox reload` load
  // The loop has taken a reloaded configuration over; whoever else uses the site follows here.
  // Decision thread, before anything is decided with it.
  std::function<void(const Config&)> reloaded;
  // What this adapter cannot give a job, a line each, in the words of the specification; such a
  // job is refused, whichever door it comes by. Empty: it can give all of the contract.
  std::function<std::string(const spec::TrainingJob&)> unsupported;
  uint64_t seed = 1;
  size_t keep_ended = 10'000;  // ended tasks that are still known; older ones are forgotten
};

class Loop {
 public:
  // Loads the store and takes the tasks in it up again.
  static Result<std::unique_ptr<Loop>> Create(LoopParts parts);
  ~Loop();

  DeltaSink& sink();          // any thread
  void Ask(Request request);  // any thread; Request's `done` answers

  // Turns until Stop(). The calling thread is the decision thread.
  void Run();
  void Stop();  // any thread

  // One turn at `now`. Returns when the next one is due at the latest.
  TimePoint Turn(TimePoint now);

  std::shared_ptr<const Published> published() const;  // any thread; never null
  // Liveness: grows with every turn, at least once in ten seconds while Run() is healthy (X5).
  uint64_t turns() const;

 private:
  struct State;
  explicit Loop(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace cox::run
