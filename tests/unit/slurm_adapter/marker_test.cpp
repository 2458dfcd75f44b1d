#include "slurm/marker.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace cox::slurm {
namespace {

using ::testing::ElementsAre;

TEST(Marker, ForeignCommentsAreNoMarks) {
  EXPECT_FALSE(ParseMarker(""));
  EXPECT_FALSE(ParseMarker("cox"));
  EXPECT_FALSE(ParseMarker("cox: "));
  EXPECT_FALSE(ParseMarker("hello cox:u-1"));
}

TEST(Marker, AWaitingJobBringsItsOptions) {
  const auto marker = ParseMarker(R"(cox:u-1 wait {"flavors":"h100.1g:8"})");
  ASSERT_TRUE(marker);
  EXPECT_EQ(marker->kind, Marker::Kind::kWait);
  EXPECT_EQ(marker->uuid, "u-1");
  EXPECT_EQ(marker->options, R"({"flavors":"h100.1g:8"})");
}

TEST(Marker, AnAcceptedCommentReadsBack) {
  const auto marker = ParseMarker(AcceptedComment("u-1", {"X_USER_NAME=ann"}, "{}"));
  ASSERT_TRUE(marker);
  EXPECT_EQ(marker->kind, Marker::Kind::kAccepted);
  EXPECT_THAT(marker->words, ElementsAre("X_USER_NAME=ann"));
  EXPECT_EQ(marker->options, "{}");
}

TEST(Marker, TheStateReplacesTheOptionsAndKeepsTheWords) {
  const auto marker = ParseMarker(AcceptedComment("u-1", {"X_USER_NAME=ann"}, "{}"));
  const std::string text =
      StateComment(*marker, 7, {"Pending", "InsufficientQuota", "8 of 8\nused"});
  EXPECT_EQ(text, "cox:u-1 X_USER_NAME=ann v7 Pending InsufficientQuota: 8 of 8 used {}");
  const auto again = ParseMarker(text);
  ASSERT_TRUE(again);
  EXPECT_EQ(again->kind, Marker::Kind::kTaken);
  EXPECT_THAT(again->words, ElementsAre("X_USER_NAME=ann"));
}

// The environment of a job that was accepted while the daemon was away is still missing.
TEST(Marker, WaitIsRememberedOverAnnotations) {
  const auto marker = ParseMarker("cox:u-1 wait {}");
  const auto again = ParseMarker(StateComment(*marker, 1, {"Pending", "Queued", ""}));
  ASSERT_TRUE(again);
  EXPECT_EQ(again->kind, Marker::Kind::kTaken);
  EXPECT_THAT(again->words, ElementsAre("wait"));
}

TEST(Marker, AHoldAtSubmissionIsTheUsersUntilTheJobIsTakenUp) {
  for (const char* text : {"cox:u-1 accepted held {}", "cox:u-1 X_REGION=r wait held {}"}) {
    const auto marker = ParseMarker(text);
    ASSERT_TRUE(marker);
    EXPECT_TRUE(marker->held);
    EXPECT_EQ(marker->options, "{}");
    EXPECT_EQ(StateComment(*marker, 1, {"Pending", "Held", ""}).find(" held"), std::string::npos);
  }
  EXPECT_FALSE(ParseMarker("cox:u-1 accepted {}")->held);
  EXPECT_EQ(ParseMarker("cox:u-1 created")->kind, Marker::Kind::kCreated);
}

TEST(Marker, TheOptionsStayReadableBehindTheState) {
  Marker marker = *ParseMarker(R"(cox:u-1 accepted {"label":"a b"})");
  for (uint64_t version = 1; version < 3; ++version) {
    const auto taken = ParseMarker(
        StateComment(marker, version, {"Pending", "NodePolicy", "node n1: reason {odd} {"}));
    ASSERT_TRUE(taken);
    EXPECT_EQ(taken->kind, Marker::Kind::kTaken);
    EXPECT_EQ(taken->options, R"({"label":"a\u0020b"})");
    marker = *taken;
  }
  EXPECT_EQ(ParseMarker(CreatedComment("u-1", "{}"))->options, "{}");
}

// S53: the text must be found as it is.
TEST(Marker, TheMessageStaysUnbroken) {
  const Marker marker{.uuid = "u-1", .words = {}, .options = ""};
  EXPECT_THAT(
      StateComment(marker, 3,
                   {"Preempting", "Preempted", "task a-1 was preempted by another task b-2"}),
      ::testing::HasSubstr("was preempted by another task"));
}

TEST(Marker, WordsHoldAnyValueWithoutBlanksOrBraces) {
  EXPECT_THAT(ContextWords({{"X_ORG_NAME", "A {b}%"}, {"LR", "1"}, {"X_REGION", ""}}),
              ElementsAre("X_ORG_NAME=A%20%7Bb}%25"));
}

TEST(Marker, AMessageCannotPassForAWord) {
  const auto marker = ParseMarker("cox:u-1 v3 Failed Rejected: X_USER_NAME=root");
  ASSERT_TRUE(marker);
  EXPECT_TRUE(marker->words.empty());
}

}  // namespace
}  // namespace cox::slurm
