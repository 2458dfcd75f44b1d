#include "run/loop.hpp"

#include <algorithm>
#include <utility>

#include "cycle/decide.hpp"
#include "lifecycle/step.hpp"
#include "run/loop_state.hpp"
#include "run/recorder.hpp"

namespace cox::run {
namespace {

constexpr Duration kHeartbeat = std::chrono::seconds(10);  // turns() grows at least this often
constexpr Duration kStoreRetry = std::chrono::seconds(1);

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

Loop::State::State(LoopParts p, const Stored& stored)
    : parts(std::move(p)),
      inbox(*parts.clock),
      cluster(parts.config.site),
      outbox(*parts.actuator, stored.starts),
      next_task(stored.next_task),
      next_policy(stored.next_policy) {
  cluster.Restore(stored);
  view = std::make_shared<const Published>(Picture(parts.clock->Now()));
}

TimePoint Loop::State::Turn(TimePoint now) {
  if (!degraded.empty()) Flush(now);  // first of all: perhaps there is room again
  Inbox::Contents contents = inbox.Drain();
  for (const model::Delta& delta : contents.deltas) On(delta, now);
  for (const TaskId id : cluster.Overdue(now)) StepTask(id, lifecycle::Tick{}, now);
  for (Request& request : contents.requests) Ask(request, now);
  for (const TaskId id : outbox.Due(now)) {
    const auto task = cluster.Find(id);
    if (task != nullptr) Order(lifecycle::Orders(*task, now));  // else ended and forgotten
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

std::string Loop::State::NotReady() const {
  if (!cluster.has_baseline()) return "the batch system has not yet shown its state";
  if (!degraded.empty()) return degraded;
  return "";
}

void Loop::State::Decide(TimePoint now) {
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
    const bool named = preemptor && preemptor->owner.user == victim->owner.user;  // S5
    StepTask(
        eviction.victim,
        lifecycle::Preempt{eviction.message, named ? preemptor->name : "", eviction.spot_reclaim},
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

void Loop::State::Flush(TimePoint now) {
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
