#include "lifecycle/env_contract.hpp"

#include <algorithm>
#include <charconv>

namespace cox::lifecycle {
namespace {

// Below 32768, where Linux hands out ports of its own accord. SPANK computes the same range.
constexpr int64_t kFirstPort = 20000, kPorts = 12000, kUsualPort = 23456;

void Set(Env& env, const std::string& name, std::string value) {
  const auto same = [&](const auto& pair) { return pair.first == name; };
  const auto it = std::find_if(env.begin(), env.end(), same);
  if (it == env.end()) {
    env.emplace_back(name, std::move(value));
  } else {
    it->second = std::move(value);
  }
}

bool Has(const Env& env, const std::string& name) {
  return std::any_of(env.begin(), env.end(), [&](const auto& pair) { return pair.first == name; });
}

}  // namespace

Env EnvContract(const model::Task& task, const std::string& master_address) {
  Env env;
  const spec::TrainingJob& job = *task.job;
  for (const spec::EnvVar& var : job.env) Set(env, var.name, var.value);
  if (!job.time_zone.empty() && !Has(env, "TZ")) Set(env, "TZ", job.time_zone);
  Set(env, "X_USER_NAME", task.owner.user);
  Set(env, "X_ORG_NAME", task.org);
  Set(env, "X_TENANT_ID", task.owner.tenant);
  Set(env, "X_REGION", job.region);
  Set(env, "X_CLUSTER", job.cluster);
  Set(env, "TASK_UUID", task.attempt_uuid);
  Set(env, "RETRY_INDEX", std::to_string(task.attempt));
  if (task.placement && job.type == spec::TaskType::kPyTorchJob &&
      !task.placement->replicas.empty()) {
    const auto& replicas = task.placement->replicas;
    Set(env, "MASTER_ADDR", master_address.empty() ? replicas.front().node : master_address);
    Set(env, "MASTER_PORT", std::to_string(MasterPort(task.native_id)));
    Set(env, "WORLD_SIZE", std::to_string(replicas.size()));
  }
  return env;
}

Env RankEnv(const model::Task& task, int64_t rank) {
  if (task.job->type != spec::TaskType::kPyTorchJob) return {};
  return {{"RANK", std::to_string(rank)}};
}

int64_t MasterPort(const std::string& native_id) {
  int64_t id = 0;
  const char* end = native_id.data() + native_id.size();
  const auto [stop, failed] = std::from_chars(native_id.data(), end, id);
  if (failed != std::errc() || stop != end || id < 0) return kUsualPort;
  return kFirstPort + id % kPorts;
}

}  // namespace cox::lifecycle
