#include "run/accept.hpp"

#include <memory>
#include <random>
#include <utility>

#include "lifecycle/uuid.hpp"
#include "model/gang.hpp"
#include "run/judge.hpp"
#include "spec/validate.hpp"

namespace cox::run {
namespace {

uint64_t RandomBits() {
  std::random_device device;
  return static_cast<uint64_t>(device()) << 32 | device();
}

// The job as it will run: what it leaves open is filled from the site now, and stays so.
std::shared_ptr<const spec::TrainingJob> Settle(const spec::TrainingJob& asked,
                                                const spec::Site& site, const std::string& user) {
  auto job = std::make_shared<spec::TrainingJob>(asked);
  job->env = spec::MergeEnv(site, user, asked);
  if (job->region.empty()) job->region = site.region;
  if (job->cluster.empty()) job->cluster = site.cluster;
  return job;
}

}  // namespace

Accepted Accept(const model::Submission& submission, const spec::Site& site, host::Plugins& plugins,
                TaskId id, TimePoint now) {
  static const auto kNothing = std::make_shared<const spec::TrainingJob>();
  const auto& asked = submission.job ? submission.job : kNothing;

  Accepted accepted;
  Judgement judgement;
  accepted.refused = submission.rejected;
  if (accepted.refused.empty()) {
    judgement = AdmissionCheck(site, plugins, submission.user, *asked, now);
    accepted.refused = judgement.refused;
  }

  model::Task task;
  task.id = id;
  task.root_uuid = submission.root_uuid.empty() ? lifecycle::NewUuid() : submission.root_uuid;
  task.name =
      submission.name.empty() ? spec::NameFor(asked->generate_name, RandomBits()) : submission.name;
  task.owner.user = submission.user;
  task.owner.project = judgement.who.project.empty() ? submission.project : judgement.who.project;
  task.owner.tenant = judgement.who.tenant;
  task.org = judgement.who.org;
  task.job = Settle(*asked, site, submission.user);
  task.submitted_at = submission.submitted_at == TimePoint{} ? now : submission.submitted_at;
  task.native_id = submission.native_id;
  task.native_interactive = submission.interactive;

  if (!accepted.refused.empty()) {
    accepted.begun = lifecycle::Refuse(std::move(task), accepted.refused, now);
    return accepted;
  }
  task.candidates = model::Candidates(*task.job, site);
  accepted.begun = lifecycle::Begin(std::move(task), now);
  for (const spec::Finding& finding : judgement.warnings) {
    accepted.begun.events.push_back({id, 0, accepted.begun.task.version, now, true, finding.rule,
                                     finding.path + ": " + finding.text});
  }
  return accepted;
}

}  // namespace cox::run
