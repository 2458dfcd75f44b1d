#include "run/outbox.hpp"

#include <algorithm>
#include <utility>

#include "base/backoff.hpp"

namespace cox::run {
namespace {

// An adapter that has not answered for this long has lost the order, or its answer was lost.
constexpr Duration kAnswerTime = std::chrono::seconds(60);
constexpr Duration kFirstRetry = std::chrono::seconds(1), kLastRetry = std::chrono::seconds(30);

static_assert(std::variant_size_v<decltype(model::Action::what)> == 7);
using Order = lifecycle::Answered::Order;
constexpr Order kOrders[] = {Order::kCreate,  Order::kPlace,   Order::kTerminate, Order::kKill,
                             Order::kRequeue, Order::kDiscard, Order::kAnnotate};

}  // namespace

Outbox::Key Outbox::KeyOf(const model::Action& action) {
  return {action.task.value, action.attempt, kOrders[action.what.index()]};
}

void Outbox::Send(std::vector<model::Action> actions, TimePoint now) {
  std::vector<model::Action> going;
  for (auto* list : {&ready_, &actions}) {
    for (model::Action& action : *list) {
      const Key key = KeyOf(action);
      const bool annotates = std::get<Order>(key) == Order::kAnnotate;
      if (ids_.contains(key)) {
        if (annotates) next_annotation_[action.task.value] = std::move(action);
        continue;
      }
      action.id = ActionId{next_id_++};
      ids_[key] = action.id.value;
      InFlight& entry = in_flight_[action.id.value];
      entry.key = key;
      entry.sent_at = now;
      if (annotates) {
        next_annotation_.erase(action.task.value);
        entry.annotation = action;
      }
      going.push_back(std::move(action));
    }
  }
  ready_.clear();
  sent_ += going.size();
  if (!going.empty()) actuator_.Submit(std::move(going));
}

void Outbox::Forget(uint64_t id) {
  const auto it = in_flight_.find(id);
  ids_.erase(it->second.key);
  in_flight_.erase(it);
}

void Outbox::ReadyAnnotation(uint64_t task) {
  const auto next = next_annotation_.find(task);
  if (next == next_annotation_.end()) return;
  ready_.push_back(std::move(next->second));
  next_annotation_.erase(next);
}

std::optional<Outbox::Settled> Outbox::Settle(const model::Outcome& outcome, TimePoint now) {
  const auto it = in_flight_.find(outcome.action.value);
  if (it == in_flight_.end()) {
    ++late_;
    return std::nullopt;
  }
  const Key key = it->second.key;
  const auto [task, attempt, order] = key;
  std::optional<model::Action> annotation = std::move(it->second.annotation);
  Forget(outcome.action.value);

  if (outcome.error && outcome.error->code == Code::kUnavailable) {
    if (annotation) next_annotation_.try_emplace(task, *std::move(annotation));
    Retry& retry = retries_[key];
    retry.at = now + Backoff(kFirstRetry, kLastRetry, retry.failures++);
    retry.waits = true;
    return std::nullopt;
  }
  if (order == Order::kAnnotate) {
    retries_.erase(key);
    ReadyAnnotation(task);
    return std::nullopt;
  }
  retries_.erase(key);
  Settled settled;
  settled.task = TaskId{task};
  settled.answer.order = order;
  settled.answer.attempt = attempt;
  settled.answer.error = outcome.error;
  settled.answer.native_id = outcome.native_id;
  settled.answer.not_started = outcome.not_started;
  return settled;
}

std::vector<TaskId> Outbox::Due(TimePoint now) {
  std::vector<TaskId> tasks;
  for (auto& [key, retry] : retries_) {
    if (!retry.waits || retry.at > now) continue;
    retry.waits = false;
    if (std::get<Order>(key) == Order::kAnnotate) {
      ReadyAnnotation(std::get<0>(key));
    } else {
      tasks.push_back(TaskId{std::get<0>(key)});
    }
  }
  std::vector<uint64_t> lost;
  for (const auto& [id, order] : in_flight_) {
    if (now - order.sent_at >= kAnswerTime) lost.push_back(id);
  }
  for (const uint64_t id : lost) {
    InFlight& order = in_flight_.at(id);
    const uint64_t task = std::get<0>(order.key);
    if (order.annotation) {
      next_annotation_.try_emplace(task, *std::move(order.annotation));
      ReadyAnnotation(task);
    } else {
      tasks.push_back(TaskId{task});
    }
    Forget(id);
    ++overdue_;
  }
  std::sort(tasks.begin(), tasks.end());
  tasks.erase(std::unique(tasks.begin(), tasks.end()), tasks.end());
  return tasks;
}

TimePoint Outbox::NextDue() const {
  TimePoint first = ready_.empty() ? kNever : TimePoint{};
  for (const auto& [key, retry] : retries_) {
    if (retry.waits) first = std::min(first, retry.at);
  }
  for (const auto& [id, order] : in_flight_) first = std::min(first, order.sent_at + kAnswerTime);
  return first;
}

}  // namespace cox::run
