#include "policies/quota_tree.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <vector>

namespace cox::policies {
namespace {

using Kind = QuotaBlock::Kind;

TEST(QuotaTree, AllowsWhatFitsEveryLevel) {
  const QuotaRow rows[] = {{100, 40}, {50, 40}, {24, 16}};
  EXPECT_FALSE(FirstBlock(rows, 8, true));
}

TEST(QuotaTree, JudgesTheWholeDemandNotAReplica) {  // S41: 6 left, 2 replicas of 4
  const QuotaRow rows[] = {{8, 2}};
  EXPECT_FALSE(FirstBlock(rows, 4, true));
  EXPECT_TRUE(FirstBlock(rows, 2 * 4, true));
}

TEST(QuotaTree, SaysHowMuchMustBeReleased) {
  const QuotaRow rows[] = {{100, 0}, {24, 16}};
  const auto block = FirstBlock(rows, 16, true);
  ASSERT_TRUE(block);
  EXPECT_EQ(block->kind, Kind::kWait);
  EXPECT_EQ(block->row, 1U);
  EXPECT_EQ(block->left, 8);
  EXPECT_EQ(block->shortfall, 8);
}

TEST(QuotaTree, NamesTheRowThatMustReleaseMost) {
  const QuotaRow rows[] = {{100, 99}, {100, 90}, {100, 95}};
  EXPECT_EQ(FirstBlock(rows, 20, true)->row, 0U);
}

TEST(QuotaTree, NamesAllRowsThatBlockTheWorstFirst) {
  const QuotaRow rows[] = {{100, 90}, {100, 50}, {4, 0}, {100, 99}, {-1, 7}};
  std::vector<size_t> order;
  for (const QuotaBlock& block : AllBlocks(rows, 20, true)) order.push_back(block.row);
  EXPECT_EQ(order, (std::vector<size_t>{2, 3, 0}));
  EXPECT_EQ(AllBlocks(rows, 4, true).size(), 1U) << "only the row of 100 - 99";
  EXPECT_EQ(AllBlocks({}, 1, true).front().kind, Kind::kNoQuota);
  EXPECT_TRUE(AllBlocks({}, 1, false).empty());
}

TEST(QuotaTree, NamesTheOuterRowOfTwoEqualOnes) {
  const QuotaRow rows[] = {{10, 5}, {10, 5}};
  EXPECT_EQ(FirstBlock(rows, 6, true)->row, 0U);
}

TEST(QuotaTree, ALimitThatIsTooSmallIsNamedBeforeOneInUse) {
  const QuotaRow rows[] = {{100, 100}, {4, 0}};
  const auto block = FirstBlock(rows, 8, true);
  EXPECT_EQ(block->kind, Kind::kTooLarge);
  EXPECT_EQ(block->row, 1U);
}

TEST(QuotaTree, UsageAboveALoweredLimitLeavesNothingAndIsCountedInTheShortfall) {
  const QuotaRow rows[] = {{24, 30}};
  const auto block = FirstBlock(rows, 16, true);
  EXPECT_EQ(block->left, 0);
  EXPECT_EQ(block->shortfall, 22);
}

TEST(QuotaTree, ALevelWithoutQuotaDoesNotHoldBackWhenAnotherHasOne) {
  const QuotaRow rows[] = {{24, 0}, {-1, 500}, {-1, 500}};
  EXPECT_FALSE(FirstBlock(rows, 24, true));
}

TEST(QuotaTree, NoQuotaAtAnyLevelIsTheSitesChoice) {
  const QuotaRow rows[] = {{-1, 0}, {-1, 0}};
  EXPECT_EQ(FirstBlock(rows, 1, true)->kind, Kind::kNoQuota);
  EXPECT_FALSE(FirstBlock(rows, 1, false));
  EXPECT_EQ(FirstBlock({}, 1, true)->kind, Kind::kNoQuota);
}

TEST(QuotaTree, AZeroLimitIsAQuota) {
  const QuotaRow rows[] = {{0, 0}};
  EXPECT_EQ(FirstBlock(rows, 1, false)->kind, Kind::kTooLarge);
  EXPECT_FALSE(FirstBlock(rows, 0, true));
}

TEST(QuotaTree, HugeNumbersDoNotWrapAround) {
  const QuotaRow rows[] = {{0, INT64_MAX}};
  EXPECT_EQ(FirstBlock(rows, INT64_MAX, true)->shortfall, INT64_MAX);
}

TEST(QuotaTreeProperty, WhatIsAllowedNeverExceedsALimitAndWhatIsRefusedWould) {
  std::mt19937_64 rng(7);
  for (int round = 0; round < 20'000; ++round) {
    std::vector<QuotaRow> rows(rng() % 4);
    for (QuotaRow& row : rows)
      row = {static_cast<int64_t>(rng() % 20) - 1, static_cast<int64_t>(rng() % 20)};
    const auto units = static_cast<int64_t>(rng() % 20) + 1;
    bool exceeds = false, limited = false;
    for (const QuotaRow& row : rows) {
      limited |= row.limit >= 0;
      exceeds |= row.limit >= 0 && row.used + units > row.limit;
    }
    EXPECT_EQ(FirstBlock(rows, units, true).has_value(), exceeds || !limited);
    EXPECT_EQ(FirstBlock(rows, units, false).has_value(), exceeds);
  }
}

TEST(QuotaTreeProperty, ReleasingTheShortfallUnblocksThatRow) {
  std::mt19937_64 rng(11);
  for (int round = 0; round < 5'000; ++round) {
    QuotaRow row{static_cast<int64_t>(rng() % 50) + 20, static_cast<int64_t>(rng() % 90)};
    const int64_t units = static_cast<int64_t>(rng() % 20) + 1;
    const auto block = FirstBlock({&row, 1}, units, true);
    if (!block) continue;
    row.used -= block->shortfall;
    EXPECT_FALSE(FirstBlock({&row, 1}, units, true));
    row.used += 1;
    EXPECT_TRUE(FirstBlock({&row, 1}, units, true)) << "the shortfall is the smallest that helps";
  }
}

}  // namespace
}  // namespace cox::policies
