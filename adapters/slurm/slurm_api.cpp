#include "slurm/slurm_api.hpp"

#include <pwd.h>
#include <signal.h>
#include <slurm/slurm.h>
#include <slurm/slurm_errno.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <map>
#include <mutex>

#include "slurm/gres.hpp"

extern "C" char* slurm_job_reason_string(int reason);  // of libslurm, in no header

namespace cox::slurm {
namespace {

std::string Text(const char* field) {
  return field != nullptr ? field : "";
}

// libslurm takes char* for strings that it only reads.
char* Lend(const std::string& text) {
  return const_cast<char*>(text.c_str());
}

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

JobState StateOf(uint32_t state) {
  constexpr std::array kStates = {
      JobState::kPending,   JobState::kRunning,  JobState::kSuspended, JobState::kComplete,
      JobState::kCancelled, JobState::kFailed,   JobState::kTimeout,   JobState::kNodeFail,
      JobState::kPreempted, JobState::kBootFail, JobState::kDeadline,  JobState::kOutOfMemory};
  const uint32_t base = state & JOB_STATE_BASE;
  return base < kStates.size() ? kStates[base] : JobState::kFailed;
}

NodeRecord::State NodeStateOf(uint32_t state) {
  using State = NodeRecord::State;
  switch (state & NODE_STATE_BASE) {
    case NODE_STATE_DOWN:
    case NODE_STATE_ERROR:
      return State::kDown;
    case NODE_STATE_IDLE:
      return State::kIdle;
    case NODE_STATE_ALLOCATED:
      return State::kAllocated;
    case NODE_STATE_MIXED:
      return State::kMixed;
    case NODE_STATE_FUTURE:
      return State::kFuture;
    default:
      return State::kUnknown;
  }
}

// What the job has of its i-th node. Slurm tells processors and GPUs a node, memory only as asked.
Resources UsageOf(const job_info_t& job, size_t i, const JobRecord& record) {
  Resources usage;
  const int cpus = job.job_resrcs != nullptr
                       ? slurm_job_cpus_allocated_on_node_id(job.job_resrcs, static_cast<int>(i))
                       : 0;
  usage.cpu_milli = int64_t{cpus > 0 ? cpus : 0} * 1000;
  usage.mem_mib = record.mem_per_node_mib + record.mem_per_cpu_mib * usage.cpu_milli / 1000;
  if (i < job.gres_detail_cnt) {
    usage.gpu_milli = ParseGpus(Text(job.gres_detail_str[i])).count * 1000;
  }
  return usage;
}

// Slurm's "not set" and "infinite" are the two largest values of each type.
template <class T>
int64_t Known(T value) {
  return value >= static_cast<T>(-2) ? 0 : static_cast<int64_t>(value);
}

std::string OutputOf(const job_info_t& job) {
  std::array<char, 4096> path{};
  slurm_get_job_stdout(path.data(), path.size(), const_cast<job_info_t*>(&job));
  return path.data();
}

std::string Joined(std::initializer_list<const char*> fields) {
  std::string all;
  for (const char* field : fields) {
    if (field != nullptr && *field != '\0') all += (all.empty() ? "" : ",") + std::string(field);
  }
  return all;
}

void ReadRequest(const job_info_t& job, JobRecord& record) {
  record.min_nodes = job.num_nodes;
  record.max_nodes = Known(job.max_nodes);
  record.tasks = Known(job.num_tasks);
  record.tasks_per_node = Known(job.ntasks_per_node);
  record.cpus_per_task = Known(job.cpus_per_task);
  record.cpus = Known(job.num_cpus);
  if (job.pn_min_memory != NO_VAL64) {
    const auto mib = static_cast<int64_t>(job.pn_min_memory & ~MEM_PER_CPU);
    ((job.pn_min_memory & MEM_PER_CPU) != 0 ? record.mem_per_cpu_mib : record.mem_per_node_mib) =
        mib;
  }
  record.gres_per_node = Text(job.tres_per_node);
  record.gres_elsewhere = Joined({job.tres_per_job, job.tres_per_socket, job.tres_per_task});
  if (job.time_limit < INFINITE - 1 && job.time_limit != NO_VAL)
    record.time_limit_min = job.time_limit;
  record.required_nodes = ExpandNodes(Text(job.req_nodes));
  record.excluded_nodes = ExpandNodes(Text(job.exc_nodes));
  const auto also = [&record](const char* option, const char* value) {
    if (value != nullptr && *value != '\0') record.not_ours.push_back(option + std::string(value));
  };
  also("--dependency=", job.dependency);
  also("--constraint=", job.features);
  also("--reservation=", job.resv_name);
  also("--licenses=", job.licenses);
}

JobRecord RecordOf(const job_info_t& job) {
  JobRecord record;
  record.id = job.job_id;
  record.uid = job.user_id;
  record.gid = job.group_id;
  record.user = Text(job.user_name);
  record.name = Text(job.name);
  record.partition = Text(job.partition);
  record.account = Text(job.account);
  record.admin_comment = Text(job.admin_comment);
  record.state = StateOf(job.job_state);
  record.completing = (job.job_state & JOB_COMPLETING) != 0;
  record.configuring = (job.job_state & JOB_CONFIGURING) != 0;
  record.priority = job.priority;
  record.reason = Text(slurm_job_reason_string(job.state_reason));
  if (job.state_desc != nullptr) record.reason += std::string(": ") + job.state_desc;
  record.restarts = job.restart_cnt;
  record.batch = job.batch_flag != 0;
  record.array = job.array_job_id != 0;
  record.het = job.het_job_id != 0;
  record.requeue = job.requeue != 0;
  record.submit_s = job.submit_time;
  record.start_s = job.start_time;
  record.end_s = job.end_time;
  record.wait_status = static_cast<int>(job.exit_code);
  record.output = record.batch ? OutputOf(job) : "";
  ReadRequest(job, record);
  record.nodes = ExpandNodes(Text(job.nodes));
  for (size_t i = 0; i < record.nodes.size(); ++i) record.usage.push_back(UsageOf(job, i, record));
  return record;
}

NodeRecord RecordOf(const node_info_t& node) {
  NodeRecord record;
  const uint32_t state = node.node_state;
  record.state = NodeStateOf(state);
  record.name = Text(node.name);
  record.address = Text(node.node_addr != nullptr ? node.node_addr : node.node_hostname);
  record.cpus = node.cpus_efctv;
  record.mem_mib = static_cast<int64_t>(node.real_memory - node.mem_spec_limit);
  record.gres = Text(node.gres);
  record.draining = (state & NODE_STATE_DRAIN) != 0;
  record.failing = (state & NODE_STATE_FAIL) != 0;
  record.not_responding = (state & NODE_STATE_NO_RESPOND) != 0;
  record.invalid = (state & NODE_STATE_INVALID_REG) != 0;
  record.powered_down =
      (state & (NODE_STATE_POWERED_DOWN | NODE_STATE_POWERING_DOWN | NODE_STATE_POWERING_UP)) != 0;
  record.maintenance = (state & NODE_STATE_MAINT) != 0;
  record.rebooting = (state & (NODE_STATE_REBOOT_REQUESTED | NODE_STATE_REBOOT_ISSUED)) != 0;
  record.reason = Text(node.reason);
  record.reason_s = node.reason_time;
  record.boot_s = node.boot_time;
  record.slurmd_start_s = node.slurmd_start_time;
  return record;
}

void Fill(job_desc_msg_t& into, const JobUpdate& update) {
  const auto text = [](char*& field, const std::optional<std::string>& value) {
    if (value) field = Lend(*value);
  };
  const auto number = [](auto& field, const std::optional<int64_t>& value) {
    if (value) field = static_cast<std::remove_reference_t<decltype(field)>>(*value);
  };
  text(into.partition, update.partition);
  text(into.req_nodes, update.required_nodes);
  text(into.exc_nodes, update.excluded_nodes);
  text(into.tres_per_node, update.gres_per_node);
  text(into.admin_comment, update.admin_comment);
  number(into.min_nodes, update.nodes);
  number(into.max_nodes, update.nodes);
  number(into.num_tasks, update.tasks);
  number(into.ntasks_per_node, update.tasks_per_node);
  number(into.cpus_per_task, update.cpus_per_task);
  number(into.min_cpus, update.cpus);
  number(into.pn_min_memory, update.mem_per_node_mib);
  if (update.begin_now) into.begin_time = time(nullptr);
  if (update.release) into.priority = INFINITE;
  if (update.hold) {
    into.priority = 0;
    into.alloc_sid = 0;  // neither of the two hold flags: an administrator's hold
  }
}

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
      partitions.push_back({Text(partition.name), ExpandNodes(Text(partition.nodes))});
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
    passwd entry{};
    passwd* found = nullptr;
    std::array<char, 16384> buffer;
    getpwuid_r(uid, &entry, buffer.data(), buffer.size(), &found);
    return name = found != nullptr ? found->pw_name : std::to_string(uid);
  }

