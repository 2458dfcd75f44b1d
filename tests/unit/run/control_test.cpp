// The control socket end to end: a real socket, the loop on its thread, users by injection.
#include "run/control.hpp"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <fstream>
#include <thread>

#include "run/json.hpp"
#include "unit/run/rig.hpp"

namespace cox::run::test {
namespace {

using testing::HasSubstr;

// The rig's loop turns on its own thread here, on the wall clock.
class Daemon {
 public:
  Daemon() {
    LoopParts parts;
    parts.clock = &clock_;
    auto store = Store::Open(file());
    EXPECT_TRUE(store);
    store_ = *std::move(store);
    parts.store = store_.get();
    parts.actuator = &batch;
    parts.config = SiteConfig();
    parts.reload = [this] { return MakeConfig(reload_text, "site.yaml", PluginOptions()); };
    auto loop = Loop::Create(std::move(parts));
    EXPECT_TRUE(loop);
    loop_ = *std::move(loop);
    batch.sink = &loop_->sink();
    loop_->sink().Post(batch.All());
    auto server = ControlServer::Start(Options(), *loop_);
    EXPECT_TRUE(server) << server.error().text;
    server_ = *std::move(server);
    thread_ = std::thread([this] { loop_->Run(); });
    while (!loop_->published()->not_ready.empty()) std::this_thread::yield();
  }
  ~Daemon() {
    StopLoop();
    server_.reset();
  }
  void StopLoop() {
    loop_->Stop();
    if (thread_.joinable()) thread_.join();
  }

  ControlOptions Options() {
    ControlOptions options;
    options.socket = socket();
    options.store_file = file();
    options.clock = &clock_;
    options.write_timeout = write_timeout;
    options.user_name = [this](uid_t) { return Result<std::string>(user); };
    options.log_path = [](const model::Task& task, int64_t attempt, const std::string& role) {
      return Result<std::string>(task.name + "." + std::to_string(attempt) + "." + role);
    };
    return options;
  }
  std::string socket() const { return dir / "c.sock"; }
  std::string file() const { return dir / "cox.db"; }
  Loop& loop() { return *loop_; }

  Json Ask(const std::string& verb, Json args = Json::object()) {
    const Json request = {{"verb", verb}, {"args", std::move(args)}};
    auto reply = Call(socket(), Dump(request), std::chrono::seconds(60));
    EXPECT_TRUE(reply) << reply.error().text;
    return reply ? *ParseJson(*reply, "reply") : Json();
  }
  Json Result_(const std::string& verb, Json args = Json::object()) {
    const Json reply = Ask(verb, std::move(args));
    EXPECT_TRUE(reply.value("ok", false)) << Dump(reply);
    return reply.value("result", Json::object());
  }
  std::string Code(const std::string& verb, Json args = Json::object()) {
    return Ask(verb, std::move(args)).value("code", "ok");
  }
  std::string Submit(const std::string& text = JobText()) {
    return Result_("submit", {{"text", text}}).value("name", "");
  }
  // Asks until the job shows the state; the loop is quick, but it is another thread.
  void Await(const std::string& name, const std::string& state) {
    for (int i = 0; i < 100000; ++i) {
      if (Result_("get", {{"job", name}}).value("state", "") == state) return;
      std::this_thread::yield();
    }
    ADD_FAILURE() << name << " never became " << state;
  }

  TempDir dir;
  FakeBatch batch;
  std::string user = "alice";
  std::string reload_text = SiteText(32);
  Duration write_timeout = std::chrono::seconds(60);

