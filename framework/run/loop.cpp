#include "run/loop.hpp"

#include <algorithm>
#include <mutex>
#include <utility>

#include "cycle/decide.hpp"
#include "lifecycle/step.hpp"
#include "lifecycle/uuid.hpp"
#include "run/accept.hpp"
#include "run/cluster.hpp"
#include "run/outbox.hpp"
#include "run/recorder.hpp"

namespace cox::run {
namespace {

constexpr Duration kHeartbeat = std::chrono::seconds(10);  // turns() grows at least this often
constexpr Duration kStoreRetry = std::chrono::seconds(1);

lifecycle::Limits LimitsOf(const spec::Site& site) {
  lifecycle::Limits limits;
  limits.start_timeout = std::chrono::seconds(site.start_timeout_seconds);
  limits.unknown_timeout = std::chrono::seconds(site.unknown_timeout_seconds);
  return limits;
}

// What a waiting job's owner reads: every different reason, the first one's code in front.
lifecycle::Wait WaitFor(const model::Explanation& explanation) {
  lifecycle::Wait wait;
  for (const model::Blocker& blocker : explanation.blockers) {
    if (wait.reason.empty()) wait.reason = blocker.code;
    if (wait.message.find(blocker.text) != std::string::npos) continue;
    wait.message += (wait.message.empty() ? "" : "; ") + blocker.text;
  }
  return wait;
}

}  // namespace

struct Loop::State {
  State(LoopParts p, const Stored& stored)
      : parts(std::move(p)),
        inbox(*parts.clock),
        cluster(parts.config.site),
        outbox(*parts.actuator, stored.starts),
        next_task(stored.next_task),
        next_policy(stored.next_policy) {
    cluster.Restore(stored);
    view = std::make_shared<const Published>(Picture(parts.clock->Now()));
  }

  LoopParts parts;
  Inbox inbox;
  Cluster cluster;
  Outbox outbox;
  uint64_t next_task, next_policy;
  uint64_t generation = 0;
  std::shared_ptr<const model::Decision> decision = std::make_shared<const model::Decision>();
  TimePoint decide_at{};  // the last decision's wake_at
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

  // ---- Tasks ----

  void Take(lifecycle::StepResult result) {
    const uint64_t id = result.task.id.value;
    const auto before = cluster.Find(result.task.id);
    const bool changed = before == nullptr || before->version != result.task.version;
    for (model::TaskEvent& event : result.events) batch.events.push_back(std::move(event));
    for (model::Action& order : result.actions) orders.push_back(std::move(order));
    if (!changed) return;
    // Without a native object a task cannot be placed; with one it can.
    if (before != nullptr && before->native_id != result.task.native_id) dirty = true;
    if (before != nullptr && before->state != result.task.state) {
      dirty = true;
      if (result.task.state == model::State::kRetrying) ++counters.retries;
      if (result.task.reason == "BindConflict") ++counters.bind_conflicts;
    }
    cluster.Put(std::move(result.task));
    batch.tasks[id] = cluster.Find(TaskId{id});
  }

  void StepTask(TaskId id, const lifecycle::Event& event, TimePoint now) {
    const auto task = cluster.Find(id);
    if (task == nullptr) return;
    const auto judge = [&](const cox_failure& failure) {
      return parts.config.plugins->Judge(failure);
    };
    Take(lifecycle::Step(*task, event, now, LimitsOf(*parts.config.site), judge));
  }

  Result<std::string> Accept(const model::Submission& submission, TimePoint now) {
    if (!submission.root_uuid.empty() || !submission.native_id.empty()) {
      const auto known = cluster.FindNative(submission.native_id, submission.root_uuid);
      if (known != nullptr) return known->name;
    }
    Accepted accepted =
        run::Accept(submission, *parts.config.site, *parts.config.plugins, TaskId{next_task}, now);
    const bool no_trace = !accepted.refused.empty() && submission.native_id.empty();
    if (no_trace) return InvalidArgument(accepted.refused);  // 3.3: rejected, no object
    batch.next_task = ++next_task;
    dirty = true;
    const std::string name = accepted.begun.task.name;
    Take(std::move(accepted.begun));
    if (!accepted.refused.empty()) return InvalidArgument(accepted.refused);
    return name;
  }