  std::mutex mutex_;
  std::map<uint32_t, std::string> users_;
};

}  // namespace

const char* Name(JobState state) {
  switch (state) {
    case JobState::kPending:
      return "PENDING";
    case JobState::kRunning:
      return "RUNNING";
    case JobState::kSuspended:
      return "SUSPENDED";
    case JobState::kComplete:
      return "COMPLETED";
    case JobState::kCancelled:
      return "CANCELLED";
    case JobState::kFailed:
      return "FAILED";
    case JobState::kTimeout:
      return "TIMEOUT";
    case JobState::kNodeFail:
      return "NODE_FAIL";
    case JobState::kPreempted:
      return "PREEMPTED";
    case JobState::kBootFail:
      return "BOOT_FAIL";
    case JobState::kDeadline:
      return "DEADLINE";
    case JobState::kOutOfMemory:
      return "OUT_OF_MEMORY";
  }
  return "?";
}

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

std::vector<std::string> ExpandNodes(std::string_view list) {
  std::vector<std::string> nodes;
  hostlist_t hosts = slurm_hostlist_create(std::string(list).c_str());
  if (hosts == nullptr) return nodes;
  while (nodes.size() <= kMostNodes) {
    char* host = slurm_hostlist_shift(hosts);
    if (host == nullptr) break;
    nodes.emplace_back(host);
    free(host);
  }
  slurm_hostlist_destroy(hosts);
  return nodes;
}

std::string CompressNodes(const std::vector<std::string>& nodes) {
  hostlist_t hosts = slurm_hostlist_create("");
  if (hosts == nullptr) return "";
  for (const std::string& node : nodes) slurm_hostlist_push_host(hosts, node.c_str());
  char* text = slurm_hostlist_ranged_string_malloc(hosts);
  std::string compressed = Text(text);
  free(text);
  slurm_hostlist_destroy(hosts);
  return compressed;
}

}  // namespace cox::slurm
