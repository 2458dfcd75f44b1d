#include "tools/cox/when.hpp"

#include <gtest/gtest.h>

namespace cox::cli {
namespace {

TEST(When, ShowsATimeInTheZoneOfTheJob) {  // S6
  EXPECT_EQ(When(FromSeconds(1'796'119'509), "Asia/Shanghai"), "2026-12-01 18:05:09 +08:00");
  EXPECT_EQ(When(FromSeconds(1'796'119'509), "UTC"), "2026-12-01 10:05:09 +00:00");
}

TEST(When, LeavesTheProcessesOwnZoneAsItWas) {
  setenv("TZ", "America/New_York", 1);
  When(FromSeconds(0), "Asia/Shanghai");
  EXPECT_EQ(When(FromSeconds(0)), "1969-12-31 19:00:00 -05:00");
  unsetenv("TZ");
}

TEST(Span, ShowsTheTwoUnitsThatMatter) {
  EXPECT_EQ(Span(std::chrono::milliseconds(1900)), "1s");
  EXPECT_EQ(Span(std::chrono::seconds(60)), "1m");
  EXPECT_EQ(Span(std::chrono::seconds(3599)), "59m59s");
  EXPECT_EQ(Span(std::chrono::minutes(200)), "3h20m");
  EXPECT_EQ(Span(std::chrono::hours(49)), "2d1h");
  EXPECT_EQ(Span(std::chrono::seconds(-5)), "0s");
}

}  // namespace
}  // namespace cox::cli
