// Slurm's records to the framework's words and back. Pure: decides nothing, asks nobody.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/time.hpp"
#include "model/action.hpp"
#include "model/delta.hpp"
#include "model/node.hpp"
#include "slurm/slurm_api.hpp"
#include "spec/site.hpp"

namespace cox::slurm {

// Node name -> names of the site's pools that it belongs to.
using PoolsOfNodes = std::map<std::string, std::vector<std::string>>;
PoolsOfNodes MapPools(const spec::Site& site, const std::vector<Partition>& partitions);

// `ready_since` is filled by the source, which remembers it.
model::Node NodeOf(const NodeRecord& record, const PoolsOfNodes& pools);

// Why Slurm would not start a job there now; "" = it would. "drained: XID 79 (root)".
std::string NotReadyReason(const NodeRecord& record);

// A job that bears our mark in a managed partition. One that was taken up stays ours wherever it
// is: a reload or an administrator may take its partition from us, and it runs on all the same.
bool IsOurs(const JobRecord& job, const spec::Site& site);

// What each node gives to jobs that are not ours.
std::map<std::string, Resources> UnmanagedUsage(const std::vector<JobRecord>& jobs,
                                                const spec::Site& site);

// Does it still have processes, or may it soon?
bool IsActive(const JobRecord& record);
bool HasEnded(const JobRecord& record);

// Its user, or an administrator, wants it to wait; the hold that every job of ours has is another.
bool IsHeldByUser(const JobRecord& record);

model::Observation ObservationOf(const JobRecord& record, const std::string& root_uuid);

// Makes the held job one that can start on exactly the placement's nodes (S37). The error is a
// placement that Slurm cannot express.
Result<JobUpdate> PlacementUpdate(const JobRecord& record, const model::Placement& placement);

// The placement's nodes, without order: Slurm orders ranks itself.
std::vector<std::string> NodesOf(const model::Placement& placement);
bool SameNodes(std::vector<std::string> a, std::vector<std::string> b);

// What `cox submit` sent, as a batch job of the first candidate's size. S23: the command reaches
// `bash -c` as the one string it is.
BatchJob BatchJobOf(const model::Create& create, const model::Candidate& candidate,
                    const std::string& root_uuid);
std::string BatchScript(const std::string& command);

}  // namespace cox::slurm
