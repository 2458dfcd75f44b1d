#include "model/ledger.hpp"

#include <gtest/gtest.h>

#include <random>

namespace cox::model {
namespace {

LedgerKey Key(const std::string& subject, spec::QuotaLevel level = spec::QuotaLevel::kUser) {
  return {level, subject, spec::CapacityType::kReserved, "p", "gpu"};
}

spec::Quota Limit(const std::string& user, int64_t units) {
  return {spec::QuotaLevel::kUser, user, spec::CapacityType::kReserved, "p", "gpu", units};
}

TEST(Ledger, UsageIsTheSumOfLiveAllocations) {
  Ledger ledger;
  ledger.Allocate({1}, {{Key("a"), 4}, {Key("b"), 2}});
  ledger.Allocate({2}, {{Key("a"), 3}});
  EXPECT_EQ(ledger.rows().at(Key("a")).used, 7);
  EXPECT_TRUE(ledger.Check());
  ledger.Release({1});
  EXPECT_EQ(ledger.rows().at(Key("a")).used, 3);
  EXPECT_FALSE(ledger.rows().contains(Key("b"))) << "neither used nor limited";
  EXPECT_FALSE(ledger.Holds({1}));
}

TEST(Ledger, ASecondReleaseChangesNothing) {  // scenario D8, t15
  Ledger ledger;
  ledger.Allocate({1}, {{Key("a"), 8}});
  ledger.Allocate({2}, {{Key("a"), 8}});
  ledger.Release({1});
  ledger.Release({1});
  EXPECT_EQ(ledger.rows().at(Key("a")).used, 8);
}

TEST(Ledger, ASecondAllocationTakesThePlaceOfTheFirst) {
  Ledger ledger;
  ledger.Allocate({1}, {{Key("a"), 8}});
  ledger.Allocate({1}, {{Key("b"), 2}});
  EXPECT_FALSE(ledger.rows().contains(Key("a")));
  EXPECT_EQ(ledger.rows().at(Key("b")).used, 2);
}

TEST(Ledger, ATaskOnIdleHoldsNothingAndIsKnown) {
  Ledger ledger;
  ledger.Allocate({1}, {});
  EXPECT_TRUE(ledger.Holds({1}));
  EXPECT_TRUE(ledger.rows().empty());
}

TEST(Ledger, NewLimitsKeepTheUsage) {  // D8, t16: a reload
  Ledger ledger;
  ledger.SetLimits({Limit("a", 16), Limit("b", 4)});
  ledger.Allocate({1}, {{Key("a"), 8}});
  ledger.SetLimits({Limit("c", 2)});
  EXPECT_EQ(ledger.rows().at(Key("a")).used, 8);
  EXPECT_FALSE(ledger.rows().at(Key("a")).limit);
  EXPECT_FALSE(ledger.rows().contains(Key("b")));
  EXPECT_EQ(ledger.rows().at(Key("c")).limit, 2);
}

TEST(Ledger, RandomLivesNeverBreakIt) {
  std::mt19937 random(3);
  Ledger ledger;
  ledger.SetLimits({Limit("u0", 5)});
  for (int step = 0; step < 5'000; ++step) {
    const TaskId task{random() % 20};
    if (random() % 2 == 0) {
      std::vector<Charge> charges;
      for (unsigned i = 0; i < random() % 4; ++i) {
        charges.push_back(
            {Key("u" + std::to_string(random() % 5)), static_cast<int64_t>(random() % 9)});
      }
      ledger.Allocate(task, charges);
    } else {
      ledger.Release(task);
    }
    const auto checked = ledger.Check();
    ASSERT_TRUE(checked) << checked.error().text;
  }
  for (uint64_t t = 0; t < 20; ++t) ledger.Release({t});
  ASSERT_EQ(ledger.rows().size(), 1U) << "only what has a limit";
  EXPECT_EQ(ledger.rows().at(Key("u0")).used, 0);
}

}  // namespace
}  // namespace cox::model
