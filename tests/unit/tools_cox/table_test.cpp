#include "tools/cox/table.hpp"

#include <gtest/gtest.h>

namespace cox::cli {
namespace {

TEST(Table, AlignsAColumnToTheRightWhenToldTo) {
  Table table({"NAME", ">UNITS", "STATE"});
  table.Row({"llama", "128", "Running"});
  table.Row({"a", "8", ""});
  EXPECT_EQ(table.Text(false),
            "NAME   UNITS  STATE\n"
            "llama    128  Running\n"
            "a          8  -\n");
}

TEST(Table, CountsCodePointsNotBytes) {
  Table table({"WHO", "X"});
  table.Row({"Jürgen", "a"});
  table.Row({"Ann", "b"});
  EXPECT_EQ(table.Text(false),
            "WHO     X\n"
            "Jürgen  a\n"
            "Ann     b\n");
}

TEST(Table, KeepsARowOnOneLine) {
  Table table({"TEXT"});
  table.Row({"first\nsecond"});
  EXPECT_EQ(table.Text(false), "TEXT\nfirst second\n");
}

TEST(Table, LeavesOutAColumnInWhichNothingStands) {
  Table table({"A", "B", "C"});
  table.Row({"1", "", "3"});
  table.Row({"4", " "});
  EXPECT_EQ(table.Text(false), "A  C\n1  3\n4  -\n");
}

TEST(Table, ColoursOnlyWhenAsked) {
  Table table({"STATE"});
  table.Row({"Failed"}, Tint::kBad);
  EXPECT_EQ(table.Text(false), "STATE\nFailed\n");
  EXPECT_EQ(table.Text(true), "\033[2mSTATE\033[0m\n\033[31mFailed\033[0m\n");
}

TEST(Facts, LeaveOutWhatIsEmptyAndAlignTheRest) {
  EXPECT_EQ(Facts({{"Name", "a-1"}, {"Message", ""}, {"State", "Running"}}),
            "Name:   a-1\n"
            "State:  Running\n");
}

TEST(Facts, KeepTheLinesOfAValueUnderEachOther) {
  EXPECT_EQ(Facts({{"Name", "a-1"}, {"Command", "one\n  two\n"}}),
            "Name:     a-1\n"
            "Command:  one\n"
            "            two\n");
}

}  // namespace
}  // namespace cox::cli
