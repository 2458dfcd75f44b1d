#include "base/account.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

namespace cox {
namespace {

TEST(Account, IsFoundByNumberAndByName) {
  const auto root = FindAccount(uid_t{0});
  ASSERT_TRUE(root) << root.error().text;
  EXPECT_EQ(root->name, "root");
  const auto again = FindAccount(root->name);
  ASSERT_TRUE(again) << again.error().text;
  EXPECT_EQ(again->uid, 0U);
  EXPECT_EQ(again->gid, root->gid);
  EXPECT_EQ(again->home, root->home);
}

TEST(Account, OneThatDoesNotExistIsNotFoundAndNamed) {
  const auto by_name = FindAccount("no-such-user");
  ASSERT_FALSE(by_name);
  EXPECT_EQ(by_name.error(), NotFound("user no-such-user: this host has no such account"));
  const auto by_number = FindAccount(uid_t{4'000'000'001});
  ASSERT_FALSE(by_number);
  EXPECT_EQ(by_number.error(), NotFound("uid 4000000001: this host has no such account"));
}

}  // namespace
}  // namespace cox
