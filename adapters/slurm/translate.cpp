#include "slurm/translate.hpp"

#include <sys/wait.h>

#include <algorithm>

#include "slurm/gres.hpp"
#include "slurm/marker.hpp"
#include "slurm/native_job.hpp"
#include "slurm/wire.hpp"

namespace cox::slurm {
namespace {

using Phase = model::Observation::Phase;

Phase PhaseOf(const JobRecord& record) {
  // A job that was requeued waits as the attempt it was until its last process has gone.
  if (record.state == JobState::kPending) {
    if (record.completing) return Phase::kLeaving;
    return record.priority == 0 ? Phase::kHeld : Phase::kReleased;
  }
  if (record.state == JobState::kRunning || record.state == JobState::kSuspended)
    return record.configuring ? Phase::kStarting : Phase::kRunning;
  return record.completing ? Phase::kLeaving : Phase::kEnded;
}

model::Exit ExitOf(const JobRecord& record) {
  model::Exit exit;
  exit.detail = std::string("Slurm: ") + Name(record.state);
  if (!record.reason.empty() && record.reason != "None") exit.detail += ", " + record.reason;
  if (WIFSIGNALED(record.wait_status)) exit.signal = WTERMSIG(record.wait_status);
  if (WIFEXITED(record.wait_status)) exit.exit_code = WEXITSTATUS(record.wait_status);
  if (!record.launch_error.empty()) {
    exit.cause = record.output_failed ? model::Cause::kSetup : model::Cause::kLaunch;
    exit.detail = "the batch script was not run: ";
    exit.detail +=
        record.output_failed
            ? "its output file " + record.output + " cannot be opened there by " + record.user +
                  "; name one that can with --output, in a directory that exists on every node"
            : record.launch_error;
    return exit;
  }
  switch (record.state) {
    case JobState::kTimeout:
    case JobState::kDeadline:
      exit.cause = model::Cause::kTimeLimit;
      break;
    case JobState::kNodeFail:
    case JobState::kBootFail:
      exit.cause = model::Cause::kNode;
      break;
    case JobState::kOutOfMemory:
      exit.cause = model::Cause::kOutOfMemory;
      break;
    case JobState::kPreempted:
      exit.cause = model::Cause::kPreempted;
      break;
    default:
      // Failed without a bad status of the script: it never came to run.
      exit.cause = record.wait_status == 0 ? model::Cause::kLaunch : model::Cause::kExit;
      break;
  }
  return exit;
}

std::string Quoted(const std::string& text) {
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

int64_t WholeCpus(int64_t cpu_milli) {
  return std::max<int64_t>(1, (cpu_milli + 999) / 1000);
}

}  // namespace

PoolsOfNodes MapPools(const spec::Site& site, const std::vector<Partition>& partitions) {
  PoolsOfNodes pools;
  for (const spec::Pool& pool : site.pools) {
    const auto add = [&](const std::vector<std::string>& nodes) {
      for (const std::string& node : nodes) pools[node].push_back(pool.name);
    };
    if (!pool.nodes.empty()) {
      add(pool.nodes);
      continue;
    }
    for (const Partition& partition : partitions)
      if (partition.name == pool.partition) add(partition.nodes);
  }
  return pools;
}

std::string NotReadyReason(const NodeRecord& record) {
  std::string what;
  using State = NodeRecord::State;
  if (record.state == State::kDown) {
    what = record.not_responding ? "down, not responding" : "down";
  } else if (record.not_responding) {
    what = "not responding";
  } else if (record.draining) {
    what = "drained";
  } else if (record.failing) {
    what = "failing";
  } else if (record.invalid) {
    what = "registered with less than slurm.conf says";
  } else if (record.powered_down) {
    what = "powered down";
  } else if (record.maintenance) {
    what = "in maintenance";
  } else if (record.rebooting) {
    what = "rebooting";
  } else if (record.state == State::kUnknown) {
    what = "unknown to slurmctld";
  } else if (record.state == State::kFuture) {
    what = "not there yet";
  }
  if (what.empty() || record.reason.empty()) return what;
  what += ": " + record.reason;
  if (!record.reason_user.empty()) what += " (" + record.reason_user + ")";
  return what;
}

model::Node NodeOf(const NodeRecord& record, const PoolsOfNodes& pools) {
  model::Node node;
  node.name = record.name;
  node.address = record.address;
  if (const auto found = pools.find(record.name); found != pools.end()) node.pools = found->second;
  const Gpus gpus = ParseGpus(record.gres);
  node.gpu_type = gpus.type;
  node.capacity = {record.cpus * 1000, record.mem_mib, gpus.count * 1000};
  node.not_ready_reason = NotReadyReason(record);
  node.ready = node.not_ready_reason.empty();
  return node;
}

bool IsActive(const JobRecord& record) {
  return record.completing || record.state == JobState::kRunning ||
         record.state == JobState::kSuspended;
}

bool HasEnded(const JobRecord& record) {
  return record.state != JobState::kPending && record.state != JobState::kRunning &&
         record.state != JobState::kSuspended;
}

bool IsOurs(const JobRecord& job, const spec::Site& site) {
  const auto marker = ParseMarker(job.admin_comment);
  return marker && (marker->kind == Marker::Kind::kTaken || IsManaged(site, job.partition));
}

std::map<std::string, Resources> UnmanagedUsage(const std::vector<JobRecord>& jobs,
                                                const spec::Site& site) {
  std::map<std::string, Resources> usage;
  for (const JobRecord& job : jobs) {
    if (IsOurs(job, site) || !IsActive(job)) continue;
    for (size_t i = 0; i < job.nodes.size() && i < job.usage.size(); ++i)
      usage[job.nodes[i]] += job.usage[i];
  }
  return usage;
}

bool IsHeldByUser(const JobRecord& record) {
  if (record.state != JobState::kPending || !record.user_hold) return false;
  const auto marker = ParseMarker(record.admin_comment);
  return marker && (marker->kind == Marker::Kind::kTaken || marker->held);
}

model::Observation ObservationOf(const JobRecord& record, const std::string& root_uuid) {
  model::Observation seen;
  seen.native_id = std::to_string(record.id);
  seen.root_uuid = root_uuid;
  seen.attempt = record.restarts;
  seen.phase = PhaseOf(record);
  if (IsHeldByUser(record))
    seen.held = "held by its user; `scontrol release " + seen.native_id + "` lets it wait its turn";
  if (record.state != JobState::kPending) {
    seen.nodes = record.nodes;
    seen.started_at = FromSeconds(record.start_s);
  }
  if (!HasEnded(record)) return seen;
  seen.ended_at = FromSeconds(record.end_s);
  if (record.state == JobState::kCancelled) {
    seen.cancelled = true;
    seen.cancelled_by = "scancel";
  } else if (record.state != JobState::kComplete) {
    seen.exit = ExitOf(record);
  }
  return seen;
}

std::vector<std::string> NodesOf(const model::Placement& placement) {
  std::vector<std::string> nodes;
  for (const model::Replica& replica : placement.replicas) nodes.push_back(replica.node);
  return nodes;
}

bool SameNodes(std::vector<std::string> a, std::vector<std::string> b) {
  std::sort(a.begin(), a.end());
  std::sort(b.begin(), b.end());
  return a == b;
}

Result<JobUpdate> PlacementUpdate(const JobRecord& record, const model::Placement& placement) {
  std::vector<std::string> nodes = NodesOf(placement);
  if (nodes.empty()) return InvalidArgument("the placement has no replica");
  std::sort(nodes.begin(), nodes.end());
  if (const auto twice = std::adjacent_find(nodes.begin(), nodes.end()); twice != nodes.end())
    return InvalidArgument("two replicas on node " + *twice + ": Slurm gives a job each node once");
  const Resources& each = placement.replicas.front().resources;
  for (const model::Replica& replica : placement.replicas) {
    if (!(replica.resources == each))
      return InvalidArgument("replicas of different size: Slurm gives all nodes of a job the same");
  }
  if (each.gpu_milli % 1000 != 0)
    return InvalidArgument(std::to_string(each.gpu_milli) +
                           " thousandths of a GPU: Slurm gives "
                           "whole ones");

  const auto count = static_cast<int64_t>(nodes.size());
  int64_t tasks_per_node = record.tasks_per_node;
  if (tasks_per_node <= 0) tasks_per_node = record.tasks / std::max<int64_t>(record.min_nodes, 1);
  tasks_per_node = std::max<int64_t>(tasks_per_node, 1);
  // A job that asked for a type keeps asking for it: Slurm 22.05 refuses to drop or change it. The
  // others ask for none, since the nodes that are named decide it.
  Gpus gpus = ParseGpus(record.gres_per_node);
  gpus.count = each.gpu_milli / 1000;

  JobUpdate update;
  update.required_nodes = CompressNodes(nodes);
  update.excluded_nodes = "";
  update.nodes = count;
  update.tasks_per_node = tasks_per_node;
  update.tasks = tasks_per_node * count;
  update.cpus_per_task = std::max<int64_t>(WholeCpus(each.cpu_milli) / tasks_per_node, 1);
  update.cpus = *update.cpus_per_task * *update.tasks;
  update.mem_per_node_mib = each.mem_mib;
  update.gres_per_node = GresRequest(gpus);
  update.begin_now = record.restarts > 0;
  return update;
}

std::string BatchScript(const std::string& command) {
  // The trap keeps the shell for its step's sake: if it died of SIGTERM, Slurm would end the step.
  // Not `exec srun`: srun answers SIGTERM by killing its step at once.
  return "#!/bin/bash\n"
         "trap : TERM\n"
         "srun --kill-on-bad-exit=1 --ntasks-per-node=1 bash -c " +
         Quoted(command) + "\n";
}

BatchJob BatchJobOf(const model::Create& create, const model::Candidate& candidate,
                    const std::string& root_uuid) {
  BatchJob job;
  job.name = create.name;
  job.script = BatchScript(create.job->command);
  job.admin_comment = CreatedComment(root_uuid, OptionsJson(OptionsOf(*create.job)));
  job.env = create.env;
  job.env.emplace_back("SLURM_COX_TASK_UUID", root_uuid);
  job.nodes = 0;
  for (const model::RoleDemand& role : candidate.roles) {
    job.nodes += role.replicas;
    job.cpus_per_node = WholeCpus(role.resources.cpu_milli);
    job.mem_per_node_mib = role.resources.mem_mib;
    job.gpus_per_node = role.resources.gpu_milli / 1000;
  }
  if (create.job->time_limit_seconds)
    job.time_limit_min = (*create.job->time_limit_seconds + 59) / 60;
  return job;
}

}  // namespace cox::slurm
