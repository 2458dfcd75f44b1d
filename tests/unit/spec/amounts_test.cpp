// Quantities and ranges of nodes.
#include <gmock/gmock.h>

#include "spec/node_range.hpp"
#include "spec/quantity.hpp"

namespace cox::spec {
namespace {

using testing::ElementsAre;

TEST(Quantity, ThousandthsAreExact) {
  EXPECT_EQ(*ParseMilli("16"), 16000);
  EXPECT_EQ(*ParseMilli("0"), 0);
  EXPECT_EQ(*ParseMilli("500m"), 500);
  EXPECT_EQ(*ParseMilli("0.5"), 500);
  EXPECT_EQ(*ParseMilli("0.125"), 125);
  EXPECT_EQ(*ParseMilli("1.05"), 1050);
  EXPECT_EQ(*ParseMilli("1000000"), 1'000'000'000);
}

TEST(Quantity, WhatIsNotExactIsRefused) {
  for (const char* text : {"", "m", ".", "1.", ".5", "-1", "-0.5", "1.-5", "+1", "1e3", "0.0005",
                           "1 ", "0x10", "1000001", "99999999999999999999", "1000000001m"}) {
    EXPECT_FALSE(ParseMilli(text)) << text;
  }
  EXPECT_EQ(ParseMilli("1e3").error(),
            InvalidArgument("\"1e3\" is not an amount; write 16, 0.5 or 500m, at most 1000000"));
}

TEST(Quantity, MemoryIsInMebibytes) {
  EXPECT_EQ(*ParseMebibytes("512Mi"), 512);
  EXPECT_EQ(*ParseMebibytes("64Gi"), 65536);
  EXPECT_EQ(*ParseMebibytes("2Ti"), 2097152);
  EXPECT_EQ(*ParseMebibytes("900Ti"), 943718400);
}

TEST(Quantity, MemoryWithoutAClearUnitIsRefused) {
  for (const char* text : {"", "64", "64G", "64GB", "Gi", "i", "-1Gi", "1.5Gi", "64Ki", "64 Gi",
                           "1000Ti", "9999999999999999999Gi"}) {
    EXPECT_FALSE(ParseMebibytes(text)) << text;
  }
  EXPECT_EQ(ParseMebibytes("64").error(),
            InvalidArgument("\"64\" is not an amount; write 512Mi, 64Gi or 2Ti, at most 900Ti"));
}

TEST(NodeRange, ANameIsItself) {
  EXPECT_THAT(*ExpandNodes("login"), ElementsAre("login"));
}

TEST(NodeRange, RangesAndSingleNumbersMix) {
  EXPECT_THAT(*ExpandNodes("n[1-3,7],login"), ElementsAre("n1", "n2", "n3", "n7", "login"));
}

TEST(NodeRange, ZerosInFrontAreKept) {
  EXPECT_THAT(*ExpandNodes("n[08-10]"), ElementsAre("n08", "n09", "n10"));
  EXPECT_THAT(*ExpandNodes("n[001,12]"), ElementsAre("n001", "n12"));
}

TEST(NodeRange, ASuffixIsKept) {
  EXPECT_THAT(*ExpandNodes("n[1-2].cluster"), ElementsAre("n1.cluster", "n2.cluster"));
}

TEST(NodeRange, BracketsMultiply) {
  EXPECT_THAT(*ExpandNodes("r[1-2]n[1-2]"), ElementsAre("r1n1", "r1n2", "r2n1", "r2n2"));
}

TEST(NodeRange, MalformedRangesAreRefused) {
  for (const char* text : {"", "n[", "n]", "n[]", "n[1", "n[1-]", "n[-1]", "n[3-1]", "n[a-b]",
                           "n[1-2", "n[[1]]", "n1,,n2", "n 1", "n[1--2]", "-n", "n[+1]"}) {
    EXPECT_FALSE(ExpandNodes(text)) << text;
  }
  EXPECT_EQ(ExpandNodes("n[3-1]").error(),
            InvalidArgument("\"n[3-1]\" is not a list of at most 65536 nodes such as n1 or "
                            "n[1-4,7]"));
}

TEST(NodeRange, HugeRangesAreRefusedWithoutBeingBuilt) {
  EXPECT_EQ(ExpandNodes("n[1-65536]")->size(), 65536u);
  for (const char* text : {"n[0-65536]", "n[0-999999999]", "n[0-9999999999999999999]",
                           "a[1-9999]b[1-9999]", "n[1-65536],m"}) {
    EXPECT_FALSE(ExpandNodes(text)) << text;
  }
}

}  // namespace
}  // namespace cox::spec
