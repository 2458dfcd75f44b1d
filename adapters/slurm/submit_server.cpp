#include "slurm/submit_server.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <thread>
#include <vector>

namespace cox::slurm {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr int kThreads = 4;
constexpr size_t kLongestLine = 1 << 18;
constexpr auto kPatience = std::chrono::seconds(1);  // for one connection

class File {
 public:
  explicit File(int number) : number_(number) {}
  ~File() {
    if (number_ >= 0) close(number_);
  }
  File(File&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  int get() const { return number_; }

 private:
  int number_;
};

bool Ready(int file, short events, steady_clock::time_point deadline) {
  const auto left = std::chrono::ceil<milliseconds>(deadline - steady_clock::now());
  pollfd one{file, events, 0};
  return left.count() > 0 && poll(&one, 1, static_cast<int>(left.count())) == 1;
}

bool ReadLine(int file, steady_clock::time_point deadline, std::string& line) {
  char buffer[4096];
  while (line.size() < kLongestLine && Ready(file, POLLIN, deadline)) {
    const ssize_t got = recv(file, buffer, sizeof buffer, MSG_DONTWAIT);
    if (got <= 0) return false;
    line.append(buffer, static_cast<size_t>(got));
    if (const size_t end = line.find('\n'); end != line.npos) {
      line.resize(end);
      return true;
    }
  }
  return false;
}

void WriteAll(int file, steady_clock::time_point deadline, std::string_view text) {
  while (!text.empty() && Ready(file, POLLOUT, deadline)) {
    const ssize_t sent = send(file, text.data(), text.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent <= 0) return;
    text.remove_prefix(static_cast<size_t>(sent));
  }
}

bool MayAsk(int file) {
  ucred peer{};
  socklen_t size = sizeof peer;
  if (getsockopt(file, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) return false;
  return peer.uid == 0 || peer.uid == geteuid();
}

Error SocketFailed(const std::string& socket) {
  return Unavailable("socket " + socket + ": " + std::strerror(errno));
}

// A socket file that nobody listens on is a dead daemon's.
bool IsAlive(const sockaddr_un& address) {
  const File probe(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  return connect(probe.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
}

// Only what a daemon of ours has left behind may be taken away.
Result<void> MakeRoom(const std::string& path, const sockaddr_un& address) {
  if (IsAlive(address)) return Conflict("socket " + path + ": another cox-slurm listens there");
  struct stat status {};
  if (lstat(path.c_str(), &status) != 0) return {};
  if (!S_ISSOCK(status.st_mode))
    return FailedPrecondition("socket " + path +
                              ": exists and is no socket; remove it or name another path in "
                              "slurm.submitSocket and in cox.conf");
  if (status.st_uid != geteuid())
    return FailedPrecondition("socket " + path + ": belongs to uid " +
                              std::to_string(status.st_uid) +
                              ", not to this daemon; remove it or name another path in "
                              "slurm.submitSocket and in cox.conf");
  if (unlink(path.c_str()) != 0) return SocketFailed(path);
  return {};
}

Result<int> Listen(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path)
    return InvalidArgument("socket " + path + ": longer than " +
                           std::to_string(sizeof address.sun_path - 1) + " bytes");
  std::memcpy(address.sun_path, path.c_str(), path.size());
  if (auto made = MakeRoom(path, address); !made) return made.error();
  const int file = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (file < 0) return SocketFailed(path);
  const mode_t mask = umask(0177);
  const int bound = bind(file, reinterpret_cast<const sockaddr*>(&address), sizeof address);
  umask(mask);
  if (bound != 0 || listen(file, 64) != 0) {
    const Error error = SocketFailed(path);
    close(file);
    return error;
  }
  return file;
}

}  // namespace

struct SubmitServer::State {
  State(SubmitServerParts p, int listening)
      : parts(std::move(p)), listener(listening), stop(eventfd(0, EFD_CLOEXEC)) {}

  void Serve() {
    for (;;) {
      pollfd files[] = {{listener.get(), POLLIN, 0}, {stop.get(), POLLIN, 0}};
      if (poll(files, 2, -1) < 0 && errno != EINTR) return;
      if (files[1].revents != 0) return;
      const File connection(accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
      if (connection.get() >= 0) Talk(connection.get());
    }
  }

  void Talk(int file) {
    if (!MayAsk(file)) {
      parts.log->Warn("somebody who is neither root nor SlurmUser asked",
                      {{"socket", parts.socket}});
      return;
    }
    const auto deadline = steady_clock::now() + kPatience;
    std::string line;
    if (ReadLine(file, deadline, line)) WriteAll(file, deadline, parts.answer(line));
  }

  SubmitServerParts parts;
  File listener, stop;
  std::vector<std::thread> threads;
};

Result<std::unique_ptr<SubmitServer>> SubmitServer::Start(SubmitServerParts parts) {
  auto listening = Listen(parts.socket);
  if (!listening) return listening.error();
  auto state = std::make_unique<State>(std::move(parts), *listening);
  for (int i = 0; i < kThreads; ++i)
    state->threads.emplace_back([raw = state.get()] { raw->Serve(); });
  return std::unique_ptr<SubmitServer>(new SubmitServer(std::move(state)));
}

SubmitServer::SubmitServer(std::unique_ptr<State> state) : state_(std::move(state)) {}

SubmitServer::~SubmitServer() {
  const uint64_t one = 1;
  if (write(state_->stop.get(), &one, sizeof one) < 0) return;
  for (std::thread& thread : state_->threads) thread.join();
  unlink(state_->parts.socket.c_str());
}

}  // namespace cox::slurm
