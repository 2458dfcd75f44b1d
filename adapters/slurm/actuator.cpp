#include "slurm/actuator.hpp"

#include <charconv>

#include "slurm/actuator_state.hpp"
#include "slurm/marker.hpp"
#include "slurm/translate.hpp"

namespace cox::slurm {
namespace {

constexpr auto kWatch = std::chrono::milliseconds(100);

}  // namespace

std::string StateText(const JobRecord& record) {
  return "job " + std::to_string(record.id) + " is " + Name(record.state) + ", restart " +
         std::to_string(record.restarts);
}

// ---- What all orders share ----

void SlurmActuator::State::Answer(DeltaSink& sink, const model::Action& action,
                                  const Result<Done>& result) {
  if (!result && result.error().code != Code::kConflict)
    parts.log->Warn("order not carried out", {{"task", action.task.value},
                                              {"job", action.native_id},
                                              {"code", CodeName(result.error().code)},
                                              {"error", result.error().text}});
  model::Outcome outcome;
  outcome.action = action.id;
  outcome.task = action.task;
  outcome.attempt = action.attempt;
  if (result) {
    outcome.native_id = result->native_id;
    outcome.not_started = result->not_started;
  } else {
    outcome.error = result.error();
  }
  sink.Post(std::move(outcome));
}

Result<JobRecord> SlurmActuator::State::Load(const model::Action& action) {
  uint32_t id = 0;
  const std::string& text = action.native_id;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), id);
  if (error != std::errc() || rest != text.data() + text.size())
    return InvalidArgument("\"" + text + "\" is not the id of a Slurm job");
  auto record = api().LoadJob(id);
  if (!record) return record;
  // Slurm gives numbers out again once it has come to the end of them.
  const auto marker = ParseMarker(record->admin_comment);
  if (!marker || marker->uuid != action.root_uuid)
    return NotFound("job " + text + " is not task " + action.root_uuid);
  return record;
}

Result<JobRecord> SlurmActuator::State::LoadAttempt(const model::Action& action) {
  auto record = Load(action);
  if (record && record->restarts != action.attempt)
    return Conflict(StateText(*record) + "; the order is for restart " +
                    std::to_string(action.attempt));
  return record;
}

Result<void> SlurmActuator::State::Hold(uint32_t job) {
  JobUpdate update;
  update.hold = true;
  return api().Update(job, update);
}

void SlurmActuator::State::Do(const model::Action& action, DeltaSink& sink) {
  std::unique_lock no_look(parts.shared->creating, std::defer_lock);
  if (std::holds_alternative<model::Create>(action.what)) no_look.lock();
  const Result<Done> result =
      std::visit([&](const auto& order) { return Carry(action, order); }, action.what);
  if (!result || !result->later) Answer(sink, action, result);
}

// "It has just ended" is what the order wanted.
Result<Done> SlurmActuator::State::Tolerant(const Result<void>& done) {
  if (!done && done.error().code != Code::kFailedPrecondition) return done.error();
  return Done{};
}

Result<Done> SlurmActuator::State::Carry(const model::Action& action,
                                         const model::Annotate& order) {
  const auto record = Load(action);
  if (!record) return record.error();
  // Slurm closes the record of a job that has ended; what it shows then is its own state.
  if (HasEnded(*record)) return Done{};
  const auto marker = ParseMarker(record->admin_comment);
  JobUpdate update;
  update.admin_comment = StateComment(*marker, action.version, order);
  if (record->comment.empty() || IsPeoplesComment(record->comment))
    update.comment = PeoplesComment(order);
  // slurmctld calls every job that job_submit holds held by its user, until we say better.
  update.hold = marker->kind != Marker::Kind::kTaken && record->state == JobState::kPending &&
                record->user_hold && !marker->held;
  return Tolerant(api().Update(record->id, update));
}

// ---- The thread ----

SlurmActuator::SlurmActuator(ActuatorParts parts) : state_(std::make_unique<State>(parts)) {}

SlurmActuator::~SlurmActuator() {
  Stop();
}

void SlurmActuator::Submit(std::vector<model::Action> actions) {
  std::lock_guard lock(state_->mutex);
  for (model::Action& action : actions) state_->queue.push_back(std::move(action));
  state_->changed.notify_one();
}

bool SlurmActuator::Turn(DeltaSink& sink) {
  State& s = *state_;
  for (;;) {
    std::optional<model::Action> action;
    {
      std::lock_guard lock(s.mutex);
      if (s.queue.empty() || s.stopping) break;
      action = std::move(s.queue.front());
      s.queue.pop_front();
    }
    s.Do(*action, sink);
    for (const auto& [release, why] : s.withdrawn) s.Answer(sink, release, why);
    s.withdrawn.clear();
  }
  s.Watch(sink);
  return !s.releases.empty();
}

void SlurmActuator::Start(DeltaSink& sink) {
  state_->thread = std::thread([this, &sink] {
    State& s = *state_;
    for (bool watching = false;; watching = Turn(sink)) {
      std::unique_lock lock(s.mutex);
      const auto work = [&s] { return !s.queue.empty() || s.stopping; };
      if (watching) {
        s.changed.wait_for(lock, kWatch, work);
      } else {
        s.changed.wait(lock, work);
      }
      if (s.stopping) return;
    }
  });
}

void SlurmActuator::Stop() {
  {
    std::lock_guard lock(state_->mutex);
    state_->stopping = true;
    state_->changed.notify_one();
  }
  if (state_->thread.joinable()) state_->thread.join();
}

}  // namespace cox::slurm
