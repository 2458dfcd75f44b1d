// base/backoff.hpp in the ABI's unit, for plugins (2.1).
#pragma once

#include <cstdint>

#include "base/backoff.hpp"

namespace cox::policies {

constexpr int64_t Backoff(int64_t base_ns, int64_t cap_ns, int64_t n) {
  return cox::Backoff(Duration(base_ns), Duration(cap_ns), n).count();
}

}  // namespace cox::policies
