#include "slurm/job_submit/config.hpp"

#include <gmock/gmock.h>

namespace cox::slurm {
namespace {

using std::chrono::milliseconds;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(SubmitConfig, ReadsKeysAsSlurmDoes) {
  const Config config = ParseConfig(
      "# ours\n  partitions = train, gold ,  # two\nSOCKET=/run/x.sock\r\nTimeoutMs=20\n\n", "c");
  EXPECT_THAT(config.errors, IsEmpty());
  EXPECT_THAT(config.partitions, ElementsAre("train", "gold"));
  EXPECT_EQ(config.socket, "/run/x.sock");
  EXPECT_EQ(config.timeout, milliseconds(20));
  EXPECT_EQ(config.PartitionList(), "train,gold");
}

TEST(SubmitConfig, HasDefaultsForAllButThePartitions) {
  const Config config = ParseConfig("Partitions=train", "c");
  EXPECT_EQ(config.socket, "/run/coxswain/submit.sock");
  EXPECT_EQ(config.timeout, milliseconds(100));
  EXPECT_THAT(ParseConfig("", "c").errors, ElementsAre(HasSubstr("c: Partitions= is missing")));
}

TEST(SubmitConfig, ManagesWholeNamesOnly) {
  const Config config = ParseConfig("Partitions=train", "c");
  EXPECT_TRUE(config.Manages("train"));
  EXPECT_FALSE(config.Manages("trai"));
  EXPECT_FALSE(config.Manages("train2"));
  EXPECT_FALSE(config.Manages(""));
}

TEST(SubmitConfig, KeepsThePartitionsWhenAnotherLineIsWrong) {
  for (const char* line : {"TimeoutMs=0", "TimeoutMs=1001", "TimeoutMs=9x", "TimeoutMs=",
                           "TimeoutMs", "Socket=run/x", "Socket", "Colour=red", "=", "train"}) {
    const Config config = ParseConfig(std::string("Partitions=train\n") + line, "c");
    EXPECT_THAT(config.errors, ElementsAre(HasSubstr(std::string("c:2: ") + line + ": "))) << line;
    EXPECT_TRUE(config.Manages("train"));
  }
}

TEST(SubmitConfig, AFileThatCannotBeReadIsAnError) {
  EXPECT_THAT(ReadConfig("/no/such/cox.conf").errors,
              ElementsAre(HasSubstr("/no/such/cox.conf: cannot be read")));
}

TEST(SubmitConfig, TheSampleFileIsGood) {
  const Config config = ReadConfig(COX_SOURCE_DIR "/configs/slurm/cox.conf");
  EXPECT_THAT(config.errors, IsEmpty());
  EXPECT_TRUE(config.Manages("train"));
}

}  // namespace
}  // namespace cox::slurm
