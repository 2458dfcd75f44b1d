#include "base/file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

namespace cox {
namespace {

using testing::HasSubstr;

TEST(ReadFile, GivesEveryByte) {
  const std::string path = testing::TempDir() + "bytes";
  const std::string bytes("a\0\r\n\xff", 5);
  std::ofstream(path, std::ios::binary) << bytes;
  const auto text = ReadFile(path);
  ASSERT_TRUE(text);
  EXPECT_EQ(*text, bytes);
}

TEST(ReadFile, NamesTheFileThatIsNotThere) {
  const auto text = ReadFile("/nowhere/site.yaml");
  ASSERT_FALSE(text);
  EXPECT_THAT(text.error().text, HasSubstr("/nowhere/site.yaml: No such file"));
}

TEST(Regress, AFolderIsNoFile) {
  const auto text = ReadFile(testing::TempDir());
  ASSERT_FALSE(text);
  EXPECT_THAT(text.error().text, HasSubstr("Is a directory"));
}

}  // namespace
}  // namespace cox
