#include "base/pattern.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace cox {
namespace {

TEST(Pattern, IsFoundAnywhereInTheText) {
  const auto pattern = Pattern::Compile("Loss [Nn]an$");
  ASSERT_TRUE(pattern);
  EXPECT_TRUE(pattern->IsIn("step 7: Loss nan"));
  EXPECT_FALSE(pattern->IsIn("Loss nano"));
}

TEST(Pattern, MatchesBytes) {
  const auto pattern = Pattern::Compile("caf\xc3\xa9.end");
  ASSERT_TRUE(pattern);
  EXPECT_TRUE(
      pattern->IsIn("caf\xc3\xa9\xff"
                    "end"));
}

TEST(Pattern, SaysWhatIsWrong) {
  EXPECT_EQ(Pattern::Compile("(a").error().text, "missing ): (a");
  EXPECT_THAT(Pattern::Compile("(a)\\1").error().text, testing::HasSubstr("\\1"));
  EXPECT_THAT(Pattern::Compile("((a{100}){100}){100}").error().text,
              testing::HasSubstr("repetition"));
}

}  // namespace
}  // namespace cox
