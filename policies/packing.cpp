#include "policies/packing.hpp"

#include <algorithm>

namespace cox::policies {
namespace {

// 0..10000 of the capacity; a resource that the node has not got leaves nothing over.
int64_t LeftOver(int64_t free, int64_t capacity, int64_t demand) {
  if (capacity <= 0) return 0;
  return std::clamp<int64_t>(free - demand, 0, capacity) * 10'000 / capacity;
}

}  // namespace

int32_t BestFit(const Resources& free, const Resources& capacity, const Resources& demand) {
  const int64_t left = 6 * LeftOver(free.gpu_milli, capacity.gpu_milli, demand.gpu_milli) +
                       2 * LeftOver(free.cpu_milli, capacity.cpu_milli, demand.cpu_milli) +
                       2 * LeftOver(free.mem_mib, capacity.mem_mib, demand.mem_mib);
  return static_cast<int32_t>(10'000 - left / 10);
}

}  // namespace cox::policies
