// From what a user told sbatch, srun or salloc to a TrainingJob: the --cox-* options, and Slurm's
// own where they mean the same (-N, --gres, -c, --mem, -t, -w, -x, -A). One reading for both doors:
// the question of job_submit, and the record of a job that was accepted while the daemon was away.
// Whether the job is allowed is run/judge's to say. Pure.
#pragma once

#include <map>
#include <string>

#include "base/result.hpp"
#include "slurm/slurm_api.hpp"
#include "spec/site.hpp"
#include "spec/training_job.hpp"

namespace cox::slurm {

using Options = std::map<std::string, std::string>;  // without "cox-"; a flag is "true"

// `record` needs only what was asked for. The error has a line for each thing that is wrong, in
// the words of the command line.
Result<spec::TrainingJob> NativeJob(const JobRecord& record, const Options& options,
                                    const spec::Site& site);

// The other way round, as far as there are options: what must be known of a job to take it up again
// when all else of it is lost.
Options OptionsOf(const spec::TrainingJob& job);

// The pool whose partition this is and which offers `type`; nullptr when none does.
const spec::Pool* PoolOf(const spec::Site& site, const std::string& partition,
                         spec::CapacityType type);

// Does Coxswain decide about jobs of this partition?
bool IsManaged(const spec::Site& site, const std::string& partition);

}  // namespace cox::slurm
