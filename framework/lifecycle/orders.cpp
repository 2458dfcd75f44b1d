#include "lifecycle/env_contract.hpp"
#include "lifecycle/step.hpp"

namespace cox::lifecycle {
namespace {

using What = decltype(model::Action::what);

What CreateOf(const model::Task& task) {
  return model::Create{task.job, task.name, task.owner.user, task.owner.project, EnvContract(task)};
}

std::optional<What> Demanded(const model::Task& task, TimePoint now) {
  using State = model::State;
  if (task.native_id.empty()) {
    if (task.state == State::kPending) return CreateOf(task);
    return std::nullopt;
  }
  if (model::IsTerminal(task.state)) return model::Discard{};
  if (task.state == State::kRetrying) return model::Requeue{task.attempt + 1};
  if (task.leaving) {
    const bool has_grace = task.state != State::kAdmitted && task.deadline > now;
    const bool withdrawn = task.reason == "GangStartTimeout";
    if (has_grace && !withdrawn) return model::Terminate{};
    return model::Kill{};
  }
  if (task.state == State::kAdmitted) return model::Place{*task.placement, EnvContract(task)};
  return std::nullopt;
}

}  // namespace

std::vector<model::Action> Orders(const model::Task& task, TimePoint now) {
  std::optional<What> what = Demanded(task, now);
  if (!what) return {};
  model::Action action;
  action.task = task.id;
  action.attempt = task.attempt;
  action.version = task.version;
  action.native_id = task.native_id;
  action.root_uuid = task.root_uuid;
  action.attempt_uuid = task.attempt_uuid;
  action.what = std::move(*what);
  std::vector<model::Action> orders;
  orders.push_back(std::move(action));
  return orders;
}

}  // namespace cox::lifecycle
