#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <random>

#include "policies/backoff.hpp"
#include "policies/multifactor.hpp"
#include "policies/packing.hpp"

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

TEST(BestFit, PrefersTheNodeThatIsLeftFuller) {
  const Resources capacity{64'000, 262'144, 8'000}, demand{8'000, 32'768, 2'000};
  const Resources tight{16'000, 65'536, 2'000};
  EXPECT_GT(BestFit(tight, capacity, demand), BestFit(capacity, capacity, demand));
}

TEST(BestFit, ANodeFilledCompletelyIsPerfect) {
  const Resources all{64'000, 262'144, 8'000};
  EXPECT_EQ(BestFit(all, all, all), 10'000);
}

TEST(BestFit, AJobWithoutGpusRatherGoesWhereThereAreNone) {
  const Resources gpu_node{64'000, 262'144, 8'000}, cpu_node{64'000, 262'144, 0};
  const Resources demand{8'000, 32'768, 0};
  EXPECT_GT(BestFit(cpu_node, cpu_node, demand), BestFit(gpu_node, gpu_node, demand));
}

TEST(BestFitProperty, StaysInRange) {
  std::mt19937_64 rng(5);
  for (int round = 0; round < 20'000; ++round) {
    const auto part = [&](int64_t of) {
      return of == 0 ? 0 : static_cast<int64_t>(rng() % (of + 1));
    };
    const Resources capacity{part(1'000'000), part(1 << 30), part(16'000)};
    const Resources free{part(capacity.cpu_milli), part(capacity.mem_mib),
                         part(capacity.gpu_milli)};
    const Resources demand{part(free.cpu_milli), part(free.mem_mib), part(free.gpu_milli)};
    const int32_t score = BestFit(free, capacity, demand);
    EXPECT_GE(score, 0);
    EXPECT_LE(score, 10'000);
  }
}

}  // namespace
}  // namespace cox::policies
