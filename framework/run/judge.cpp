#include "run/judge.hpp"

#include <algorithm>
#include <future>
#include <memory>
#include <set>

#include "cycle/decide.hpp"
#include "model/snapshot.hpp"

namespace cox::run {
namespace {

// Without nodes, a candidate that has its quota is blocked by one of these; any other blocker is a
// quota plugin's. One that is broken says nothing about the job.
bool IsAboutRoom(const std::string& code) {
  static const std::set<std::string> kRoom = {
      "InsufficientResources", "DemandExceedsNodes", "Fragmented",           "NodePolicy",
      "SpotUnavailable",       "IdleUnavailable",    "WaitingForPreemption", "PluginFailed"};
  return kRoom.contains(code);
}

// The job alone on an empty cluster with every limit and no use: what Decide says about its quota
// then is what it would say at best.
std::string NeverAdmitted(const spec::Site& site, host::Plugins& plugins,
                          const spec::Submitter& who, const spec::TrainingJob& job, TimePoint now) {
  model::Snapshot empty;
  empty.now = now;
  empty.site = std::shared_ptr<const spec::Site>(std::shared_ptr<void>(), &site);
  empty.ledger.SetLimits(site.quotas);
  model::PendingJob pending;
  pending.id = TaskId{1};
  pending.name = job.generate_name;
  pending.owner = {who.user, who.project, who.tenant};
  pending.capacity = job.scheduling.capacity_type;
  pending.priority = job.scheduling.priority;
  pending.guaranteed = !job.scheduling.preemptible;
  pending.submitted_at = now;
  pending.candidates = model::Candidates(job, site);
  const auto candidates = static_cast<int64_t>(pending.candidates.size());
  if (candidates == 0) {
    return "quota check failed: no pool of this site offers " +
           std::string(spec::Name(job.scheduling.capacity_type)) +
           " capacity of any of its flavors";
  }
  empty.pending.push_back(std::move(pending));

  const model::Decision decision = cycle::Decide(empty, plugins);
  std::set<int64_t> refused;
  std::string why;
  for (const model::Explanation& e : decision.waiting) {
    for (const model::Blocker& blocker : e.blockers) {
      if (IsAboutRoom(blocker.code)) continue;
      if (blocker.candidate < 0) {
        for (int64_t i = 0; i < candidates; ++i) refused.insert(i);
      } else {
        refused.insert(blocker.candidate);
      }
      why += (why.empty() ? "" : "\n") + std::string("quota check failed: ") + blocker.text;
    }
  }
  return static_cast<int64_t>(refused.size()) == candidates ? why : "";
}

}  // namespace

Judgement AdmissionCheck(const spec::Site& site, host::Plugins& plugins, const std::string& user,
                         const spec::TrainingJob& job, TimePoint now) {
  Judgement judgement;
  auto who = spec::Resolve(site, user, job.project);
  if (!who) {
    judgement.refused = who.error().text;
    return judgement;
  }
  judgement.who = *std::move(who);
  spec::Verdict verdict = spec::Validate(job, site, judgement.who);
  judgement.warnings = std::move(verdict.warnings);
  if (!verdict.accepted()) {
    judgement.refused = verdict.ErrorText();
  } else {
    judgement.refused = NeverAdmitted(site, plugins, judgement.who, job, now);
  }
  return judgement;
}

Judgement Judge::Check(const std::string& user, const spec::TrainingJob& job,
                       Duration timeout) const {
  // Shared: an answer that comes after the deadline must still find its promise.
  auto answer = std::make_shared<std::promise<Judgement>>();
  std::future<Judgement> future = answer->get_future();
  post_({user, job, [answer](Judgement judgement) { answer->set_value(std::move(judgement)); }});
  if (future.wait_for(timeout) == std::future_status::ready) return future.get();
  Judgement judgement;
  judgement.unavailable =
      "the scheduler did not answer within " +
      std::to_string(std::chrono::duration_cast<std::chrono::milliseconds>(timeout).count()) +
      " ms";
  return judgement;
}

}  // namespace cox::run
