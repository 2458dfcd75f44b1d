// The one validator: CLI, SPANK and job_submit, webhook and simulator all call it, so a job is
// judged equally wherever it comes from. Pure.
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"
#include "base/time.hpp"
#include "spec/site.hpp"
#include "spec/training_job.hpp"

namespace cox::spec {

struct Submitter {
  std::string user;
  std::string tenant, org, project;  // as resolved by Resolve()
  bool admin = false;
};

// Who `user` is on this site, working for `project` ("" = the user's first one).
Result<Submitter> Resolve(const Site& site, const std::string& user, const std::string& project);

struct Finding {
  std::string path;  // "spec.scheduling.flavors[1].name"
  std::string text;  // what is wrong, the value, what is allowed
  std::string rule;  // "S38"; empty where the contract has none

  std::string Line() const;  // "path: text (rule)"
};

struct Verdict {
  std::vector<Finding> errors;    // not empty = rejected
  std::vector<Finding> warnings;  // accepted; each becomes an event (S21, D3)

  bool accepted() const { return errors.empty(); }
  std::string ErrorText() const;  // one line an error: "spec.x: text (S38)"
};

// Checks the rules that need no usage: S1-S6, S9-S12, S14-S21, S25-S38, S66-S67, S71-S76, S86,
// S88-S90, S96-S100, S108, S114, matrix 3.2, rulings D1-D26. Quota totals are judged by the quota
// plugin at submission.
Verdict Validate(const TrainingJob& job, const Site& site, const Submitter& who);

// S71-S77 for `cox nodepolicy create` and the site file. `known_nodes` may be empty (not known
// yet); a name that is not in it is a warning, never an error.
Verdict Validate(const NodePolicy& policy, const Submitter& who, TimePoint now,
                 const std::vector<std::string>& known_nodes);

// S15, S16: persistent variables under temporary ones; the job's own win. Order: the profile's,
// then the job's new ones.
std::vector<EnvVar> MergeEnv(const Site& site, const std::string& user, const TrainingJob& job);

// S3: prefix + 8 characters of lowercase base32, from 40 random bits.
std::string NameFor(const std::string& generate_name, uint64_t random_bits);

}  // namespace cox::spec
