// How long to wait before attempt n (2.1): base * 2^n, at most `cap`. Saturates; pure.
#pragma once

#include <cstdint>

namespace cox::policies {

constexpr int64_t Backoff(int64_t base_ns, int64_t cap_ns, int64_t n) {
  if (base_ns <= 0 || cap_ns <= 0) return 0;
  int64_t wait = base_ns;
  for (int64_t i = 0; i < n && wait < cap_ns; ++i)
    if (__builtin_mul_overflow(wait, int64_t{2}, &wait)) return cap_ns;
  return wait < cap_ns ? wait : cap_ns;
}

}  // namespace cox::policies
