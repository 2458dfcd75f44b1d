// What waits for the decision thread: deltas from adapters, requests from people. Many writers, one
// reader. Writers never block; each writer's order is kept.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <variant>
#include <vector>

#include "adapter.hpp"
#include "base/result.hpp"
#include "base/time.hpp"
#include "model/delta.hpp"
#include "run/judge.hpp"
#include "spec/site.hpp"

namespace cox::run {

// Called once, on the decision thread, when what was asked is durable or has been refused. The
// value is a name or id for the person ("" where there is none).
using Done = std::function<void(Result<std::string>)>;

// Who may ask for what is decided before (run/authorize); the loop carries out.
struct SubmitRequest {  // value: the new task's name
  model::Submission submission;
  Done done;
};
struct StopRequest {  // value: the task's name
  TaskId task;
  std::string by;
  Done done;
};
struct CreatePolicyRequest {  // value: the new policy's id
  spec::NodePolicy policy;
  Done done;
};
struct DeletePolicyRequest {
  std::string id;
  Done done;
};
struct ReloadRequest {  // the site file again, all or nothing, between two cycles
  Done done;
};
using Request = std::variant<SubmitRequest, StopRequest, CreatePolicyRequest, DeletePolicyRequest,
                             ReloadRequest, JudgeRequest>;

class Inbox final : public DeltaSink {
 public:
  explicit Inbox(const Clock& clock) : clock_(clock) {}

  void Post(model::Delta delta) override;
  void Ask(Request request);
  void Wake();  // ends a Wait() at once

  struct Contents {
    std::vector<model::Delta> deltas;
    std::vector<Request> requests;
  };
  Contents Drain();

  // Until something is in it, Wake() is called or the clock shows `until`. Looks at the clock again
  // every second, so that a clock that is set does not freeze the loop.
  void Wait(TimePoint until);

 private:
  const Clock& clock_;
  std::mutex mutex_;
  std::condition_variable changed_;
  Contents contents_;
  bool woken_ = false;
};

}  // namespace cox::run
