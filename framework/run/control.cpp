#include "run/control.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <map>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "base/account.hpp"
#include "run/json.hpp"
#include "run/verbs.hpp"

namespace cox::run {
namespace {

constexpr size_t kLongestRequest = 2 << 20;  // a specification is at most 1 MiB
constexpr size_t kMostClients = 256, kMostOfOneUser = 32;

class Fd {
 public:
  explicit Fd(int fd = -1) : fd_(fd) {}
  ~Fd() { Close(); }
  Fd(Fd&& o) noexcept : fd_(std::exchange(o.fd_, -1)) {}
  Fd& operator=(Fd&& o) noexcept {
    Close();
    fd_ = std::exchange(o.fd_, -1);
    return *this;
  }
  int get() const { return fd_; }

 private:
  void Close() {
    if (fd_ >= 0) ::close(fd_);
  }
  int fd_;
};

Result<sockaddr_un> Address(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) {
    return InvalidArgument("control socket " + path + ": longer than " +
                           std::to_string(sizeof address.sun_path - 1) + " bytes");
  }
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  return address;
}

Error Failed(const std::string& path, const char* doing) {
  return Unavailable("control socket " + path + ": " + doing + ": " + std::strerror(errno));
}

std::string Wire(const Result<Json>& result) {
  if (result) return Dump({{"ok", true}, {"result", *result}}) + "\n";
  const Error& error = result.error();
  return Dump({{"ok", false}, {"code", CodeName(error.code)}, {"text", error.text}}) + "\n";
}

Result<std::string> NameOfUid(uid_t uid) {
  auto account = FindAccount(uid);
  if (!account && account.error().code == Code::kNotFound) return Forbidden(account.error().text);
  if (!account) return account.error();
  return std::move(account->name);
}

// Answers on their way from the decision thread to the server's. Outlives both ends: a late answer
// to a server that is gone is dropped.
struct Mailbox {
  Mailbox() : bell(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}
  void Put(uint64_t client, std::string line) {
    {
      const std::lock_guard lock(mutex);
      letters.emplace_back(client, std::move(line));
    }
    Ring();
  }
  void Ring() {
    const uint64_t one = 1;
    const ssize_t n = ::write(bell.get(), &one, sizeof one);
    static_cast<void>(n);  // full = already ringing
  }
  std::vector<std::pair<uint64_t, std::string>> Take() {
    uint64_t count = 0;
    const ssize_t n = ::read(bell.get(), &count, sizeof count);
    static_cast<void>(n);
    const std::lock_guard lock(mutex);
    return std::exchange(letters, {});
  }

  Fd bell;
  std::mutex mutex;
  std::vector<std::pair<uint64_t, std::string>> letters;
};

struct Client {
  Fd fd;
  uid_t uid = 0;
  std::string in, out;
  uint64_t waits_for = 0;  // number of the write that is not answered yet; 0 = none
  TimePoint give_up{};
  bool closing = false;  // when all that he asked is answered

  // Why: who sends without reading, or more than he waits for, must cost no memory and no time of
  // others. He is heard again when he has taken his last answer.
  bool MayAsk() const { return out.empty() && waits_for == 0; }
  bool HasLine() const { return in.find('\n') != std::string::npos; }
  bool IsDone() const { return closing && MayAsk() && !HasLine(); }
};

}  // namespace

struct ControlServer::State {
  State(ControlOptions o, Loop& l) : options(std::move(o)), loop(l) {}

  ControlOptions options;
  Loop& loop;
  Fd listener;
  std::shared_ptr<Mailbox> mailbox = std::make_shared<Mailbox>();
  std::map<uint64_t, Client> clients;
  uint64_t next_client = 1, next_write = 1;
  std::map<uint64_t, uint64_t> writer;  // write -> client
  std::atomic<bool> stop = false;
  std::thread thread;

