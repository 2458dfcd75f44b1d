// How long to wait before one tries again: `first`, doubled `times` times, at most `most`.
#pragma once

#include <algorithm>

#include "base/time.hpp"

namespace cox {

constexpr Duration Backoff(Duration first, Duration most, int64_t times) {
  if (first <= Duration::zero() || most <= Duration::zero()) return Duration::zero();
  for (; times > 0 && first < most; --times) first = first > most / 2 ? most : first * 2;
  return std::min(first, most);
}

}  // namespace cox
