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

// The comment, with the word for --hold behind its state when the user has said that.
std::string WithHold(const job_desc_msg_t& job, std::string admin_comment);

// Held, requeueable, and known to the node's SPANK plug-in and to prologs as a managed job.
void MarkHeld(job_desc_msg_t& job, const std::string& uuid, const std::string& admin_comment);

void Apply(const Reply& reply, job_desc_msg_t& job);

// The task's uuid in an admin comment; "" when it is no managed job's.
std::string UuidOf(std::string_view admin_comment);

// The same of a job that MarkHeld has marked; slurmctld copies no admin comment.
std::string MarkedUuid(const job_desc_msg_t& job);

// What `scontrol hold` and `release` send, and nothing else with it. The daemon's own updates, and
// `uhold`, carry a flag that says whose hold is meant.
enum class Change { kNone, kHold, kRelease };
Change ChangeOf(const job_desc_msg_t& update);
bool SaysWhoseHold(const job_desc_msg_t& update);

// Leaves nothing of it to slurmctld: the daemon does it.
void TakeOver(job_desc_msg_t& update);

// True when an update touches what only Coxswain decides: rank, place, size and holder of a job.
bool TouchesManagedFields(const job_desc_msg_t& update);

}  // namespace cox::slurm
