#include "job_description.hpp"

#include <algorithm>
#include <array>

extern "C" {  // exported by libslurmfull, in no header
char* slurm_xstrdup(const char* text);
void slurm_xfree_ptr(void* pointer);
void* slurm_xcalloc(size_t count, size_t size, bool clear, bool may_fail, const char* file,
                    int line, const char* function);
}

namespace cox::slurm {
namespace {

constexpr const char* kUuidVariable = "COX_TASK_UUID";
constexpr std::string_view kOptionPrefix = "_SLURM_SPANK_OPTION_cox_cox_";
constexpr std::array<std::string_view, 5> kContext = {"X_USER_NAME", "X_ORG_NAME", "X_TENANT_ID",
                                                      "X_REGION", "X_CLUSTER"};

// Slurm's list of NAME=VALUE strings with its own count.
class Variables {
 public:
  Variables(char**& list, uint32_t& count) : list_(list), count_(count) {}

  void Set(const std::string& name, const std::string& value, bool replace = true) {
    const std::string text = name + "=" + value;
    for (uint32_t i = 0; i < count_; ++i) {
      if (!std::string_view(list_[i]).starts_with(name + "=")) continue;
      if (replace) SetText(list_[i], text);
      return;
    }
    // A new block, zeroed to its end: slurmctld frees up to the first NULL, whatever the count is.
    auto** grown = static_cast<char**>(
        slurm_xcalloc(count_ + 2, sizeof(char*), true, false, __FILE__, __LINE__, __func__));
    std::copy_n(list_, count_, grown);
    slurm_xfree_ptr(list_);
    list_ = grown;
    list_[count_++] = slurm_xstrdup(text.c_str());
  }

  template <class Predicate>
  void RemoveIf(Predicate matches) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < count_; ++i) {
      const std::string_view text = list_[i];
      if (matches(text.substr(0, text.find('='))))
        slurm_xfree_ptr(list_[i]);
      else
        list_[kept++] = list_[i];
    }
    std::fill(list_ + kept, list_ + count_, nullptr);
    count_ = kept;
  }

 private:
  char**& list_;
  uint32_t& count_;
};

template <class... Field>
bool AnyDiffers(const job_desc_msg_t& a, const job_desc_msg_t& b,
                Field job_desc_msg_t::*... fields) {
  return ((a.*fields != b.*fields) || ...);
}

}  // namespace

std::string Text(const char* field) {
  return field != nullptr ? field : "";
}

void SetText(char*& field, const std::string& value) {
  slurm_xfree_ptr(field);
  field = slurm_xstrdup(value.c_str());
}

bool IsBatch(const job_desc_msg_t& job) {
  return job.script != nullptr || job.script_buf != nullptr;
}

std::map<std::string, std::string> OptionsOf(const job_desc_msg_t& job) {
  std::map<std::string, std::string> options;
  for (uint32_t i = 0; i < job.spank_job_env_size; ++i) {
    std::string_view text = job.spank_job_env[i];
    if (!text.starts_with(kOptionPrefix)) continue;
    text.remove_prefix(kOptionPrefix.size());
    const size_t equals = std::min(text.find('='), text.size());
    std::string key(text.substr(0, equals));
    std::replace(key.begin(), key.end(), '_', '-');  // Slurm made '_' of each '-'
    const std::string value(text.substr(std::min(equals + 1, text.size())));
    options[key] = value == "(null)" ? "true" : value;  // so Slurm prints an option of no argument
  }
  return options;
}

Request RequestOf(const job_desc_msg_t& job, const std::string& partition,
                  const std::string& uuid) {
  Request request;
  request.uid = job.user_id;
  request.uuid = uuid;
  request.kind = IsBatch(job) ? "batch" : "interactive";
  request.options = OptionsOf(job);

  const auto text = [](auto& map, const char* key, const char* field) {
    if (field != nullptr && *field != '\0') map[key] = field;
  };
  text(request.text, "name", job.name);
  text(request.text, "partition", partition.c_str());
  text(request.text, "account", job.account);
  request.number["nodes"] = job.min_nodes < INFINITE - 1 ? std::max(job.min_nodes, 1U) : 1;
  if (job.time_limit < NO_VAL) request.number["time_limit_s"] = int64_t{job.time_limit} * 60;

  text(request.slurm, "tres_per_node", job.tres_per_node);
  text(request.slurm, "tres_per_job", job.tres_per_job);
  text(request.slurm, "tres_per_socket", job.tres_per_socket);
  text(request.slurm, "tres_per_task", job.tres_per_task);
  text(request.slurm, "nodelist", job.req_nodes);
  text(request.slurm, "exclude", job.exc_nodes);
  text(request.slurm, "features", job.features);
  text(request.slurm, "dependency", job.dependency);
  text(request.slurm, "reservation", job.reservation);
  text(request.slurm, "licenses", job.licenses);
  text(request.slurm, "qos", job.qos);
  const auto number = [&request](const char* key, uint64_t value, uint64_t unset) {
    if (value != unset) request.slurm_number[key] = static_cast<int64_t>(value);
  };
  number("max_nodes", job.max_nodes, NO_VAL);
  number("tasks", job.num_tasks, NO_VAL);
  number("tasks_per_node", job.ntasks_per_node, NO_VAL16);
  number("cpus_per_task", job.cpus_per_task, NO_VAL16);
  number("min_cpus", job.min_cpus, NO_VAL);
  if (job.begin_time != 0) number("begin_unix_s", static_cast<uint64_t>(job.begin_time), 0);
  if (job.shared == 0) number("exclusive", 1, 0);
  if (job.pn_min_memory != NO_VAL64)
    number((job.pn_min_memory & MEM_PER_CPU) != 0 ? "mem_mib_per_cpu" : "mem_mib_per_node",
           job.pn_min_memory & ~MEM_PER_CPU, 0);
  return request;
}

