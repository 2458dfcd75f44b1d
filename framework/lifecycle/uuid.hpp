// Identities of tasks and attempts (D13). The SPANK plugin computes the same value on the node from
// the root and Slurm's restart count, so no message is needed to agree on TASK_UUID.
#pragma once

#include <cstdint>
#include <string>

namespace cox::lifecycle {

// A random one, for a new task.
std::string NewUuid();

// Attempt 0 bears the root itself; attempt n the version-5 UUID of (root, "n").
std::string AttemptUuid(const std::string& root, int64_t attempt);

}  // namespace cox::lifecycle
