// Fields of the contract that this adapter does not carry to Slurm yet. Such a job is refused in
// words at submission, never run without what it asked for. Who builds one of them deletes its row.
#pragma once

#include <string>

#include "spec/training_job.hpp"

namespace cox::slurm {

// A line for each field that the job uses; "" when all of it is honoured. Pure.
std::string Unsupported(const spec::TrainingJob& job);

}  // namespace cox::slurm