  Result<void> Bind() {
    auto address = Address(options.socket);
    if (!address) return address.error();
    const auto* name = reinterpret_cast<const sockaddr*>(&*address);
    Fd probe(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (::connect(probe.get(), name, sizeof *address) == 0) {
      return FailedPrecondition("control socket " + options.socket +
                                ": another daemon answers there; stop it first");
    }
    struct stat status {};
    if (::lstat(options.socket.c_str(), &status) == 0) {
      if (!S_ISSOCK(status.st_mode)) {
        return FailedPrecondition("control socket " + options.socket +
                                  ": exists and is no socket; remove it or name another path");
      }
      ::unlink(options.socket.c_str());
    }
    listener = Fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (listener.get() < 0 || ::bind(listener.get(), name, sizeof *address) != 0) {
      return Failed(options.socket, "bind");
    }
    if (::chmod(options.socket.c_str(), options.socket_mode) != 0) {
      return Failed(options.socket, "chmod");
    }
    if (::listen(listener.get(), 64) != 0) return Failed(options.socket, "listen");
    return {};
  }

  void Accept() {
    for (;;) {
      Fd fd(::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
      if (fd.get() < 0) return;
      ucred peer{};
      socklen_t size = sizeof peer;
      if (::getsockopt(fd.get(), SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) continue;
      if (const std::string full = NoRoomFor(peer.uid); !full.empty()) {
        const std::string line = Wire(Unavailable(full));
        static_cast<void>(::send(fd.get(), line.data(), line.size(), MSG_NOSIGNAL));
        continue;  // closes it
      }
      Client client;
      client.fd = std::move(fd);
      client.uid = peer.uid;
      clients.emplace(next_client++, std::move(client));
    }
  }

  std::string NoRoomFor(uid_t uid) const {
    if (clients.size() >= kMostClients) return "too many connections; try again";
    const auto of_user =
        std::ranges::count_if(clients, [&](const auto& c) { return c.second.uid == uid; });
    if (static_cast<size_t>(of_user) < kMostOfOneUser) return "";
    return "you have " + std::to_string(of_user) + " connections open; close some";
  }

  void Read(Client& client) {
    char buffer[65536];
    const ssize_t n = ::recv(client.fd.get(), buffer, sizeof buffer, 0);
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (n <= 0) {
      client.closing = true;  // he has said all that he will; answers still go out
      return;
    }
    client.in.append(buffer, static_cast<size_t>(n));
    client.in.erase(0, client.in.find_first_not_of('\n'));  // blank lines
    if (client.in.find('\n') <= kLongestRequest || client.in.size() <= kLongestRequest) return;
    client.out += Wire(InvalidArgument("a request is longer than 2 MiB"));
    client.in.clear();
    client.closing = true;
  }

  // One request: the next one has its turn after those of the others.
  void Handle(uint64_t id, Client& client) {
    if (!client.MayAsk() || !client.HasLine()) return;
    const size_t end = client.in.find('\n');
    const std::string line = client.in.substr(0, end);
    client.in.erase(0, client.in.find_first_not_of('\n', end));
    if (auto answer = AnswerTo(id, client, line)) client.out += Wire(*answer);
  }

  std::optional<Result<Json>> AnswerTo(uint64_t id, Client& client, const std::string& line) {
    auto request = ParseJson(line, "request");
    if (!request) return request.error();
    if (!request->is_object() || !request->contains("verb") || !(*request)["verb"].is_string()) {
      return InvalidArgument("request: must be an object with a \"verb\"");
    }
    const Json args = request->value("args", Json::object());
    if (!args.is_object()) return InvalidArgument("request: args must be an object");
    auto user = options.user_name ? options.user_name(client.uid) : NameOfUid(client.uid);
    if (!user) return user.error();

    const auto known = loop.published();
    const bool privileged = client.uid == 0 || client.uid == ::geteuid();
    const Peer peer = PeerOf(*known->site, *user, privileged);
    const uint64_t write = next_write++;
    const Desk desk{*known, peer, args, options, loop, options.clock->Now()};
    auto served =
        Serve((*request)["verb"].get<std::string>(), desk,
              [box = mailbox, write](const Result<Json>& r) { box->Put(write, Wire(r)); });
    if (auto* answer = std::get_if<Result<Json>>(&served)) return std::move(*answer);
    client.waits_for = write;
    client.give_up = options.clock->Now() + options.write_timeout;
    writer[write] = id;
    loop.Ask(std::get<Request>(std::move(served)));
    return std::nullopt;
  }

  void Deliver() {
    for (auto& [write, line] : mailbox->Take()) {
      const auto waits = writer.find(write);
      if (waits == writer.end()) continue;  // given up, or its client is gone
      const auto client = clients.find(waits->second);
      writer.erase(waits);
      if (client == clients.end()) continue;
      client->second.out += line;
      client->second.waits_for = 0;
    }
  }

  void GiveUp(Client& client) {
    if (client.waits_for == 0 || options.clock->Now() < client.give_up) return;
    writer.erase(client.waits_for);
    client.waits_for = 0;
    client.out += Wire(Unavailable(
        "the scheduler has not answered in time; what you asked for may still be carried out"));
  }

  bool Write(Client& client) {  // false: the client is gone
    while (!client.out.empty()) {
      const ssize_t n = ::send(client.fd.get(), client.out.data(), client.out.size(), MSG_NOSIGNAL);
      if (n < 0) return errno == EAGAIN || errno == EINTR;
      client.out.erase(0, static_cast<size_t>(n));
    }
    return !client.IsDone();
  }

  void Run() {
    while (!stop.load()) {
      std::vector<pollfd> polled = {{listener.get(), POLLIN, 0}, {mailbox->bell.get(), POLLIN, 0}};
      std::vector<uint64_t> order;
      int patience_ms = 500;
      for (const auto& [id, client] : clients) {
        const bool listens = client.MayAsk() && !client.HasLine() && !client.closing;
        const auto events =
            static_cast<short>((listens ? POLLIN : 0) | (client.out.empty() ? 0 : POLLOUT));
        // Without an event poll() would still report that he hung up, again and again.
        polled.push_back({events == 0 ? -1 : client.fd.get(), events, 0});
        order.push_back(id);
        if (client.MayAsk() && client.HasLine()) patience_ms = 0;
      }
      const int ready = ::poll(polled.data(), polled.size(), patience_ms);
      if (stop.load()) return;
      if (ready > 0 && (polled[0].revents & POLLIN) != 0) Accept();
      Deliver();
      for (size_t i = 0; i < order.size(); ++i) {
        const auto it = clients.find(order[i]);
        Client& client = it->second;
        const short revents = polled[i + 2].revents;
        if ((revents & (POLLIN | POLLHUP)) != 0 && client.MayAsk()) Read(client);
        GiveUp(client);
        Handle(order[i], client);
        const bool lost = (revents & (POLLERR | POLLNVAL)) != 0;
        if (lost || !Write(client)) clients.erase(it);
      }
    }
  }
};

ControlServer::ControlServer(std::unique_ptr<State> state) : state_(std::move(state)) {}

ControlServer::~ControlServer() {
  state_->stop.store(true);
  state_->mailbox->Ring();
  state_->thread.join();
  ::unlink(state_->options.socket.c_str());
}

Result<std::unique_ptr<ControlServer>> ControlServer::Start(ControlOptions options, Loop& loop) {
  auto state = std::make_unique<State>(std::move(options), loop);
  if (auto bound = state->Bind(); !bound) return bound.error();
  State* raw = state.get();
  state->thread = std::thread([raw] { raw->Run(); });
  return std::unique_ptr<ControlServer>(new ControlServer(std::move(state)));
}

Result<std::string> Call(const std::string& socket, std::string_view request, Duration timeout) {
  auto address = Address(socket);
  if (!address) return address.error();
  Fd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (::connect(fd.get(), reinterpret_cast<const sockaddr*>(&*address), sizeof *address) != 0) {
    return Failed(socket, "is the daemon running? connect");
  }
  const auto micros = std::chrono::duration_cast<std::chrono::microseconds>(timeout).count();
  const timeval wait{micros / 1'000'000, micros % 1'000'000};
  ::setsockopt(fd.get(), SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof wait);
  ::setsockopt(fd.get(), SOL_SOCKET, SO_SNDTIMEO, &wait, sizeof wait);

  std::string line(request);
  line += '\n';
  for (size_t done = 0; done < line.size();) {
    const ssize_t n = ::send(fd.get(), line.data() + done, line.size() - done, MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return Failed(socket, "send");
    done += static_cast<size_t>(n);
  }
  std::string reply;
  char buffer[65536];
  for (;;) {
    const ssize_t n = ::recv(fd.get(), buffer, sizeof buffer, 0);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return Failed(socket, "no answer");
    if (n == 0) return Unavailable("control socket " + socket + ": the daemon went away");
    reply.append(buffer, static_cast<size_t>(n));
    if (reply.back() == '\n') {
      reply.pop_back();
      return reply;
    }
  }
}

}  // namespace cox::run