  // ---- Step 1: what came in ----

  void On(const model::Delta& delta, TimePoint now) {
    if (const auto* outcome = std::get_if<model::Outcome>(&delta)) {
      if (const auto settled = outbox.Settle(*outcome, now)) {
        StepTask(settled->task, settled->answer, now);
      }
      return;
    }
    if (const auto* submission = std::get_if<model::Submission>(&delta)) {
      LogRefusal(*submission, Accept(*submission, now));
      return;
    }
    dirty = true;
    const bool first = !cluster.has_baseline();
    for (const auto& [task, event] : cluster.Apply(delta, now)) StepTask(task, event, now);
    if (const auto* baseline = std::get_if<model::Baseline>(&delta)) {
      for (const model::Submission& s : baseline->submissions) LogRefusal(s, Accept(s, now));
      if (first) Resume(now);
    }
  }

  // After a start: what each task's state calls for, whoever ordered it before.
  void Resume(TimePoint now) {
    for (const auto& [id, task] : cluster.tasks()) {
      if (model::IsTerminal(task->state)) continue;
      for (model::Action& order : lifecycle::Orders(*task, now)) orders.push_back(std::move(order));
    }
  }

  void LogRefusal(const model::Submission& submission, const Result<std::string>& accepted) {
    if (accepted || parts.log == nullptr) return;
    parts.log->Info("submission refused",
                    {{"native", submission.native_id}, {"why", accepted.error().text}});
  }

  // ---- Step 2: what people ask ----

  template <class T>
  void Answer(T& request, Result<std::string> result) {
    if (!request.done) return;
    answers.push_back(
        [done = std::move(request.done), result = std::move(result)] { done(result); });
  }

  void On(JudgeRequest& request, TimePoint now) {
    request.done(
        AdmissionCheck(*parts.config.site, *parts.config.plugins, request.user, request.job, now));
  }
  void On(SubmitRequest& request, TimePoint now) {
    Answer(request, Accept(request.submission, now));
  }
  void On(StopRequest& request, TimePoint now) {
    const auto task = cluster.Find(request.task);
    if (task == nullptr) return Answer(request, NotFound("no such task"));
    if (model::IsTerminal(task->state)) {
      return Answer(request, FailedPrecondition(task->name +
                                                " has already ended: " + model::Name(task->state)));
    }
    StepTask(request.task, lifecycle::Stop{request.by}, now);
    Answer(request, task->name);
  }
  void On(CreatePolicyRequest& request, TimePoint) {
    request.policy.id = "np-" + std::to_string(next_policy);
    batch.next_policy = ++next_policy;
    batch.policies[request.policy.id] = request.policy;
    cluster.SetPolicy(request.policy);
    dirty = true;
    Answer(request, request.policy.id);
  }
  void On(DeletePolicyRequest& request, TimePoint) {
    if (!cluster.DropPolicy(request.id)) {
      return Answer(request, NotFound("no node policy " + request.id));
    }
    batch.policies.erase(request.id);
    batch.deleted_policies.push_back(request.id);
    dirty = true;
    Answer(request, request.id);
  }
  void On(ReloadRequest& request, TimePoint) {
    Result<Config> loaded =
        parts.reload ? parts.reload() : Result<Config>(FailedPrecondition("nothing to reload"));
    if (!loaded) {
      ++counters.reload_errors;
      if (parts.log != nullptr) {
        parts.log->Error("reload refused, the old configuration stays",
                         {{"why", loaded.error().text}});
      }
      return Answer(request, loaded.error());
    }
    ++counters.reloads;
    retired.push_back(parts.config.plugins);
    parts.config = *std::move(loaded);
    cluster.UseSite(parts.config.site);
    dirty = true;
    if (parts.log != nullptr) parts.log->Info("configuration reloaded");
    Answer(request, std::string());
  }