 private:
  SystemClock clock_;
  std::unique_ptr<Store> store_;
  std::unique_ptr<Loop> loop_;
  std::unique_ptr<ControlServer> server_;
  std::thread thread_;
};

// Who may do what is tested in authorize_test: the user of a test is the daemon's own, so every
// peer here is an administrator.
TEST(Control, TakesAJobAndTellsEverythingAboutIt) {
  Daemon d;
  const std::string name = d.Submit();
  d.Await(name, "Running");
  const Json job = d.Result_("describe", {{"job", name}});
  EXPECT_EQ(job["owner"]["user"], "alice");
  EXPECT_EQ(job["placement"]["replicas"].size(), 2u);
  EXPECT_EQ(job["events"][0]["reason"], "Queued");
  EXPECT_EQ(job["events"].back()["name"], name);
  EXPECT_EQ(job["explanation"]["candidates"].size(), 1u);
  EXPECT_EQ(d.Result_("get", {{"job", job["native_id"]}})["name"], name);
  EXPECT_EQ(d.Result_("get", {{"job", job["attempt_uuid"]}})["name"], name);
  EXPECT_EQ(d.Result_("list")["jobs"].size(), 1u);
  EXPECT_EQ(d.Result_("list", {{"states", {"Failed"}}})["jobs"].size(), 0u);
  EXPECT_EQ(d.Result_("list", {{"labels", {{"team", "x"}}}})["jobs"].size(), 0u);
  EXPECT_EQ(d.Result_("logs", {{"job", name}, {"role", "worker"}})["path"], name + ".0.worker");
  EXPECT_EQ(d.Ask("logs", {{"job", name}, {"role", "head"}})["text"],
            "\"head\" is no role of a PyTorchJob; it has master, worker");
  EXPECT_EQ(d.Ask("logs", {{"job", name}, {"attempt", 1}})["text"],
            name + " has no attempt 1; its last one is 0, and the first one is 0");
  EXPECT_EQ(d.Result_("quota")["rows"][0]["used"], 16);
  EXPECT_EQ(d.Result_("quota", {{"subject", "nobody"}})["rows"].size(), 0u);
  EXPECT_EQ(d.Result_("ledger_check")["consistent"], true);
  const Json pool = d.Result_("pool")["pools"][0];
  EXPECT_EQ(pool["flavors"][0]["total"], 32);
  EXPECT_EQ(pool["flavors"][0]["free"], 16);
  EXPECT_EQ(pool["flavors"][0]["fragments"], Json({{{"nodes", 2}, {"free_units", 8}}}));
  EXPECT_EQ(d.Result_("nodes")["nodes"][0]["free"]["gpu_milli"].get<int>() % 8000, 0);
  EXPECT_EQ(d.Result_("flavors")["flavors"][0]["name"], "h100.1g");
  EXPECT_EQ(d.Result_("plugins")["instances"].size(), 4u);
  EXPECT_GT(d.Result_("health")["turns"], 0);
  EXPECT_GE(d.Result_("events", {{"after", 0}})["events"].size(), 3u);
  EXPECT_EQ(d.Result_("stop", {{"job", name}})["name"], name);
  EXPECT_THAT(d.Result_("get", {{"job", name}}).value("state", ""), HasSubstr("Stop"));
}

TEST(Control, ThePoolTableSplitsIdleCapacityByStability) {  // S54, 2.4
  Daemon d;
  const Json flavor = d.Result_("pool")["pools"][0]["flavors"][0];
  ASSERT_EQ(flavor["idle"].size(), 3u);
  const Json& high = flavor["idle"][0];
  EXPECT_EQ(high["stability"], "high");
  EXPECT_EQ(high["free"], 16) << "16 of 32 are somebody's quota";
  EXPECT_EQ(high["fragments"], Json({{{"nodes", 2}, {"free_units", 8}}}));
  EXPECT_EQ(flavor["idle"][2]["stability"], "low");
  EXPECT_EQ(flavor["idle"][2]["free"], 32);
  EXPECT_EQ(flavor["idle"][2]["fragments"], flavor["fragments"]);
}

TEST(Control, ADryRunSaysWhatSubmitWouldAndKeepsNothing) {
  Daemon d;
  EXPECT_EQ(d.Result_("submit", {{"text", JobText()}, {"dry_run", true}})["accepted"], true);
  const Json refused = d.Result_("submit", {{"text", JobText("", 3)}, {"dry_run", true}});
  EXPECT_EQ(refused["accepted"], false);
  EXPECT_THAT(refused["refused"].get<std::string>(), HasSubstr("quota check failed"));
  const Json unreadable =
      d.Result_("judge", {{"text", "kind: [\n"}, {"file", "j.yaml"}, {"user", "bob"}});
  EXPECT_EQ(unreadable["accepted"], false);
  EXPECT_THAT(unreadable["refused"].get<std::string>(), HasSubstr("j.yaml"));
  EXPECT_EQ(d.Result_("list", {{"all", true}})["jobs"].size(), 0u);
  EXPECT_EQ(d.Code("submit", {{"text", JobText("", 3)}}), "InvalidArgument");
}

TEST(Control, SaysWhyAJobWaits) {
  Daemon d;
  d.Submit();
  const std::string second = d.Submit();
  for (int i = 0; i < 100000; ++i) {
    if (!d.Result_("explain", {{"job", second}})["blockers"].empty()) break;
    std::this_thread::yield();
  }
  const Json why = d.Result_("explain", {{"job", second}});
  EXPECT_EQ(why["blockers"][0]["code"], "InsufficientQuota");
  EXPECT_EQ(why["queue"]["rank_in_pool"], 0);
}

TEST(Control, NodePoliciesAreMadeListedAndDeleted) {
  Daemon d;
  const Json made = d.Result_("nodepolicy_create", {{"type", "NodeNotIn"},
                                                    {"node_names", {"n1", "n77"}},
                                                    {"ttl_seconds", 3600},
                                                    {"reason", "XID 79"}});
  EXPECT_EQ(made["id"], "np-1");
  ASSERT_EQ(made["warnings"].size(), 1u) << "an unknown node is accepted with a warning";
  EXPECT_THAT(made["warnings"][0]["text"].get<std::string>(), HasSubstr("n77"));
  EXPECT_EQ(d.Code("nodepolicy_create", {{"node_names", {"n1"}}, {"ttl_seconds", 59}}),
            "InvalidArgument");
  EXPECT_EQ(d.Code("nodepolicy_create", {{"node_names", {"n1"}}, {"ttl_seconds", 259201}}),
            "InvalidArgument");
  EXPECT_EQ(d.Result_("nodepolicy_list")["policies"][0]["reason"], "XID 79");
  EXPECT_EQ(d.Code("nodepolicy_delete", {{"id", "np-9"}}), "NotFound");
  d.Result_("nodepolicy_delete", {{"id", "np-1"}});
  EXPECT_EQ(d.Result_("nodepolicy_list")["policies"].size(), 0u);

  const std::string name = d.Submit();
  d.Await(name, "Running");
  d.Result_("nodepolicy_create", {{"job", name}, {"ttl_seconds", 60}});
  EXPECT_EQ(d.Result_("nodepolicy_list")["policies"][0]["node_names"].size(), 2u);
}

TEST(Control, ReloadAnswersWithTheTextOfTheError) {
  Daemon d;
  d.Result_("reload");
  d.reload_text = "pools: 3";
  const Json reply = d.Ask("reload");
  EXPECT_EQ(reply["ok"], false);
  EXPECT_THAT(reply["text"].get<std::string>(), HasSubstr("site.yaml"));
}

TEST(Control, BadRequestsGetAnAnswerAndTheConnectionStays) {
  Daemon d;
  for (const char* bad : {"nonsense", "[]", "{}", R"({"verb": 3})", R"({"verb": "fly"})",
                          R"({"verb": "list", "args": []})"}) {
    auto reply = Call(d.socket(), bad);
    ASSERT_TRUE(reply) << reply.error().text;
    EXPECT_THAT(*reply, HasSubstr("InvalidArgument")) << bad;
  }
  EXPECT_EQ(d.Code("get"), "InvalidArgument");
  EXPECT_EQ(d.Code("get", {{"job", "nope"}}), "NotFound");
  EXPECT_EQ(d.Code("flavors", {{"capacity_type", "free"}}), "InvalidArgument");
  auto huge = Call(d.socket(), std::string(3 << 20, 'x'));
  if (huge) {  // else: the server closed while we were still writing
    EXPECT_THAT(*huge, HasSubstr("longer than 2 MiB"));
  }
  EXPECT_EQ(d.Code("health"), "ok");
}

// A connection that says what it likes and reads when it likes.
class Stranger {
 public:
  explicit Stranger(const std::string& path) : fd_(::socket(AF_UNIX, SOCK_STREAM, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path.copy(address.sun_path, sizeof address.sun_path - 1);
    EXPECT_EQ(::connect(fd_, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  }
  ~Stranger() { ::close(fd_); }
  Stranger(const Stranger&) = delete;
  Stranger& operator=(const Stranger&) = delete;

  void Say(std::string_view text) const {
    while (!text.empty()) {
      const ssize_t n = ::send(fd_, text.data(), text.size(), MSG_NOSIGNAL);
      ASSERT_GT(n, 0);
      text.remove_prefix(static_cast<size_t>(n));
    }
  }
  void SayNoMore() const { ::shutdown(fd_, SHUT_WR); }
  std::string Line() {
    char buffer[4096];
    size_t end = 0;
    while ((end = heard_.find('\n')) == std::string::npos) {
      const ssize_t n = ::recv(fd_, buffer, sizeof buffer, 0);
      if (n <= 0) return "(gone)";
      heard_.append(buffer, static_cast<size_t>(n));
    }
    std::string line = heard_.substr(0, end);
    heard_.erase(0, end + 1);
    return line;
  }

 private:
  int fd_;
  std::string heard_;
};

TEST(Regress, ADeeplyNestedRequestIsRefusedAndTheDaemonLives) {
  Daemon d;
  std::string deep = R"({"verb": "list", "args": {"x": )";
  for (int i = 0; i < 300'000; ++i) deep += "[";
  for (int i = 0; i < 300'000; ++i) deep += "]";
  auto reply = Call(d.socket(), deep + "}}");
  ASSERT_TRUE(reply) << reply.error().text;
  EXPECT_THAT(*reply, HasSubstr("nested deeper than 128 levels"));
  EXPECT_EQ(d.Code("health"), "ok");
}

TEST(Regress, MegabytesOfBlankLinesKeepNobodyWaiting) {
  Daemon d;
  Stranger stranger(d.socket());
  stranger.Say(std::string(1 << 21, '\n'));
  stranger.Say("{\"verb\": \"health\"}\n");
  EXPECT_THAT(stranger.Line(), HasSubstr("turns"));
}

TEST(Regress, WhoAsksWithoutReadingWaitsAndIsAnsweredInOrder) {
  Daemon d;
  Stranger stranger(d.socket());
  constexpr int kAsked = 1500;
  std::string questions;
  for (int i = 0; i < kAsked; ++i) {
    questions += R"({"verb": "get", "args": {"job": "no)" + std::to_string(i) + "\"}}\n";
  }
  stranger.Say(questions);
  stranger.SayNoMore();
  EXPECT_EQ(d.Code("health"), "ok");
  for (int i = 0; i < kAsked; ++i) {
    EXPECT_THAT(stranger.Line(), HasSubstr("no job named no" + std::to_string(i) + "\""));
  }
  EXPECT_EQ(stranger.Line(), "(gone)");
}

TEST(Regress, OneUserCannotTakeAllConnections) {
  Daemon d;
  std::vector<std::unique_ptr<Stranger>> idle;
  for (int i = 0; i < 32; ++i) idle.push_back(std::make_unique<Stranger>(d.socket()));
  EXPECT_THAT(Stranger(d.socket()).Line(), HasSubstr("you have 32 connections open"));
  idle.clear();
  std::string code = "Unavailable";  // until the server has seen that they are gone
  while (code == "Unavailable") code = d.Code("health");
  EXPECT_EQ(code, "ok");
}

TEST(Regress, ANodePolicyOfCenturiesOrOfNoTypeIsRefused) {
  Daemon d;
  const Json nodes = {"n1"};
  // In nanoseconds, this is an hour more than 64 bits hold.
  for (const int64_t ttl : {int64_t{18446747673}, INT64_MAX, INT64_MIN}) {
    EXPECT_THAT(d.Ask("nodepolicy_create",
                      {{"type", "NodeIn"}, {"node_names", nodes}, {"ttl_seconds", ttl}})["text"]
                    .get<std::string>(),
                HasSubstr("is not between 1 minute and 72 hours"))
        << ttl;
  }
  EXPECT_THAT(d.Ask("nodepolicy_create",
                    {{"type", "Only"}, {"node_names", nodes}, {"ttl_seconds", 600}})["text"]
                  .get<std::string>(),
              HasSubstr("\"Only\" is neither NodeIn nor NodeNotIn"));
}

TEST(Control, AWriteThatIsNotAnsweredInTimeIsUnavailable) {
  Daemon d;
  d.StopLoop();
  ControlOptions options = d.Options();
  options.socket = d.dir / "quick.sock";
  options.write_timeout = std::chrono::nanoseconds(1);
  auto server = ControlServer::Start(options, d.loop());
  ASSERT_TRUE(server);
  auto reply = Call(options.socket, Dump({{"verb", "submit"}, {"args", {{"text", JobText()}}}}));
  ASSERT_TRUE(reply);
  EXPECT_THAT(*reply, HasSubstr("may still be carried out"));
}

TEST(Control, TheSocketIsTakenOverFromADeadDaemonNotFromALivingOne) {
  Daemon d;
  auto second = ControlServer::Start(d.Options(), d.loop());
  ASSERT_FALSE(second);
  EXPECT_THAT(second.error().text, HasSubstr("another daemon"));

  ControlOptions options = d.Options();
  options.socket = d.dir / "left.sock";
  {
    const int fd = ::socket(AF_UNIX, SOCK_STREAM, 0);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    options.socket.copy(address.sun_path, sizeof address.sun_path - 1);
    ASSERT_EQ(::bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    ::close(fd);
  }
  EXPECT_TRUE(ControlServer::Start(options, d.loop()));
  options.socket = d.dir / "file";
  std::ofstream(options.socket) << "precious";
  auto file = ControlServer::Start(options, d.loop());
  ASSERT_FALSE(file);
  EXPECT_THAT(file.error().text, HasSubstr("is no socket"));
  options.socket = "/" + std::string(200, 'x');
  EXPECT_FALSE(ControlServer::Start(options, d.loop()));
}

TEST(Control, NobodyThereIsAnErrorThatAsksTheRightQuestion) {
  auto reply = Call("/nonexistent/c.sock", "{}");
  ASSERT_FALSE(reply);
  EXPECT_THAT(reply.error().text, HasSubstr("is the daemon running?"));
}

}  // namespace
}  // namespace cox::run::test
