// The last lines that a job wrote, for the failure's record (2.1).
#pragma once

#include <cstdint>
#include <string>

namespace cox::slurm {

inline constexpr int64_t kLogTailBytes = 4096;

// "" when there is no such regular file or its owner may not read it. The path is a user's word:
// it is opened with that user's rights, never through a link at its end, and never waits on a
// FIFO. Without root's rights only our own files are read.
std::string LogTail(const std::string& path, uint32_t uid, uint32_t gid);

}  // namespace cox::slurm
