#include "slurm/slurm_api.hpp"

#include <slurm/slurm.h>
#include <slurm/slurm_errno.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>

#include "base/account.hpp"
#include "slurm/slurm_records.hpp"

namespace cox::slurm {
namespace {

Code CodeOf(int error) {
  switch (error) {
    case ESLURM_INVALID_JOB_ID:
      return Code::kNotFound;
    case ESLURM_ACCESS_DENIED:
    case ESLURM_USER_ID_MISSING:
      return Code::kForbidden;
    case ESLURM_ALREADY_DONE:
    case ESLURM_JOB_FINISHED:
    case ESLURM_JOB_PENDING:
    case ESLURM_JOB_NOT_RUNNING:
    case ESLURM_DISABLED:
      return Code::kFailedPrecondition;
    case ESLURM_IN_STANDBY_MODE:
    case ESLURM_IN_STANDBY_USE_BACKUP:
      return Code::kUnavailable;
    default:
      break;
  }
  const bool transport = (error >= SLURM_COMMUNICATIONS_CONNECTION_ERROR &&
                          error <= SLURM_COMMUNICATIONS_MISSING_SOCKET_ERROR) ||
                         (error >= SLURMCTLD_COMMUNICATIONS_CONNECTION_ERROR &&
                          error <= SLURMCTLD_COMMUNICATIONS_SHUTDOWN_ERROR) ||
                         (error >= SLURM_PROTOCOL_SOCKET_IMPL_ZERO_RECV_LENGTH &&
                          error <= SLURM_PROTOCOL_SOCKET_ZERO_BYTES_SENT) ||
                         (error > 0 && error < 1000);  // errno of the system
  return transport ? Code::kUnavailable : Code::kInvalidArgument;
}

Error Failed(const std::string& what) {
  const int error = slurm_get_errno();
  return {CodeOf(error), what + ": " + slurm_strerror(error)};
}

// libslurm hands out structures that it alone can free.
template <class T, void (*Free)(T*)>
class Owned {
 public:
  Owned() = default;
  ~Owned() {
    if (value_ != nullptr) Free(value_);
  }
  Owned(const Owned&) = delete;
  Owned& operator=(const Owned&) = delete;
  T** out() { return &value_; }
  T* operator->() const { return value_; }

 private:
  T* value_ = nullptr;
};
using JobInfo = Owned<job_info_msg_t, slurm_free_job_info_msg>;
using NodeInfo = Owned<node_info_msg_t, slurm_free_node_info_msg>;
using PartitionInfo = Owned<partition_info_msg_t, slurm_free_partition_info_msg>;
using StepInfo = Owned<job_step_info_response_msg_t, slurm_free_job_step_info_response_msg>;
using SubmitAnswer = Owned<submit_response_msg_t, slurm_free_submit_response_response_msg>;

class LibSlurm final : public Api {
 public:
  Result<std::optional<Jobs>> LoadJobs(int64_t since_s) override {
    JobInfo info;
    if (slurm_load_jobs(since_s, info.out(), SHOW_ALL | SHOW_DETAIL) != SLURM_SUCCESS) {
      if (slurm_get_errno() == SLURM_NO_CHANGE_IN_DATA) return std::optional<Jobs>();
      return Failed("list of jobs");
    }
    Jobs jobs;
    jobs.last_update_s = info->last_update;
    jobs.jobs.reserve(info->record_count);
    for (uint32_t i = 0; i < info->record_count; ++i)
      jobs.jobs.push_back(WithUser(RecordOf(info->job_array[i])));
    return std::optional(std::move(jobs));
  }

  Result<std::optional<Nodes>> LoadNodes(int64_t since_s) override {
    NodeInfo info;
    if (slurm_load_node(since_s, info.out(), SHOW_ALL | SHOW_DETAIL | SHOW_MIXED) !=
        SLURM_SUCCESS) {
      if (slurm_get_errno() == SLURM_NO_CHANGE_IN_DATA) return std::optional<Nodes>();
      return Failed("list of nodes");
    }
    Nodes nodes;
    nodes.last_update_s = info->last_update;
    for (uint32_t i = 0; i < info->record_count; ++i) {
      const node_info_t& node = info->node_array[i];
      if (node.name == nullptr) continue;  // a deleted dynamic node
      nodes.nodes.push_back(RecordOf(node));
      if (node.reason != nullptr) nodes.nodes.back().reason_user = UserName(node.reason_uid);
    }
    return std::optional(std::move(nodes));
  }

  Result<std::vector<Partition>> LoadPartitions() override {
    PartitionInfo info;
    if (slurm_load_partitions(0, info.out(), SHOW_ALL) != SLURM_SUCCESS)
      return Failed("list of partitions");
    std::vector<Partition> partitions;
    for (uint32_t i = 0; i < info->record_count; ++i) {
      const partition_info_t& partition = info->partition_array[i];
      partitions.push_back({TextOf(partition.name), ExpandNodes(TextOf(partition.nodes))});
    }
    return partitions;
  }

  Result<JobRecord> LoadJob(uint32_t id) override {
    JobInfo info;
    if (slurm_load_job(info.out(), id, SHOW_DETAIL) != SLURM_SUCCESS) return Failed(JobText(id));
    if (info->record_count == 0) return NotFound(JobText(id) + ": Slurm has no such job");
    return WithUser(RecordOf(info->job_array[0]));
  }

