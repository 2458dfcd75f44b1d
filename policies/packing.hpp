// Best fit: how little would be left on a node after placing a replica there? Fuller nodes first
// keeps whole nodes free for large gangs. Integers; 0..10000, more is better. Pure.
#pragma once

#include <cstdint>

#include "base/resources.hpp"

namespace cox::policies {

// GPUs weigh 6 of 10, CPU and memory 2 each, so a job without GPUs rather goes where there are
// none. Needs demand.FitsIn(free) and free.FitsIn(capacity).
int32_t BestFit(const Resources& free, const Resources& capacity, const Resources& demand);

}  // namespace cox::policies
