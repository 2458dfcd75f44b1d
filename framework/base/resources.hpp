// An amount of a node's resources. Integers only; the unit is in the name. Whole GPUs are 1000.
#pragma once

#include <compare>
#include <cstdint>

namespace cox {

struct Resources {
  int64_t cpu_milli = 0;
  int64_t mem_mib = 0;
  int64_t gpu_milli = 0;

  constexpr Resources& operator+=(const Resources& o) {
    cpu_milli += o.cpu_milli;
    mem_mib += o.mem_mib;
    gpu_milli += o.gpu_milli;
    return *this;
  }
  constexpr Resources& operator-=(const Resources& o) {
    cpu_milli -= o.cpu_milli;
    mem_mib -= o.mem_mib;
    gpu_milli -= o.gpu_milli;
    return *this;
  }
  friend constexpr Resources operator+(Resources a, const Resources& b) { return a += b; }
  friend constexpr Resources operator-(Resources a, const Resources& b) { return a -= b; }
  friend constexpr Resources operator*(const Resources& a, int64_t n) {
    return {a.cpu_milli * n, a.mem_mib * n, a.gpu_milli * n};
  }
  friend constexpr bool operator==(const Resources&, const Resources&) = default;

  constexpr bool FitsIn(const Resources& room) const {
    return cpu_milli <= room.cpu_milli && mem_mib <= room.mem_mib && gpu_milli <= room.gpu_milli;
  }
};

}  // namespace cox
