#include "slurm/log_tail.hpp"

#include <fcntl.h>
#include <sys/fsuid.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

namespace cox::slurm {
namespace {

// This thread's rights on files become those of the user; other threads keep theirs.
class FileRights {
 public:
  FileRights(uint32_t uid, uint32_t gid)
      : gid_(static_cast<gid_t>(setfsgid(gid))), uid_(static_cast<uid_t>(setfsuid(uid))) {}
  ~FileRights() {
    setfsuid(uid_);
    setfsgid(gid_);
  }
  FileRights(const FileRights&) = delete;
  FileRights& operator=(const FileRights&) = delete;

 private:
  gid_t gid_;
  uid_t uid_;
};

}  // namespace

std::string LogTail(const std::string& path, uint32_t uid, uint32_t gid) {
  if (!path.starts_with('/') || (geteuid() != 0 && geteuid() != uid)) return "";
  int file = -1;
  {
    const FileRights rights(uid, gid);
    file = open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  }
  if (file < 0) return "";
  std::string tail;
  struct stat status {};
  if (fstat(file, &status) == 0 && S_ISREG(status.st_mode)) {
    const auto length = std::min<int64_t>(status.st_size, kLogTailBytes);
    tail.resize(static_cast<size_t>(length));
    const ssize_t got = pread(file, tail.data(), tail.size(), status.st_size - length);
    tail.resize(got > 0 ? static_cast<size_t>(got) : 0);
  }
  close(file);
  return tail;
}

}  // namespace cox::slurm
