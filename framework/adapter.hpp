// The port: all that an adapter is to the framework. An adapter translates and carries out; it
// never decides. It owns its threads; both halves are made and destroyed by its main().
#pragma once

#include <vector>

#include "base/result.hpp"
#include "model/action.hpp"
#include "model/delta.hpp"

namespace cox {

// Where deltas go. Thread-safe, never blocks, keeps the order of one caller.
class DeltaSink {
 public:
  virtual ~DeltaSink() = default;
  virtual void Post(model::Delta delta) = 0;
};

// The batch system's state, flowing in.
class Source {
 public:
  virtual ~Source() = default;
  // Posts a Baseline, then changes, until Stop(). The sink outlives the source. An error: the
  // batch system cannot be reached at all; Start may be called again.
  virtual Result<void> Start(DeltaSink& sink) = 0;
  virtual void Kick() = 0;  // something may have changed; look soon. Any thread.
  virtual void Stop() = 0;  // returns when no more deltas will be posted
};

// Orders, flowing out. Submit() returns at once; each action is answered by one Outcome posted to
// the sink of the source's Start(), in any order. Called by the decision thread only.
class Actuator {
 public:
  virtual ~Actuator() = default;
  virtual void Submit(std::vector<model::Action> actions) = 0;
};

}  // namespace cox
