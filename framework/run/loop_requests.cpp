#include <utility>

#include "run/loop_state.hpp"

namespace cox::run {
namespace {

// An answer to give when this turn is durable.
using Answers = std::vector<std::function<void()>>;
template <class T>
void Answer(Answers& answers, T& request, Result<std::string> result) {
  if (!request.done) return;
  answers.push_back([done = std::move(request.done), result = std::move(result)] { done(result); });
}

}  // namespace

void Loop::State::On(JudgeRequest& request, TimePoint now) {
  Judgement judgement =
      AdmissionCheck(*parts.config.site, *parts.config.plugins, request.user, request.job, now);
  if (judgement.refused.empty()) judgement.refused = Unsupported(request.job);
  request.done(std::move(judgement));
}
void Loop::State::On(SubmitRequest& request, TimePoint now) {
  Answer(answers, request, Accept(request.submission, now));
}
void Loop::State::On(StopRequest& request, TimePoint now) {
  const auto task = cluster.Find(request.task);
  if (task == nullptr) return Answer(answers, request, NotFound("no such task"));
  if (model::IsTerminal(task->state)) {
    return Answer(
        answers, request,
        FailedPrecondition(task->name + " has already ended: " + model::Name(task->state)));
  }
  StepTask(request.task, lifecycle::Stop{request.by}, now);
  Answer(answers, request, task->name);
}
void Loop::State::On(CreatePolicyRequest& request, TimePoint) {
  request.policy.id = "np-" + std::to_string(next_policy);
  batch.next_policy = ++next_policy;
  batch.policies[request.policy.id] = request.policy;
  cluster.SetPolicy(request.policy);
  dirty = true;
  Answer(answers, request, request.policy.id);
}
void Loop::State::On(DeletePolicyRequest& request, TimePoint) {
  if (!cluster.DropPolicy(request.id)) {
    return Answer(answers, request, NotFound("no node policy " + request.id));
  }
  batch.policies.erase(request.id);
  batch.deleted_policies.push_back(request.id);
  dirty = true;
  Answer(answers, request, request.id);
}
void Loop::State::On(ReloadRequest& request, TimePoint) {
  Result<Config> loaded =
      parts.reload ? parts.reload() : Result<Config>(FailedPrecondition("nothing to reload"));
  if (loaded) {
    if (auto possible = CheckReload(*parts.config.site, *loaded->site); !possible) {
      loaded = Error{possible.error().code, loaded->site_file + ": " + possible.error().text};
    }
  }
  if (!loaded) {
    ++counters.reload_errors;
    if (parts.log != nullptr) {
      parts.log->Error("reload refused, the old configuration stays",
                       {{"why", loaded.error().text}});
    }
    return Answer(answers, request, loaded.error());
  }
  ++counters.reloads;
  retired.push_back(parts.config.plugins);
  parts.config = *std::move(loaded);
  cluster.UseSite(parts.config.site);
  if (parts.reloaded) parts.reloaded(parts.config);
  dirty = true;
  if (parts.log != nullptr) parts.log->Info("configuration reloaded");
  Answer(answers, request, std::string());
}

void Loop::State::Ask(Request& request, TimePoint now) {
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

}  // namespace cox::run
