#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <random>

#include "policies/backoff.hpp"
#include "policies/multifactor.hpp"

namespace cox::policies {
namespace {

constexpr int64_t kHour = 3600LL * 1'000'000'000;

TEST(Multifactor, AHigherLevelComesFirstHoweverLongALowerOneHasWaited) {
  EXPECT_GT(Rank(2, 0, {}), Rank(1, 10'000 * kHour, {}));
  EXPECT_GT(Rank(1, 0, {}), Rank(0, 10'000 * kHour, {}));
}

TEST(Multifactor, WithinALevelTheOlderComesFirst) {
  EXPECT_GT(Rank(1, 2 * kHour, {}), Rank(1, kHour, {}));
}

TEST(Multifactor, WaitingBeyondTheCapEarnsNothing) {
  EXPECT_EQ(Rank(1, 168 * kHour, {}), Rank(1, 999 * kHour, {}));
}

TEST(Multifactor, ASiteMayLetAgeOvertakeALevel) {
  const RankWeights weights{100, 10, 168};
  EXPECT_GT(Rank(0, 11 * kHour, weights), Rank(1, 0, weights));
}

TEST(Multifactor, AJobFromTheFutureHasNotWaited) {
  EXPECT_EQ(Rank(1, -kHour, {}), Rank(1, 0, {}));
}

TEST(MultifactorProperty, NeverLeavesItsRangeAndNeverFallsWithAge) {
  std::mt19937_64 rng(3);
  const auto any = [&] { return static_cast<int64_t>(rng()) >> (rng() % 60); };
  for (int round = 0; round < 20'000; ++round) {
    const RankWeights weights{any(), static_cast<int64_t>(rng() % 1'000'000), 8760};
    const int64_t level = rng() % 3, waited = any();
    const int64_t rank = Rank(level, waited, weights);
    EXPECT_LE(rank, int64_t{1} << 40);
    EXPECT_GE(rank, -(int64_t{1} << 40));
    EXPECT_GE(Rank(level, waited / 2 + std::numeric_limits<int64_t>::max() / 2, weights),
              Rank(level, waited < 0 ? waited : 0, weights));
  }
}

TEST(Backoff, DoublesFromTenSecondsUpToSixMinutes) {
  const int64_t s = 1'000'000'000;
  const int64_t expected[] = {10, 20, 40, 80, 160, 320, 360, 360};
  for (int64_t n = 0; n < 8; ++n) EXPECT_EQ(Backoff(10 * s, 360 * s, n), expected[n] * s) << n;
}

TEST(Backoff, SaturatesInsteadOfWrappingAround) {
  EXPECT_EQ(Backoff(3, INT64_MAX, INT64_MAX), INT64_MAX);
  EXPECT_EQ(Backoff(INT64_MAX, 5, 0), 5);
}

TEST(Backoff, NothingToWaitForWithoutABase) {
  EXPECT_EQ(Backoff(0, 360, 3), 0);
  EXPECT_EQ(Backoff(-1, 360, 3), 0);
}

}  // namespace
}  // namespace cox::policies
