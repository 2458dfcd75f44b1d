#include "slurm/submit_server.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>

namespace cox::slurm {
namespace {

class Client {
 public:
  explicit Client(const std::string& path) : file_(socket(AF_UNIX, SOCK_STREAM, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, path.c_str(), sizeof address.sun_path - 1);
    connected_ = connect(file_, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
  }
  ~Client() { close(file_); }
  bool connected() const { return connected_; }
  void Say(const std::string& text) const {
    EXPECT_EQ(send(file_, text.data(), text.size(), MSG_NOSIGNAL), ssize_t(text.size()));
  }
  std::string Hear() const {  // until the server closes
    std::string text;
    char buffer[256];
    for (ssize_t got; (got = recv(file_, buffer, sizeof buffer, 0)) > 0;)
      text.append(buffer, static_cast<size_t>(got));
    return text;
  }

 private:
  int file_;
  bool connected_ = false;
};

class Place {
 public:
  Place() {
    char path[] = "/tmp/cox-submit-XXXXXX";
    dir_ = mkdtemp(path);
  }
  ~Place() {
    unlink(socket().c_str());
    rmdir(dir_.c_str());
  }
  std::string socket() const { return dir_ + "/s"; }

 private:
  std::string dir_;
};

std::unique_ptr<SubmitServer> Serve(const std::string& socket, Log& log) {
  auto server = SubmitServer::Start(
      {socket, [](const std::string& line) { return "<" + line + ">\n"; }, &log});
  EXPECT_TRUE(server) << (server ? "" : server.error().text);
  return server ? std::move(*server) : nullptr;
}

TEST(SubmitServer, AnswersALineAndCloses) {
  const Place place;
  Log log("test", Log::Level::kError);
  const auto server = Serve(place.socket(), log);
  const Client client(place.socket());
  client.Say("hel");
  client.Say("lo\n");
  EXPECT_EQ(client.Hear(), "<hello>\n");
}

TEST(SubmitServer, ASilentPeerDelaysNobody) {
  const Place place;
  Log log("test", Log::Level::kError);
  const auto server = Serve(place.socket(), log);
  const Client silent(place.socket()), half(place.socket());
  half.Say("half a line");
  const Client client(place.socket());
  client.Say("x\n");
  EXPECT_EQ(client.Hear(), "<x>\n");
}

TEST(SubmitServer, ASocketOfADeadDaemonIsReplacedALivingOneIsNot) {
  const Place place;
  Log log("test", Log::Level::kError);
  {
    const int file = socket(AF_UNIX, SOCK_STREAM, 0);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, place.socket().c_str(), sizeof address.sun_path - 1);
    ASSERT_EQ(bind(file, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    close(file);
  }
  const auto server = Serve(place.socket(), log);
  struct stat status {};
  ASSERT_EQ(stat(place.socket().c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600U);
  EXPECT_FALSE(SubmitServer::Start({place.socket(), {}, &log}));
}

TEST(SubmitServer, WhatStandsAtItsPathIsNotTakenAwayUnlessItIsADeadDaemonsSocket) {
  const Place place;
  Log log("test", Log::Level::kError);
  const int file = open(place.socket().c_str(), O_CREAT | O_WRONLY, 0600);
  ASSERT_GE(file, 0);
  close(file);
  const auto server = SubmitServer::Start({place.socket(), {}, &log});
  ASSERT_FALSE(server);
  EXPECT_NE(server.error().text.find("exists and is no socket; remove it or name another path"),
            std::string::npos);
  EXPECT_EQ(access(place.socket().c_str(), F_OK), 0);
}

TEST(SubmitServer, APathThatIsTooLongIsNamed) {
  Log log("test", Log::Level::kError);
  EXPECT_FALSE(SubmitServer::Start({"/tmp/" + std::string(200, 'x'), {}, &log}));
}

TEST(SubmitServer, TheSocketIsGoneWithTheServer) {
  const Place place;
  Log log("test", Log::Level::kError);
  Serve(place.socket(), log).reset();
  EXPECT_FALSE(Client(place.socket()).connected());
}

}  // namespace
}  // namespace cox::slurm
