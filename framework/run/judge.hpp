// May this job be submitted at all? The same answer for `cox submit`, sbatch (job_submit) and a
// webhook: spec::Validate, then the quota plugins with nothing in use. A job that could never be
// admitted is refused (D2: demand > total quota), with the level and the numbers.
//
// AdmissionCheck is pure and asks plugins, so it runs on the decision thread. Others ask through
// the loop: Ask(loop, ...) waits for the answer with a deadline (decision 0042).
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"
#include "base/time.hpp"
#include "host/plugins.hpp"
#include "spec/training_job.hpp"
#include "spec/validate.hpp"

namespace cox::run {

class Loop;

struct Judgement {
  std::string refused;                  // not empty: why, a line each; show it to the submitter
  std::vector<spec::Finding> warnings;  // accepted; they become events
  spec::Submitter who;
};

Judgement AdmissionCheck(const spec::Site& site, host::Plugins& plugins, const std::string& user,
                         const spec::TrainingJob& job, TimePoint now);

// Any thread but the decision thread. Unavailable: the loop did not answer within `timeout`.
Result<Judgement> Ask(Loop& loop, const std::string& user, const spec::TrainingJob& job,
                      Duration timeout);

}  // namespace cox::run
