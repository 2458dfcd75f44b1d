// May this job be submitted at all? The same answer for `cox submit`, sbatch (job_submit) and a
// webhook: spec::Validate, then the quota plugins with nothing in use. A job that could never be
// admitted is refused (D2: demand > total quota), with the level and the numbers.
//
// Threads: Judge may be called from any; it has plugin instances of its own and never waits for
// the decision thread (decision 0042). AdmissionCheck is pure.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "base/time.hpp"
#include "run/config.hpp"
#include "spec/training_job.hpp"
#include "spec/validate.hpp"

namespace cox::run {

struct Judgement {
  std::string refused;                  // not empty: why, a line each; show it to the submitter
  std::vector<spec::Finding> warnings;  // accepted; they become events
  spec::Submitter who;
};

Judgement AdmissionCheck(const spec::Site& site, host::Plugins& plugins, const std::string& user,
                         const spec::TrainingJob& job, TimePoint now);

class Judge {
 public:
  explicit Judge(const Config& config) { Use(config); }

  Judgement Check(const std::string& user, const spec::TrainingJob& job, TimePoint now);
  void Use(const Config& config);  // after a reload

 private:
  std::mutex mutex_;  // plugin calls are not concurrent within one set of instances
  std::shared_ptr<const spec::Site> site_;
  std::shared_ptr<host::Plugins> plugins_;
};

}  // namespace cox::run
