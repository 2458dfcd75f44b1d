#include "run/recorder.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "cycle/decide.hpp"
#include "run/json.hpp"

namespace cox::run {

Result<std::unique_ptr<Recorder>> Recorder::Open(const std::string& file, uint64_t max_bytes) {
  const int fd = ::open(file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  struct stat status {};
  if (fd < 0 || ::fstat(fd, &status) != 0) {
    return Unavailable("recorder " + file + ": " + std::strerror(errno));
  }
  const auto used = static_cast<uint64_t>(status.st_size);
  return std::unique_ptr<Recorder>(new Recorder(fd, used < max_bytes ? max_bytes - used : 0));
}

Recorder::~Recorder() {
  ::close(fd_);
}

bool Recorder::Write(const std::string& line) {
  if (line.size() > room_) {
    room_ = 0;
    return false;
  }
  size_t done = 0;
  while (done < line.size()) {
    const ssize_t n = ::write(fd_, line.data() + done, line.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) {  // a line cut short must not run into the next one
      if (done > 0) {
        const ssize_t ended = ::write(fd_, "\n", 1);
        static_cast<void>(ended);
      }
      return false;
    }
    done += static_cast<size_t>(n);
  }
  room_ -= line.size();
  return true;
}

void Recorder::Record(const Config& config, const model::Snapshot& snapshot,
                      const model::Decision& decision) {
  if (room_ == 0) {
    ++dropped_;
    return;
  }
  if (recorded_site_ != snapshot.site) {
    const Json site = {{"kind", "site"}, {"file", config.site_file}, {"text", config.site_text}};
    if (!Write(Dump(site) + "\n")) {
      ++dropped_;
      return;
    }
    recorded_site_ = snapshot.site;
  }
  const Json cycle = {
      {"kind", "cycle"}, {"snapshot", ToJson(snapshot)}, {"decision", ToJson(decision)}};
  if (!Write(Dump(cycle) + "\n")) ++dropped_;
}

model::Decision DecideAgain(const Config& config, const model::Snapshot& snapshot) {
  model::Decision decision = cycle::Decide(snapshot, *config.plugins);
  config.plugins->EndCycle();
  return decision;
}

}  // namespace cox::run
