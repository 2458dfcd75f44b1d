// libslurm's structs to ours and back. With slurm_api.cpp the only files of the daemon that include
// slurm/*.h. Pure. Internal to this folder.
#pragma once

#include <slurm/slurm.h>

#include <string>

#include "slurm/slurm_api.hpp"

namespace cox::slurm {

std::string TextOf(const char* field);  // "" for NULL
// libslurm takes char* for strings that it only reads.
char* Lend(const std::string& text);

JobRecord RecordOf(const job_info_t& job);  // `user` may be empty: only slurmctld's are known
NodeRecord RecordOf(const node_info_t& node);

// The description borrows the strings of `update`.
void Fill(job_desc_msg_t& into, const JobUpdate& update);

}  // namespace cox::slurm