  void Ask(Request& request, TimePoint now) {
    const bool writes = !std::holds_alternative<ReloadRequest>(request) &&
                        !std::holds_alternative<JudgeRequest>(request);
    if (writes && !degraded.empty()) {
      const Error refused = Unavailable("nothing can be kept at the moment: " + degraded);
      std::visit(
          [&](auto& r) {
            if constexpr (!std::is_same_v<std::decay_t<decltype(r)>, JudgeRequest>) {
              if (r.done) r.done(refused);
            }
          },
          request);
      return;
    }
    std::visit([&](auto& r) { On(r, now); }, request);
  }

  // ---- Step 3: decide ----

  std::string NotReady() const {
    if (!cluster.has_baseline()) return "the batch system has not yet shown its state";
    if (!degraded.empty()) return degraded;
    return "";
  }

  void Decide(TimePoint now) {
    const int64_t begin = host::SteadyTicks();
    host::Plugins& plugins = *parts.config.plugins;
    const model::Snapshot snapshot = cluster.Freeze(now, ++generation, parts.seed);
    model::Decision made = cycle::Decide(snapshot, plugins);
    if (parts.recorder != nullptr) parts.recorder->Record(parts.config, snapshot, made);
    plugins.EndCycle();

    for (const model::Eviction& eviction : made.evictions) {
      const auto victim = cluster.Find(eviction.victim);
      const auto preemptor = cluster.Find(eviction.preemptor);
      if (victim == nullptr || victim->attempt != eviction.attempt) continue;
      ++counters.evictions;
      StepTask(eviction.victim,
               lifecycle::Preempt{eviction.message, preemptor ? preemptor->name : "",
                                  eviction.spot_reclaim},
               now);
    }
    for (const model::Start& start : made.starts) {
      const auto task = cluster.Find(start.task);
      if (task == nullptr || task->attempt != start.attempt) continue;
      ++counters.starts;
      StepTask(start.task, lifecycle::Admit{start.placement}, now);
    }
    for (const model::Explanation& waiting : made.waiting) {
      StepTask(waiting.task, WaitFor(waiting), now);
    }
    if (made.nominations != cluster.nominations()) {
      cluster.SetNominations(made.nominations);
      batch.nominations = made.nominations;
      batch.nominations_changed = true;
    }
    decide_at = made.wake_at.value_or(kNever);
    decision = std::make_shared<const model::Decision>(std::move(made));
    ++counters.cycles;
    counters.cycle_nanos += static_cast<uint64_t>(host::SteadyTicks() - begin);
    dirty = false;
  }

  // ---- Step 4: keep, then act ----

  void Flush(TimePoint now) {
    if (!batch.empty()) {
      const Result<void> saved = parts.store->Save(batch);
      if (!saved) {
        ++counters.store_errors;
        if (degraded.empty() && parts.log != nullptr) {
          parts.log->Error("cannot save; nothing is decided until it works again",
                           {{"why", saved.error().text}});
        }
        degraded = saved.error().text;
        return;
      }
      batch = Batch{};
    }
    if (!degraded.empty()) {
      degraded.clear();
      dirty = true;
      if (parts.log != nullptr) parts.log->Info("saved again");
    }
    // While it could not be saved, a start may have been given up.
    std::erase_if(orders, [&](const model::Action& order) {
      const auto task = cluster.Find(order.task);
      return std::holds_alternative<model::Place>(order.what) &&
             (task == nullptr || task->state != model::State::kAdmitted ||
              task->attempt != order.attempt);
    });
    outbox.Send(std::exchange(orders, {}), now);
  }

  Published Picture(TimePoint now) {
    Published p;
    p.now = now;
    p.generation = generation;
    p.not_ready = NotReady();
    p.degraded = degraded;
    p.site = parts.config.site;
    p.plugins = parts.config.plugins;
    p.instances = parts.config.plugins->Status();
    p.nodes = cluster.nodes();
    p.tasks = cluster.tasks();
    for (const auto& [id, policy] : cluster.policies()) p.policies.push_back(policy);
    p.ledger = std::make_shared<const model::Ledger>(cluster.ledger());
    if (const auto checked = cluster.CheckLedger(); !checked) p.ledger_error = checked.error().text;
    p.decision = decision;
    p.counters = counters;
    p.counters.actions = outbox.sent();
    p.counters.actions_overdue = outbox.overdue();
    p.counters.late_outcomes = outbox.late();
    p.counters.recorder_dropped = parts.recorder == nullptr ? 0 : parts.recorder->dropped();
    return p;
  }

