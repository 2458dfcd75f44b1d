// The loop's insides, in the order in which a turn uses them: loop.cpp has the turn, what it
// decides and keeps; loop_tasks.cpp what comes in; loop_requests.cpp what people ask;
// loop_picture.cpp what others see. Decision thread only, but for `turns`, `stop`, `inbox` and
// `view`. Internal to run/.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "lifecycle/step.hpp"
#include "run/cluster.hpp"
#include "run/loop.hpp"
#include "run/outbox.hpp"

namespace cox::run {

struct Loop::State {
  State(LoopParts p, const Stored& stored);

  LoopParts parts;
  Inbox inbox;
  Cluster cluster;
  Outbox outbox;
  uint64_t next_task, next_policy;
  uint64_t generation = 0;
  std::shared_ptr<const model::Decision> decision = std::make_shared<const model::Decision>();
  TimePoint decide_at{};        // the last decision's wake_at
  TimePoint timer_at = kNever;  // a deadline, the end of a policy or of a back-off
  Counters counters;
  std::atomic<uint64_t> turns = 0;
  std::atomic<bool> stop = false;

  // What this turn has done and is not durable yet.
  Batch batch;
  std::vector<model::Action> orders;
  std::vector<std::function<void()>> answers;
  std::string degraded;
  bool dirty = true;  // something a decision depends on has changed

  // Plugins of before a reload, until nobody else holds them: they are destroyed on this thread.
  std::vector<std::shared_ptr<host::Plugins>> retired;

  std::mutex view_mutex;
  std::shared_ptr<const Published> view;

  TimePoint Turn(TimePoint now);

  // ---- What comes in (loop_tasks.cpp) ----

  void On(const model::Delta& delta, TimePoint now);
  // The one way in for a job; the value is its name.
  Result<std::string> Accept(model::Submission submission, TimePoint now);
  std::string Unsupported(const spec::TrainingJob& job) const;
  void LogRefusal(const model::Submission& submission, const Result<std::string>& accepted);
  void LogEnd(const model::Task& task);
  // After a start: what each task's state calls for, whoever ordered it before.
  void Resume(TimePoint now);
  void StepTask(TaskId id, const lifecycle::Event& event, TimePoint now);
  void Take(lifecycle::StepResult result);
  void Order(std::vector<model::Action> more);

  // ---- What people ask (loop_requests.cpp) ----

  void Ask(Request& request, TimePoint now);
  void On(JudgeRequest& request, TimePoint now);
  void On(SubmitRequest& request, TimePoint now);
  void On(StopRequest& request, TimePoint now);
  void On(CreatePolicyRequest& request, TimePoint now);
  void On(DeletePolicyRequest& request, TimePoint now);
  void On(ReloadRequest& request, TimePoint now);

  // ---- What is decided and kept (loop.cpp) ----

  std::string NotReady() const;  // why nothing is decided; "" = deciding
  void Decide(TimePoint now);
  void Flush(TimePoint now);

  // ---- What others see (loop_picture.cpp) ----

  Published Picture(TimePoint now) const;
  void Publish(TimePoint now);
  void LogNotices();
};

}  // namespace cox::run
