#include "policies/multifactor.hpp"

#include <algorithm>

namespace cox::policies {

// The weights are the site's, and no choice of them may wrap around.
__extension__ typedef __int128 Wide;  // NOLINT(modernize-use-using): only a typedef takes the mark

int64_t Rank(int64_t level, int64_t waited_ns, const RankWeights& weights) {
  constexpr int64_t kSecond = 1'000'000'000;
  constexpr int64_t kLimit = int64_t{1} << 40;
  const int64_t seconds =
      std::clamp<int64_t>(waited_ns / kSecond, 0, std::max<int64_t>(weights.max_hours, 0) * 3600);
  const Wide rank = Wide{level} * weights.per_level + Wide{seconds} * weights.per_hour / 3600;
  return rank > kLimit ? kLimit : rank < -kLimit ? -kLimit : static_cast<int64_t>(rank);
}

}  // namespace cox::policies