  void Publish(TimePoint now) {
    auto picture = std::make_shared<const Published>(Picture(now));
    const std::lock_guard lock(view_mutex);
    view.swap(picture);
  }

  void LogNotices() {
    for (const host::Notice& notice : parts.config.plugins->TakeNotices()) {
      if (parts.log == nullptr) continue;
      const Log::Fields fields = {{"plugin", notice.instance}, {"text", notice.text}};
      switch (notice.level) {
        case host::Notice::Level::kError:
          parts.log->Error("plugin", fields);
          break;
        case host::Notice::Level::kWarn:
          parts.log->Warn("plugin", fields);
          break;
        case host::Notice::Level::kInfo:
          parts.log->Info("plugin", fields);
          break;
        case host::Notice::Level::kDebug:
          parts.log->Debug("plugin", fields);
          break;
      }
    }
  }

  TimePoint Turn(TimePoint now) {
    if (!degraded.empty()) Flush(now);  // first of all: perhaps there is room again
    Inbox::Contents contents = inbox.Drain();
    for (const model::Delta& delta : contents.deltas) On(delta, now);
    for (const TaskId id : cluster.Overdue(now)) StepTask(id, lifecycle::Tick{}, now);
    for (Request& request : contents.requests) Ask(request, now);
    for (const TaskId id : outbox.Due(now)) {
      const auto task = cluster.Find(id);
      if (task == nullptr) continue;  // ended long ago and forgotten
      for (model::Action& order : lifecycle::Orders(*task, now)) orders.push_back(std::move(order));
    }
    for (const TaskId id : cluster.DropEnded(parts.keep_ended)) {
      batch.tasks.erase(id.value);
      batch.deleted_tasks.push_back(id);
    }
    const bool timer = decide_at <= now || timer_at <= now;
    if (NotReady().empty() && (dirty || timer)) Decide(now);
    Flush(now);
    LogNotices();
    ++counters.turns;
    Publish(now);
    if (degraded.empty()) {  // after Publish: who has been answered finds what he made
      for (auto& answer : std::exchange(answers, {})) answer();
    }
    turns.fetch_add(1, std::memory_order_relaxed);
    std::erase_if(retired, [](const auto& plugins) { return plugins.use_count() == 1; });

    timer_at = cluster.NextTimer(now);
    TimePoint next = std::min({now + kHeartbeat, timer_at, outbox.NextDue()});
    if (NotReady().empty()) next = std::min(next, dirty ? now : decide_at);
    if (!degraded.empty()) next = std::min(next, now + kStoreRetry);
    return std::max(next, now);
  }

  TimePoint timer_at = kNever;  // a deadline, the end of a policy or of a back-off
};

Loop::Loop(std::unique_ptr<State> state) : state_(std::move(state)) {}
Loop::~Loop() = default;

Result<std::unique_ptr<Loop>> Loop::Create(LoopParts parts) {
  Result<Stored> stored = parts.store->Load();
  if (!stored) return stored.error();
  return std::unique_ptr<Loop>(new Loop(std::make_unique<State>(std::move(parts), *stored)));
}

DeltaSink& Loop::sink() {
  return state_->inbox;
}

void Loop::Ask(Request request) {
  state_->inbox.Ask(std::move(request));
}

void Loop::Run() {
  while (!state_->stop.load()) {
    const TimePoint next = Turn(state_->parts.clock->Now());
    if (state_->stop.load()) break;
    state_->inbox.Wait(next);
  }
}

void Loop::Stop() {
  state_->stop.store(true);
  state_->inbox.Wake();
}

TimePoint Loop::Turn(TimePoint now) {
  return state_->Turn(now);
}

std::shared_ptr<const Published> Loop::published() const {
  const std::lock_guard lock(state_->view_mutex);
  return state_->view;
}

uint64_t Loop::turns() const {
  return state_->turns.load(std::memory_order_relaxed);
}

}  // namespace cox::run
