#include "base/time_zone.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace cox {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;

TEST(SystemTimeZones, AreTheZonesAndTheirAliasesInOrder) {
  const std::string folder = testing::TempDir() + "zones." + std::to_string(getpid());
  std::filesystem::create_directory(folder);
  std::ofstream(folder + "/tzdata.zi") << "# version 1\n"
                                          "R E 1977 1980 - Ap Su>=1 1u 1 S\n"
                                          "Z Europe/Berlin 0:53:28 - LMT 1893 Ap\n"
                                          "1 E CE%sT 1980\n"
                                          "Z Asia/Shanghai 8:5:43 - LMT 1901\n"
                                          "L Asia/Shanghai PRC\n";
  EXPECT_THAT(SystemTimeZones(folder), ElementsAre("Asia/Shanghai", "Europe/Berlin", "PRC"));
  std::filesystem::remove_all(folder);
}

TEST(SystemTimeZones, OfThisMachineHaveTheUsualOnes) {
  EXPECT_THAT(SystemTimeZones(), Contains("UTC"));
  EXPECT_THAT(SystemTimeZones(), Contains("Asia/Shanghai"));
}

TEST(SystemTimeZones, WithoutADatabaseAreNotKnown) {
  EXPECT_THAT(SystemTimeZones("/nonexistent"), IsEmpty());
}

}  // namespace
}  // namespace cox
