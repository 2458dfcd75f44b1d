#include <signal.h>

#include "slurm/actuator_state.hpp"
#include "slurm/translate.hpp"

namespace cox::slurm {

// SIGTERM to every process but srun, which would answer by killing its tasks at once. Where there
// are steps the batch script's other children are reached by its own shell or at its end.
Result<void> SlurmActuator::State::Term(const JobRecord& record) {
  const auto steps = api().HasSteps(record.id);
  if (!steps) return steps.error();
  if (*steps) {
    if (auto done = api().Signal(record.id, SIGTERM, Target::kSteps); !done) return done;
  }
  if (!record.batch) return {};
  return api().Signal(record.id, SIGTERM, *steps ? Target::kBatchShell : Target::kBatchAll);
}

Result<Done> SlurmActuator::State::Carry(const model::Action& action, const model::Terminate&) {
  const auto record = LoadAttempt(action);
  if (!record) return record.error();
  if (!Runs(*record)) return Done{};
  return Tolerant(Term(*record));
}

Result<Done> SlurmActuator::State::Carry(const model::Action& action, const model::Kill&) {
  auto record = LoadAttempt(action);
  if (!record) return record.error();
  Withdraw(record->id, Conflict("withdrawn"));
  if (record->state == JobState::kPending && !record->completing) {
    if (!record->user_hold) {
      if (auto held = Hold(record->id); !held) return held.error();
    }
    record = LoadAttempt(action);  // it may have started meanwhile
    if (!record) return record.error();
    if (record->state == JobState::kPending) return Done{.not_started = true};
  }
  if (!Runs(*record)) return Done{};
  return Tolerant(api().Signal(record->id, SIGKILL, Target::kJob));
}

Result<void> SlurmActuator::State::Requeued(const model::Action& action, int64_t next) {
  auto record = Load(action);
  if (!record) return record.error();
  if (record->restarts != action.attempt && record->restarts != next)
    return Conflict(StateText(*record) + "; it was to become restart " + std::to_string(next));
  if (Runs(*record)) return Conflict(StateText(*record) + ", it has not ended");
  if (record->restarts != next && record->state != JobState::kPending) {
    if (auto done = api().RequeueHeld(record->id); !done) return done;
    record = Load(action);
    if (!record) return record.error();
  }
  // Slurm's own hold could be lifted by the user, and it makes a requeued job wait two minutes.
  JobUpdate update;
  update.hold = true;
  update.begin_now = true;
  if (auto done = api().Update(record->id, update); !done) return done;
  if (record->restarts != next || record->completing)
    return Unavailable(StateText(*record) + ", not yet restart " + std::to_string(next));
  return {};
}

Result<Done> SlurmActuator::State::Carry(const model::Action& action, const model::Requeue& order) {
  if (auto done = Requeued(action, order.next); !done) return done.error();
  return Done{};
}

Result<Done> SlurmActuator::State::Carry(const model::Action& action, const model::Discard&) {
  const auto record = Load(action);
  if (!record) {
    if (record.error().code == Code::kNotFound) return Done{};
    return record.error();
  }
  Withdraw(record->id, Conflict("the task has ended"));
  if (HasEnded(*record)) return Done{};
  return Tolerant(api().Signal(record->id, SIGKILL, Target::kJob));
}

}  // namespace cox::slurm