  Result<bool> HasSteps(uint32_t id) override {
    StepInfo info;
    if (slurm_get_job_steps(0, id, NO_VAL, info.out(), SHOW_ALL) != SLURM_SUCCESS)
      return Failed(JobText(id) + ": list of steps");
    for (uint32_t i = 0; i < info->job_step_count; ++i) {
      const uint32_t step = info->job_steps[i].step_id.step_id;
      if (step != SLURM_BATCH_SCRIPT && step != SLURM_EXTERN_CONT && step != SLURM_INTERACTIVE_STEP)
        return true;
    }
    return false;
  }

  Result<void> Update(uint32_t id, const JobUpdate& update) override {
    job_desc_msg_t description;
    slurm_init_job_desc_msg(&description);
    description.job_id = id;
    Fill(description, update);
    if (slurm_update_job(&description) != SLURM_SUCCESS) return Failed(JobText(id) + ": update");
    return {};
  }

  Result<void> Signal(uint32_t id, int signal_number, Target target) override {
    uint16_t flags = 0;
    if (target == Target::kBatchShell) flags = KILL_JOB_BATCH;
    if (target == Target::kBatchAll) flags = KILL_FULL_JOB;
    if (target == Target::kSteps) flags = KILL_STEPS_ONLY;
    const std::string name = std::to_string(id);
    if (slurm_kill_job2(name.c_str(), static_cast<uint16_t>(signal_number), flags, nullptr) !=
        SLURM_SUCCESS)
      return Failed(JobText(id) + ": signal " + std::to_string(signal_number));
    return {};
  }

  Result<void> RequeueHeld(uint32_t id) override {
    if (slurm_requeue(id, JOB_REQUEUE_HOLD) != SLURM_SUCCESS)
      return Failed(JobText(id) + ": requeue");
    return {};
  }

  Result<uint32_t> Submit(const BatchJob& job) override {
    job_desc_msg_t description;
    slurm_init_job_desc_msg(&description);
    std::vector<std::string> env;
    std::vector<char*> environment;
    env.reserve(job.env.size());  // so that no string moves once it is lent
    environment.reserve(job.env.size() + 1);
    for (const auto& [name, value] : job.env) {
      std::string& variable = env.emplace_back(name);
      variable += '=';
      variable += value;
      environment.push_back(variable.data());
    }
    environment.push_back(nullptr);
    const std::string gres = "gres:gpu:" + std::to_string(job.gpus_per_node);

    description.user_id = job.uid;
    description.group_id = job.gid;
    description.name = Lend(job.name);
    description.partition = Lend(job.partition);
    if (!job.account.empty()) description.account = Lend(job.account);
    description.work_dir = Lend(job.work_dir);
    description.std_out = description.std_err = Lend(job.output);
    description.script = Lend(job.script);
    description.admin_comment = Lend(job.admin_comment);
    description.environment = environment.data();
    description.env_size = static_cast<uint32_t>(env.size());
    description.priority = 0;
    description.alloc_sid = 0;
    description.requeue = 1;
    description.min_nodes = description.max_nodes = static_cast<uint32_t>(job.nodes);
    description.num_tasks = static_cast<uint32_t>(job.nodes);
    description.ntasks_per_node = 1;
    description.cpus_per_task = static_cast<uint16_t>(job.cpus_per_node);
    description.min_cpus = static_cast<uint32_t>(job.nodes * job.cpus_per_node);
    description.pn_min_memory = static_cast<uint64_t>(job.mem_per_node_mib);
    if (job.gpus_per_node > 0) description.tres_per_node = Lend(gres);
    if (job.time_limit_min) description.time_limit = static_cast<uint32_t>(*job.time_limit_min);

    SubmitAnswer answer;
    if (slurm_submit_batch_job(&description, answer.out()) != SLURM_SUCCESS)
      return Failed("submission of " + job.name);
    return answer->job_id;
  }

 private:
  static std::string JobText(uint32_t id) { return "job " + std::to_string(id); }

  JobRecord WithUser(JobRecord record) {
    if (record.user.empty()) record.user = UserName(record.uid);
    return record;
  }

  // A look into a directory service for each job of each poll would cost seconds.
  std::string UserName(uint32_t uid) {
    std::lock_guard lock(mutex_);
    std::string& name = users_[uid];
    if (!name.empty()) return name;
    auto account = FindAccount(uid_t{uid});
    return name = account ? std::move(account->name) : std::to_string(uid);
  }

  std::mutex mutex_;
  std::map<uint32_t, std::string> users_;
};

}  // namespace

Result<std::unique_ptr<Api>> Connect(const std::string& slurm_conf) {
  if (!slurm_conf.empty()) {
    // libslurm ends the process when it cannot read the file, so that is found out before.
    if (access(slurm_conf.c_str(), R_OK) != 0)
      return InvalidArgument("slurm_conf: " + slurm_conf + ": " + std::strerror(errno));
    setenv("SLURM_CONF", slurm_conf.c_str(), 1);
  }
  slurm_init(slurm_conf.empty() ? nullptr : slurm_conf.c_str());
  return std::unique_ptr<Api>(std::make_unique<LibSlurm>());
}

}  // namespace cox::slurm
