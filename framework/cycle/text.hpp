// The words in which the cycle explains itself to the owner of a job.
#pragma once

#include <string>

#include "base/resources.hpp"
#include "base/time.hpp"

namespace cox::cycle {

std::string Amount(const Resources& r);                 // "8 GPU, 64 CPU, 512 GiB"
std::string Utc(TimePoint t);                           // "2026-01-31T12:00:00Z"
std::string Count(int64_t n, const std::string& noun);  // "1 node", "2 nodes"

}  // namespace cox::cycle
