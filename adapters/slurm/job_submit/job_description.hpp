// Reading and changing Slurm's description of a job, with its ownership rules: every string in it
// is slurm_xmalloc'ed, and slurmctld frees what we leave there. Only public headers of Slurm.
#pragma once

#include <slurm/slurm.h>

#include <string>
#include <string_view>

#include "message.hpp"

namespace cox::slurm {

inline constexpr std::string_view kMark = "cox:";  // how a managed job's admin comment begins

std::string Text(const char* field);  // "" for NULL
void SetText(char*& field, const std::string& value);

bool IsBatch(const job_desc_msg_t& job);

// The --cox-* options that the client's SPANK plug-in sent along: {"capacity-type": "spot", ...}.
std::map<std::string, std::string> OptionsOf(const job_desc_msg_t& job);

Request RequestOf(const job_desc_msg_t& job, const std::string& partition, const std::string& uuid);

// Held, requeueable, and known to the node's SPANK plug-in and to prologs as a managed job.
void MarkHeld(job_desc_msg_t& job, const std::string& uuid, const std::string& admin_comment);

void Apply(const Reply& reply, job_desc_msg_t& job);

// True when an update touches what only Coxswain decides: rank, place, size and holder of a job.
bool TouchesManagedFields(const job_desc_msg_t& update);

}  // namespace cox::slurm
