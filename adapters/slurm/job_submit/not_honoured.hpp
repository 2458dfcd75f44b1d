// What Slurm's own options could ask for and nobody would give in a managed partition, where
// Coxswain sizes and places: refused at submission, with what to say instead. One table, a row an
// option. Options whose value the daemon can judge (--gres, -c, --mem, -N, -w, -x) are not here.
#pragma once

#include <slurm/slurm.h>

#include <string>

namespace cox::slurm {

// A line for each such option; "" when there is none.
std::string NotHonoured(const job_desc_msg_t& job);

}  // namespace cox::slurm
