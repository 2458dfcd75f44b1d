#include "slurm/log_tail.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>

namespace cox::slurm {
namespace {

class Directory {
 public:
  Directory() {
    char path[] = "/tmp/cox-log-tail-XXXXXX";
    path_ = mkdtemp(path);
  }
  ~Directory() {
    for (const char* name : {"log", "link", "fifo"}) unlink(File(name).c_str());
    rmdir(path_.c_str());
  }
  std::string File(const std::string& name) const { return path_ + "/" + name; }
  void Write(const std::string& text) const { std::ofstream(File("log")) << text; }

 private:
  std::string path_;
};

std::string Tail(const std::string& path, uint32_t uid = geteuid()) {
  return LogTail(path, uid, getegid());
}

TEST(LogTail, GivesTheLastBytes) {
  const Directory dir;
  dir.Write(std::string(10000, 'a') + "the end\n");
  const std::string tail = Tail(dir.File("log"));
  EXPECT_EQ(tail.size(), static_cast<size_t>(kLogTailBytes));
  EXPECT_TRUE(tail.ends_with("the end\n"));
  dir.Write("short");
  EXPECT_EQ(Tail(dir.File("log")), "short");
}

TEST(LogTail, FollowsNoLinkAndWaitsForNoFifo) {
  const Directory dir;
  dir.Write("secret");
  ASSERT_EQ(symlink(dir.File("log").c_str(), dir.File("link").c_str()), 0);
  ASSERT_EQ(mkfifo(dir.File("fifo").c_str(), 0600), 0);
  EXPECT_EQ(Tail(dir.File("link")), "");
  EXPECT_EQ(Tail(dir.File("fifo")), "");
  EXPECT_EQ(Tail(dir.File("nothing")), "");
  EXPECT_EQ(Tail("relative"), "");
  EXPECT_EQ(Tail("/dev/zero"), "");
}

TEST(LogTail, ReadsWithTheRightsOfTheOwner) {
  const Directory dir;
  dir.Write("mine alone");
  ASSERT_EQ(chmod(dir.File("log").c_str(), 0600), 0);
  EXPECT_EQ(Tail(dir.File("log"), 65534), "");  // as root by rights, else not tried at all
  EXPECT_EQ(Tail(dir.File("log")), "mine alone");
}

}  // namespace
}  // namespace cox::slurm