std::string WithHold(const job_desc_msg_t& job, std::string admin_comment) {
  if (job.priority == 0)
    admin_comment.insert(std::min(admin_comment.find(" {"), admin_comment.size()), " held");
  return admin_comment;
}

void MarkHeld(job_desc_msg_t& job, const std::string& uuid, const std::string& admin_comment) {
  job.priority = 0;
  job.requeue = 1;  // else slurmctld refuses the requeue-hold that retries and preemption are
  SetText(job.admin_comment, admin_comment);
  Variables(job.spank_job_env, job.spank_job_env_size).Set(kUuidVariable, uuid);
  if (!IsBatch(job)) return;  // slurmctld does not keep the environment of srun and salloc
  Variables environment(job.environment, job.env_size);
  // What the submitter had from a job around him is not of this one.
  environment.RemoveIf([](std::string_view name) {
    return name.starts_with("SLURM_COX_") || name == "SLURM_RESTART_COUNT" ||
           std::find(kContext.begin(), kContext.end(), name) != kContext.end();
  });
  environment.Set("SLURM_COX_ROOT_UUID", uuid);
}

void Apply(const Reply& reply, job_desc_msg_t& job) {
  if (reply.nodes) job.min_nodes = job.max_nodes = *reply.nodes;
  if (reply.tres_per_node) SetText(job.tres_per_node, *reply.tres_per_node);
  if (reply.cpus_per_node) {
    job.pn_min_cpus =
        static_cast<uint16_t>(std::min(*reply.cpus_per_node, uint32_t{INFINITE16 - 3}));
    job.min_cpus = *reply.cpus_per_node * std::max(job.min_nodes < NO_VAL ? job.min_nodes : 1, 1U);
  }
  if (reply.mem_mib_per_node) job.pn_min_memory = *reply.mem_mib_per_node;
  if (!IsBatch(job)) return;
  Variables environment(job.environment, job.env_size);
  for (const auto& [name, value] : reply.environment) environment.Set(name, value);
  for (const auto& [name, value] : reply.environment_defaults) environment.Set(name, value, false);
}

std::string UuidOf(std::string_view admin_comment) {
  if (!admin_comment.starts_with(kMark)) return {};
  admin_comment.remove_prefix(kMark.size());
  return std::string(admin_comment.substr(0, admin_comment.find(' ')));
}

std::string MarkedUuid(const job_desc_msg_t& job) {
  const std::string start = std::string(kUuidVariable) + "=";
  for (uint32_t i = 0; i < job.spank_job_env_size; ++i) {
    const std::string_view text = job.spank_job_env[i];
    if (text.starts_with(start)) return std::string(text.substr(start.size()));
  }
  return {};
}

Change ChangeOf(const job_desc_msg_t& update) {
  if (update.priority != 0 && update.priority != INFINITE) return Change::kNone;
  job_desc_msg_t rest = update;
  TakeOver(rest);
  if (TouchesManagedFields(rest)) return Change::kNone;
  return update.priority == 0 ? Change::kHold : Change::kRelease;
}

bool SaysWhoseHold(const job_desc_msg_t& update) {
  return update.alloc_sid == ALLOC_SID_ADMIN_HOLD || update.alloc_sid == ALLOC_SID_USER_HOLD;
}

void TakeOver(job_desc_msg_t& update) {
  update.priority = NO_VAL;
  update.alloc_sid = NO_VAL;
}

bool TouchesManagedFields(const job_desc_msg_t& update) {
  using Job = job_desc_msg_t;
  Job blank;
  slurm_init_job_desc_msg(&blank);
  return AnyDiffers(update, blank, &Job::priority, &Job::nice, &Job::begin_time, &Job::dependency,
                    &Job::partition, &Job::account, &Job::qos, &Job::reservation,
                    &Job::admin_comment, &Job::requeue) ||
         AnyDiffers(update, blank, &Job::min_nodes, &Job::max_nodes, &Job::req_nodes,
                    &Job::exc_nodes, &Job::features, &Job::cluster_features, &Job::batch_features,
                    &Job::prefer, &Job::contiguous, &Job::shared, &Job::req_switch,
                    &Job::wait4switch) ||
         AnyDiffers(update, blank, &Job::tres_per_job, &Job::tres_per_node, &Job::tres_per_socket,
                    &Job::tres_per_task, &Job::cpus_per_tres, &Job::mem_per_tres, &Job::licenses,
                    &Job::burst_buffer) ||
         AnyDiffers(update, blank, &Job::num_tasks, &Job::cpus_per_task, &Job::min_cpus,
                    &Job::max_cpus, &Job::pn_min_cpus, &Job::pn_min_memory, &Job::pn_min_tmp_disk,
                    &Job::ntasks_per_node, &Job::ntasks_per_socket, &Job::ntasks_per_core,
                    &Job::ntasks_per_tres, &Job::sockets_per_node, &Job::cores_per_socket,
                    &Job::threads_per_core, &Job::core_spec, &Job::delay_boot, &Job::reboot,
                    &Job::array_inx);
}

}  // namespace cox::slurm
