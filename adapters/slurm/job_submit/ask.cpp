#include "ask.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string_view>

namespace cox::slurm {
namespace {

using std::chrono::steady_clock;

class Connection {
 public:
  Connection(const std::string& path, steady_clock::time_point deadline)
      : path_(path), deadline_(deadline) {}
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  ~Connection() {
    if (fd_ >= 0) close(fd_);
  }

  Result<void> Open() {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (path_.size() >= sizeof address.sun_path) return Failed("the path is too long for a socket");
    std::copy(path_.begin(), path_.end(), address.sun_path);
    fd_ = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    // A Unix socket connects at once or not at all: EAGAIN is a full backlog, nothing to wait for.
    if (fd_ < 0 || connect(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
      return Failed(std::strerror(errno));
    return {};
  }

  Result<void> Send(const std::string& text) {
    size_t sent = 0;
    while (sent < text.size()) {
      const ssize_t n = send(fd_, text.data() + sent, text.size() - sent, MSG_NOSIGNAL);
      if (n > 0) sent += static_cast<size_t>(n);
      if (n < 0 && errno != EINTR) {
        if (errno != EAGAIN) return Failed(std::strerror(errno));
        if (auto ready = Wait(POLLOUT); !ready) return ready;
      }
    }
    return {};
  }

  Result<std::string> ReceiveLine() {
    std::string line;
    char chunk[4096];
    while (line.size() <= kReplyMaxBytes) {
      if (auto ready = Wait(POLLIN); !ready) return ready.error();
      const ssize_t n = recv(fd_, chunk, sizeof chunk, 0);
      if (n == 0) return Failed("hung up before the end of its reply");
      if (n < 0 && errno != EINTR && errno != EAGAIN) return Failed(std::strerror(errno));
      if (n <= 0) continue;
      const size_t got = static_cast<size_t>(n);
      const size_t end = std::min(std::string_view(chunk, got).find('\n'), got);
      line.append(chunk, end);
      if (end < got) return line;
    }
    return Failed("replied with more than " + std::to_string(kReplyMaxBytes) + " bytes");
  }

 private:
  Error Failed(const std::string& why) const { return Unavailable(path_ + ": " + why); }

  Result<void> Wait(short events) {
    for (;;) {
      const auto left =
          std::chrono::ceil<std::chrono::milliseconds>(deadline_ - steady_clock::now());
      pollfd entry{fd_, events, 0};
      const int n = left.count() > 0 ? poll(&entry, 1, static_cast<int>(left.count())) : 0;
      if (n > 0) return {};
      if (n == 0) return Failed("no reply in time");
      if (errno != EINTR) return Failed(std::strerror(errno));
    }
  }

  const std::string& path_;
  steady_clock::time_point deadline_;
  int fd_ = -1;
};

}  // namespace

Result<std::string> Ask(const std::string& socket, const std::string& line,
                        std::chrono::milliseconds timeout) {
  Connection connection(socket, steady_clock::now() + timeout);
  if (auto opened = connection.Open(); !opened) return opened.error();
  if (auto sent = connection.Send(line + "\n"); !sent) return sent.error();
  return connection.ReceiveLine();
}

}  // namespace cox::slurm
