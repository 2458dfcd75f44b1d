// May this job be submitted at all? The same answer for `cox submit`, sbatch (job_submit) and a
// webhook: spec::Validate, then the quota plugins with nothing in use. A job that could never be
// admitted is refused (D2: demand > total quota), with the level and the numbers.
//
// AdmissionCheck is pure and asks plugins, so it runs on the decision thread. Others use a Judge:
// it posts the question and waits for the answer with a deadline (decision 0042).
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "base/time.hpp"
#include "host/plugins.hpp"
#include "spec/training_job.hpp"
#include "spec/validate.hpp"

namespace cox::run {

struct Judgement {
  std::string refused;      // not empty: why, a line each; show it to the submitter
  std::string unavailable;  // not empty: nobody could say in time; nothing is known about the job
  std::vector<spec::Finding> warnings;  // accepted; they become events
  spec::Submitter who;
};

struct JudgeRequest {  // to Loop::Ask; nothing is changed, so nothing is saved before the answer
  std::string user;
  spec::TrainingJob job;
  std::function<void(Judgement)> done;
};

Judgement AdmissionCheck(const spec::Site& site, host::Plugins& plugins, const std::string& user,
                         const spec::TrainingJob& job, TimePoint now);

// Any thread but the decision thread.
class Judge {
 public:
  // `post` is Loop::Ask in the product.
  explicit Judge(std::function<void(JudgeRequest)> post) : post_(std::move(post)) {}

  Judgement Check(const std::string& user, const spec::TrainingJob& job, Duration timeout) const;

 private:
  std::function<void(JudgeRequest)> post_;
};

}  // namespace cox::run
