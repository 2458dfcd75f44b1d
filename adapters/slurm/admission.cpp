#include "slurm/admission.hpp"

#include <algorithm>

#include "lifecycle/env_contract.hpp"
#include "model/gang.hpp"
#include "slurm/gres.hpp"
#include "slurm/marker.hpp"
#include "slurm/native_job.hpp"

namespace cox::slurm {
namespace {

std::string Prefixed(const std::string& text) {
  std::string lines = "cox: ";
  for (const char c : text) lines += c == '\n' ? std::string("\ncox: ") : std::string(1, c);
  return lines;
}

// X_... and TZ are the platform's (S64); TASK_UUID and what depends on the nodes comes from the
// SPANK plug-in at each start.
lifecycle::Env Context(const Question& question, spec::TrainingJob job, const spec::Site& site,
                       const spec::Submitter& who) {
  if (job.region.empty()) job.region = site.region;  // S1
  if (job.cluster.empty()) job.cluster = site.cluster;
  model::Task task;
  task.root_uuid = task.attempt_uuid = question.uuid;
  task.owner = {who.user, who.project, who.tenant};
  task.org = who.org;
  task.job = std::make_shared<const spec::TrainingJob>(std::move(job));
  lifecycle::Env context;
  for (const auto& variable : lifecycle::EnvContract(task))
    if (variable.first.starts_with("X_") || variable.first == "TZ") context.push_back(variable);
  return context;
}

// The record keeps what was inferred too, so that it is read the same way later.
Options Complete(Options options, const spec::TrainingJob& job) {
  for (auto& [key, value] : OptionsOf(job)) options.try_emplace(key, std::move(value));
  return options;
}

Acceptance SizeOf(const model::Candidate& candidate, const Gpus& asked) {
  Acceptance size;
  size.nodes = 0;
  for (const model::RoleDemand& role : candidate.roles) {
    size.nodes += role.replicas;
    size.cpus_per_node = std::max<int64_t>(1, (role.resources.cpu_milli + 999) / 1000);
    size.mem_mib_per_node = role.resources.mem_mib;
    // Without a type unless the user gave one: Slurm could never change it (decision 0053).
    size.tres_per_node = GresRequest({role.resources.gpu_milli / 1000, asked.type});
  }
  return size;
}

}  // namespace

Result<Answer> AnswerSubmission(const Question& question, const std::string& user,
                                const spec::Site& site, const AskJudge& judge) {
  auto job = NativeJob(question.record, question.options, site);
  if (!job) return Answer{false, RejectLine(Prefixed(job.error().text))};
  const auto judgement = judge(user, *job);
  if (!judgement) return judgement.error();
  if (!judgement->refused.empty()) return Answer{false, RejectLine(Prefixed(judgement->refused))};
  const auto candidates = model::Candidates(*job, site);
  if (candidates.empty())
    return Answer{false, RejectLine("cox: no pool of this site offers any of the flavors (S29)")};

  Acceptance acceptance = SizeOf(candidates.front(), ParseGpus(question.record.gres_per_node));
  const lifecycle::Env context = Context(question, *job, site, judgement->who);
  for (const auto& [name, value] : context) acceptance.environment[name] = value;
  for (const spec::EnvVar& variable : spec::MergeEnv(site, user, *job))
    acceptance.environment_defaults[variable.name] = variable.value;
  // srun and salloc bring an environment that cannot be changed here; their record carries it.
  const auto words = question.record.batch ? std::vector<std::string>() : ContextWords(context);
  acceptance.admin_comment =
      AcceptedComment(question.uuid, words, OptionsJson(Complete(question.options, *job)));
  return Answer{true, AcceptLine(acceptance)};
}

}  // namespace cox::slurm
