#include "base/log.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

namespace cox {
namespace {

std::string Written(const std::string& file) {
  std::ifstream in(file);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

std::string FreshFile(const char* name) {
  const std::string file = testing::TempDir() + "cox_log_" + name;
  std::remove(file.c_str());
  return file;
}

}  // namespace

TEST(Log, WritesTheMessageAndItsFieldsOnOneLine) {
  const std::string file = FreshFile("fields");
  {
    Log log("test", Log::Level::kInfo, file);
    log.Info("placed", {{"job", 7}, {"nodes", "n1,n2"}, {"why", "two\nlines"}});
  }
  const std::string text = Written(file);
  EXPECT_NE(text.find("test info placed job=7 nodes=n1,n2 why=\"two\\nlines\"\n"), text.npos)
      << text;
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1);
}

TEST(Log, LeavesOutLinesBelowItsLevel) {
  const std::string file = FreshFile("level");
  {
    Log log("test", Log::Level::kWarn, file);
    log.Info("unseen");
    log.Warn("seen");
  }
  EXPECT_EQ(Written(file).find("unseen"), std::string::npos);
  EXPECT_NE(Written(file).find("seen"), std::string::npos);
}

TEST(Log, HoldsBackALineThatRepeatsTooOften) {
  const std::string file = FreshFile("repeat");
  {
    Log log("test", Log::Level::kInfo, file);
    for (int i = 0; i < 1000; ++i) log.Warn("slurmctld is away", {{"try", i}});
    log.Warn("another line");
  }
  const std::string text = Written(file);
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 11);
}

}  // namespace cox
