// All of libslurm that the daemon uses, in plain structs: everything else of this folder can be
// tested without a Slurm. slurm_api.cpp and slurm_records alone include slurm/*.h.
//
// Thread-safe. A call returns when slurmctld has answered; while slurmctld is away libslurm itself
// tries again for MessageTimeout (10 s) and then the error is Unavailable. An answer is no proof
// that a change survives a crash of slurmctld (its state is saved up to 5 s later), so callers
// re-read and repeat.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/resources.hpp"
#include "base/result.hpp"

namespace cox::slurm {

enum class JobState {
  kPending,
  kRunning,
  kSuspended,
  kComplete,
  kCancelled,
  kFailed,
  kTimeout,
  kNodeFail,
  kPreempted,
  kBootFail,
  kDeadline,
  kOutOfMemory,
};
const char* Name(JobState state);

struct JobRecord {
  uint32_t id = 0;
  uint32_t uid = 0, gid = 0;
  std::string user, name, partition, account, comment, admin_comment;
  JobState state = JobState::kPending;
  bool completing = false;   // ended, but processes may still be there
  bool configuring = false;  // has its nodes, which are not ready yet
  int64_t priority = 0;      // 0 = held, also while it runs: then a requeue would be held
  std::string reason;        // "JobHeldAdmin"
  bool user_hold = false;    // the hold is Slurm's "JobHeldUser" (decision 0055)
  int64_t restarts = 0;
  bool batch = true;  // false: srun, salloc
  bool array = false, het = false;
  bool requeue = true;  // Slurm may start it again
  int64_t submit_s = 0, start_s = 0, end_s = 0;

  std::vector<std::string> nodes;  // that it has, in Slurm's order, which is the order of ranks
  std::vector<Resources> usage;    // of nodes[i]
  int wait_status = 0;             // of the batch script, as from wait(2)
  // The script was never run, and why, in slurmd's words; "" = it was.
  std::string launch_error;
  bool output_failed = false;  // namely because its output could not be opened

  int64_t min_nodes = 1, max_nodes = 0;                                // max 0 = as min
  int64_t tasks = 0, tasks_per_node = 0, cpus_per_task = 1, cpus = 0;  // 0 = not said
  int64_t mem_per_node_mib = 0, mem_per_cpu_mib = 0;
  std::string gres_per_node;   // "gres:gpu:h100:8"
  std::string gres_elsewhere;  // asked per job, task or socket
  std::optional<int64_t> time_limit_min;
  std::vector<std::string> required_nodes, excluded_nodes;
  std::vector<std::string>
      not_ours;        // "--dependency=afterok:7": conditions that Slurm alone judges
  std::string output;  // path of the standard output
};

struct NodeRecord {
  enum class State { kUnknown, kDown, kIdle, kAllocated, kMixed, kFuture } state = State::kUnknown;
  std::string name, address;
  int64_t cpus = 0, mem_mib = 0;  // that jobs may use
  std::string gres;               // "gpu:h100:8(S:0-1),nvme:1"
  bool draining = false, failing = false, not_responding = false, invalid = false;
  bool powered_down = false, maintenance = false, rebooting = false;
  std::string reason, reason_user;
  int64_t reason_s = 0, boot_s = 0, slurmd_start_s = 0;
};

struct Partition {
  std::string name;
  std::vector<std::string> nodes;
};

struct Jobs {
  int64_t last_update_s = 0;  // pass it to the next call
  std::vector<JobRecord> jobs;
};
struct Nodes {
  int64_t last_update_s = 0;
  std::vector<NodeRecord> nodes;
};

// What to change of a job; what is not set stays.
struct JobUpdate {
  std::optional<std::string> partition;
  std::optional<std::string> required_nodes, excluded_nodes;  // lists; "" = none
  std::optional<std::string> gres_per_node, comment, admin_comment;
  std::optional<int64_t> nodes;  // exactly
  std::optional<int64_t> tasks, tasks_per_node, cpus_per_task, cpus, mem_per_node_mib;
  bool begin_now = false;  // ends the wait that follows a requeue
  bool hold = false;       // as an administrator: its user cannot release it
  bool user_hold = false;  // as its user: it waits for a person
  bool release = false;
};

enum class Target {
  kSteps,       // the tasks that srun started, not the batch script
  kBatchShell,  // the batch script's own process
  kBatchAll,    // it and all that it started without srun
  kJob,         // SIGKILL: the job ends as cancelled
};

struct BatchJob {
  uint32_t uid = 0, gid = 0;
  std::string name, partition, account, work_dir, output, script, admin_comment;
  std::vector<std::pair<std::string, std::string>> env;
  int64_t nodes = 1, cpus_per_node = 1, mem_per_node_mib = 0, gpus_per_node = 0;
  std::optional<int64_t> time_limit_min;
};

class Api {
 public:
  virtual ~Api() = default;

  // none: nothing has changed since `since_s` (0 = everything, always).
  virtual Result<std::optional<Jobs>> LoadJobs(int64_t since_s) = 0;
  virtual Result<std::optional<Nodes>> LoadNodes(int64_t since_s) = 0;
  virtual Result<std::vector<Partition>> LoadPartitions() = 0;
  virtual Result<JobRecord> LoadJob(uint32_t id) = 0;  // NotFound
  virtual Result<bool> HasSteps(uint32_t id) = 0;      // other than the batch script

  virtual Result<void> Update(uint32_t id, const JobUpdate& update) = 0;
  virtual Result<void> Signal(uint32_t id, int signal_number, Target target) = 0;
  // Ends it if it runs, and puts it back into the queue, held, with one more restart.
  virtual Result<void> RequeueHeld(uint32_t id) = 0;
  // Starts as held; the answer is its id.
  virtual Result<uint32_t> Submit(const BatchJob& job) = 0;
};

// Reads slurm.conf (`slurm_conf` "" = the installed one). Once a process.
Result<std::unique_ptr<Api>> Connect(const std::string& slurm_conf);

// "n[1-3],m7" <-> {"n1","n2","n3","m7"}; {} for text that is no node list. Of a longer list the
// first kMostNodes + 1, which validation refuses: a few bytes may name more than memory holds.
constexpr size_t kMostNodes = 65536;
std::vector<std::string> ExpandNodes(std::string_view list);
std::string CompressNodes(const std::vector<std::string>& nodes);

}  // namespace cox::slurm
