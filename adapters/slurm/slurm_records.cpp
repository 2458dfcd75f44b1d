#include "slurm/slurm_records.hpp"

#include <slurm/slurm_errno.h>

#include <array>
#include <cstdlib>
#include <ctime>

#include "slurm/gres.hpp"

extern "C" char* slurm_job_reason_string(int reason);  // of libslurm, in no header

namespace cox::slurm {

std::string TextOf(const char* field) {
  return field != nullptr ? field : "";
}

char* Lend(const std::string& text) {
  return const_cast<char*>(text.c_str());
}

namespace {

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
    usage.gpu_milli = ParseGpus(TextOf(job.gres_detail_str[i])).count * 1000;
  }
  return usage;
}

// Slurm's "not set" and "infinite" are the two largest values of each type.
template <class T>
int64_t OrZero(T value) {
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

// slurmd reports an error of its own in the place of a wait status, so that Slurm's commands show
// it as a signal: 0:53 for ESLURMD_IO_ERROR.
void ReadLaunchError(const job_info_t& job, JobRecord& record) {
  constexpr int kFirstCode = ESLURMD_PIPE_ERROR_ON_TASK_SPAWN, kFirstSignal = kFirstCode & 0x7f;
  const int signal = record.wait_status & 0x7f;
  if (job.state_reason != FAIL_LAUNCH || signal < kFirstSignal) return;
  const int code = kFirstCode + signal - kFirstSignal;
  record.launch_error = slurm_strerror(code);
  record.output_failed = code == ESLURMD_IO_ERROR;
  record.wait_status = 0;
}

void ReadRequest(const job_info_t& job, JobRecord& record) {
  record.min_nodes = job.num_nodes;
  record.max_nodes = OrZero(job.max_nodes);
  record.tasks = OrZero(job.num_tasks);
  record.tasks_per_node = OrZero(job.ntasks_per_node);
  record.cpus_per_task = OrZero(job.cpus_per_task);
  record.cpus = OrZero(job.num_cpus);
  if (job.pn_min_memory != NO_VAL64) {
    const auto mib = static_cast<int64_t>(job.pn_min_memory & ~MEM_PER_CPU);
    ((job.pn_min_memory & MEM_PER_CPU) != 0 ? record.mem_per_cpu_mib : record.mem_per_node_mib) =
        mib;
  }
  record.gres_per_node = TextOf(job.tres_per_node);
  record.gres_elsewhere = Joined({job.tres_per_job, job.tres_per_socket, job.tres_per_task});
  if (job.time_limit < INFINITE - 1 && job.time_limit != NO_VAL)
    record.time_limit_min = job.time_limit;
  record.required_nodes = ExpandNodes(TextOf(job.req_nodes));
  record.excluded_nodes = ExpandNodes(TextOf(job.exc_nodes));
  const auto also = [&record](const char* option, const char* value) {
    if (value != nullptr && *value != '\0') record.not_ours.push_back(option + std::string(value));
  };
  also("--dependency=", job.dependency);
  also("--constraint=", job.features);
  also("--reservation=", job.resv_name);
  also("--licenses=", job.licenses);
}

}  // namespace

JobRecord RecordOf(const job_info_t& job) {
  JobRecord record;
  record.id = job.job_id;
  record.uid = job.user_id;
  record.gid = job.group_id;
  record.user = TextOf(job.user_name);
  record.name = TextOf(job.name);
  record.partition = TextOf(job.partition);
  record.account = TextOf(job.account);
  record.comment = TextOf(job.comment);
  record.admin_comment = TextOf(job.admin_comment);
  record.state = StateOf(job.job_state);
  record.completing = (job.job_state & JOB_COMPLETING) != 0;
  record.configuring = (job.job_state & JOB_CONFIGURING) != 0;
  record.priority = job.priority;
  record.reason = TextOf(slurm_job_reason_string(job.state_reason));
  record.user_hold = job.priority == 0 && job.state_reason == WAIT_HELD_USER;
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
  ReadLaunchError(job, record);
  record.output = record.batch ? OutputOf(job) : "";
  ReadRequest(job, record);
  record.nodes = ExpandNodes(TextOf(job.nodes));
  for (size_t i = 0; i < record.nodes.size(); ++i) record.usage.push_back(UsageOf(job, i, record));
  return record;
}

NodeRecord RecordOf(const node_info_t& node) {
  NodeRecord record;
  const uint32_t state = node.node_state;
  record.state = NodeStateOf(state);
  record.name = TextOf(node.name);
  record.address = TextOf(node.node_addr != nullptr ? node.node_addr : node.node_hostname);
  record.cpus = node.cpus_efctv;
  record.mem_mib = static_cast<int64_t>(node.real_memory - node.mem_spec_limit);
  record.gres = TextOf(node.gres);
  record.draining = (state & NODE_STATE_DRAIN) != 0;
  record.failing = (state & NODE_STATE_FAIL) != 0;
  record.not_responding = (state & NODE_STATE_NO_RESPOND) != 0;
  record.invalid = (state & NODE_STATE_INVALID_REG) != 0;
  record.powered_down =
      (state & (NODE_STATE_POWERED_DOWN | NODE_STATE_POWERING_DOWN | NODE_STATE_POWERING_UP)) != 0;
  record.maintenance = (state & NODE_STATE_MAINT) != 0;
  record.rebooting = (state & (NODE_STATE_REBOOT_REQUESTED | NODE_STATE_REBOOT_ISSUED)) != 0;
  record.reason = TextOf(node.reason);
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
  text(into.comment, update.comment);
  text(into.admin_comment, update.admin_comment);
  number(into.min_nodes, update.nodes);
  number(into.max_nodes, update.nodes);
  number(into.num_tasks, update.tasks);
  number(into.ntasks_per_node, update.tasks_per_node);
  number(into.cpus_per_task, update.cpus_per_task);
  number(into.min_cpus, update.cpus);
  number(into.pn_min_memory, update.mem_per_node_mib);
  if (update.begin_now) into.begin_time = time(nullptr);
  // The flags tell job_submit that it is the daemon who holds or releases (submit_protocol.md).
  if (update.release) into.priority = INFINITE;
  if (update.hold || update.user_hold) into.priority = 0;
  if (update.release || update.hold) into.alloc_sid = ALLOC_SID_ADMIN_HOLD;
  if (update.user_hold) into.alloc_sid = ALLOC_SID_USER_HOLD;
}

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
  std::string compressed = TextOf(text);
  free(text);
  slurm_hostlist_destroy(hosts);
  return compressed;
}

}  // namespace cox::slurm
