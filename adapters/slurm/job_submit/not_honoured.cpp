#include "not_honoured.hpp"

#include "job_description.hpp"

namespace cox::slurm {
namespace {

using Job = job_desc_msg_t;

// The value as the user may have written it; "" = he has not asked.
using ReadOption = std::string (*)(const Job& job);

template <char* Job::*field>
std::string TextOf(const Job& job) {
  return Text(job.*field);
}

// Slurm's three largest values of a type say "not set", "infinite" and the like.
template <auto field>
std::string NumberOf(const Job& job) {
  const auto value = job.*field;
  return value >= static_cast<decltype(value)>(-3) ? "" : std::to_string(value);
}

template <auto field>
std::string PositiveOf(const Job& job) {
  const std::string number = NumberOf<field>(job);
  return number == "0" ? "" : number;
}

template <uint64_t flag>
std::string FlagOf(const Job& job) {
  return (job.bitflags & flag) != 0 ? "yes" : "";
}

std::string Nice(const Job& job) {
  if (job.nice == NO_VAL || job.nice == NICE_OFFSET) return "";
  return std::to_string(int64_t{job.nice} - NICE_OFFSET);
}

std::string Sharing(const Job& job) {
  return job.shared == 1 ? "yes" : "";
}

std::string WholeMemory(const Job& job) {
  return job.pn_min_memory == 0 || job.pn_min_memory == MEM_PER_CPU ? "0" : "";
}

// sbatch sets it to --cpus-per-task, too.
std::string MinCpus(const Job& job) {
  const std::string cpus = NumberOf<&Job::pn_min_cpus>(job);
  return job.pn_min_cpus <= job.cpus_per_task && job.cpus_per_task != NO_VAL16 ? "" : cpus;
}

std::string NoKill(const Job& job) {
  return job.kill_on_node_fail == 0 ? "yes" : "";
}

constexpr const char* kFlavors = "processors, memory and GPUs come with --cox-flavors";
constexpr const char* kNodes =
    "Coxswain chooses nodes of the flavors that are asked for; --cox-node-in and --cox-node-not-in "
    "narrow them down";
constexpr const char* kRank = "rank is --cox-priority's";
constexpr const char* kTasks = "ask for --ntasks-per-node and --cpus-per-task";
constexpr const char* kNever = "no managed job has it; leave it out";

const struct {
  const char* option;
  ReadOption value;
  const char* instead;
} kTable[] = {
    {"--priority", PositiveOf<&Job::priority>, kRank},
    {"--nice", Nice, kRank},
    {"--oversubscribe", Sharing, kNever},
    {"--overcommit", PositiveOf<&Job::overcommit>, kNever},
    {"--no-kill", NoKill, "a gang ends when one of its nodes fails; --cox-max-retries retries it"},
    {"--mem", WholeMemory, "a whole node's memory is not lent; ask for an amount, or for none"},
    {"--mincpus", MinCpus, kTasks},
    {"--ntasks-per-socket", NumberOf<&Job::ntasks_per_socket>, kTasks},
    {"--ntasks-per-core", NumberOf<&Job::ntasks_per_core>, kTasks},
    {"--ntasks-per-gpu", NumberOf<&Job::ntasks_per_tres>, kTasks},
    {"--sockets-per-node", NumberOf<&Job::sockets_per_node>, kTasks},
    {"--cores-per-socket", NumberOf<&Job::cores_per_socket>, kTasks},
    {"--threads-per-core", NumberOf<&Job::threads_per_core>, kTasks},
    {"--core-spec", PositiveOf<&Job::core_spec>, kNever},
    {"--cpus-per-gpu", TextOf<&Job::cpus_per_tres>, kFlavors},
    {"--mem-per-gpu", TextOf<&Job::mem_per_tres>, kFlavors},
    {"--tmp", PositiveOf<&Job::pn_min_tmp_disk>, kNodes},
    {"--prefer", TextOf<&Job::prefer>, kNodes},
    {"--cluster-constraint", TextOf<&Job::cluster_features>, kNodes},
    {"--batch", TextOf<&Job::batch_features>, kNodes},
    {"--contiguous", PositiveOf<&Job::contiguous>, kNodes},
    {"--switches", PositiveOf<&Job::req_switch>, kNodes},
    {"--spread-job", FlagOf<SPREAD_JOB>, kNodes},
    {"--use-min-nodes", FlagOf<USE_MIN_NODES>, kNodes},
    {"--reboot", PositiveOf<&Job::reboot>, kNever},
    {"--bb", TextOf<&Job::burst_buffer>, kNever},
};

}  // namespace

std::string NotHonoured(const Job& job) {
  std::string lines;
  for (const auto& row : kTable) {
    const std::string value = row.value(job);
    if (value.empty()) continue;
    if (!lines.empty()) lines += '\n';
    lines.append("cox: ").append(row.option);
    if (value != "yes") lines.append("=").append(value);
    lines.append(": is not honoured in a managed partition; ").append(row.instead);
  }
  return lines;
}

}  // namespace cox::slurm
