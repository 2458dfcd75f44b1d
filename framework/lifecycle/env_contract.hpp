// The environment that every replica finds (S60-S65, S110), made in one place so that both batch
// systems give the same. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "model/task.hpp"

namespace cox::lifecycle {

using Env = std::vector<std::pair<std::string, std::string>>;

// The job's own variables, then the platform's, which win (D12): X_*, TASK_UUID, RETRY_INDEX, TZ.
// With a placement, a PyTorch job also gets MASTER_ADDR, MASTER_PORT and WORLD_SIZE (S62: machines,
// not processes). `master_address` "" = the name of rank 0's node.
Env EnvContract(const model::Task& task, const std::string& master_address = "");

// What differs from replica to replica: RANK (S63).
Env RankEnv(const model::Task& task, int64_t rank);

// D22: hosts are shared on Slurm, so jobs with neighbouring ids get different ports; a launcher
// probes upwards from here. 23456 where the native id is not a number.
int64_t MasterPort(const std::string& native_id);

}  // namespace cox::lifecycle
