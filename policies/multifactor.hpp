// The rank of a pending job (S56): its priority level, and points for waiting. Within a level the
// points grow with age, so that equal levels start in the order of submission. Pure integers.
#pragma once

#include <cstdint>

namespace cox::policies {

struct RankWeights {
  int64_t per_level = 1'000'000;
  int64_t per_hour = 10;
  int64_t max_hours = 168;  // waiting longer earns nothing more
};

// `level`: 0 low, 1 medium, 2 high. A job from the future has waited 0 hours. Never overflows;
// within +-2^40.
int64_t Rank(int64_t level, int64_t waited_ns, const RankWeights& weights);

}  // namespace cox::policies
