// The real command line, over a real socket, with the real loop, store and plugins; only the batch
// system is made up. The test's thread is the decision thread: it turns while a call is answered.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <sstream>

#include "run/control.hpp"
#include "tools/cox/verbs.hpp"
#include "unit/run/rig.hpp"

namespace cox::cli {
namespace {

using run::test::JobText;
using run::test::Rig;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

class Daemon {
 public:
  Daemon() {
    setenv("TZ", "UTC", 1);
    run::ControlOptions options;
    options.socket = rig.dir / "cox.sock";
    options.store_file = rig.store_file();
    options.clock = &rig.clock;
    options.user_name = [this](uid_t) -> Result<std::string> { return user; };
    options.log_path = [](const model::Task& task, int64_t attempt, const std::string& role) {
      return Result<std::string>("/logs/" + task.native_id + "." + std::to_string(attempt) + role);
    };
    socket_ = options.socket;
    auto server = run::ControlServer::Start(std::move(options), *rig.loop);
    EXPECT_TRUE(server) << (server ? "" : server.error().text);
    if (server) server_ = *std::move(server);
    rig.Settle();
  }

  // `cox words...` as `user`; what it printed.
  std::string Cox(std::vector<std::string> words, int expected = kOk,
                  const std::string& stdin_text = "") {
    std::ostringstream out, err;
    Context context;
    context.out = &out;
    context.err = &err;
    context.clock = &rig.clock;
    context.call = [this](const std::string& socket, const std::string& request) {
      auto reply = std::async(std::launch::async,
                              [&] { return run::Call(socket, request, std::chrono::seconds(10)); });
      while (reply.wait_for(std::chrono::milliseconds(1)) != std::future_status::ready) rig.Turn();
      return reply.get();
    };
    context.read_file = [&](const std::string&) { return Result<std::string>(stdin_text); };
    context.wait = [this](Duration) { rig.Settle(); };
    words.insert(words.end(), {"--socket", socket_});
    EXPECT_EQ(cli::Run(std::move(context), words), expected) << out.str() << err.str();
    rig.Settle();
    return expected == kOk ? out.str() : err.str();
  }
  std::string Submit(const std::string& text = JobText()) {
    const std::string name = Cox({"submit", "-"}, kOk, text);
    return name.substr(0, name.find('\n'));
  }

  Rig rig;
  std::string user = "alice";

 private:
  std::string socket_;
  std::unique_ptr<run::ControlServer> server_;
};

TEST(EndToEnd, AJobFromSubmissionToItsEnd) {
  Daemon daemon;
  const std::string name = daemon.Submit();
  EXPECT_THAT(name, testing::MatchesRegex("llama-[a-z0-9]{8}"));
  EXPECT_THAT(daemon.Cox({"list"}), ContainsRegex(name + " .*alice .*Running .*h100.1g x 16"));
  EXPECT_THAT(daemon.Cox({"quota"}),
              ContainsRegex("tenant +lab +reserved +train +h100.1g +16 +16 +0"));
  EXPECT_EQ(daemon.Cox({"ledger", "check"}).substr(0, 10), "consistent");
  daemon.rig.batch.Ends(daemon.rig.batch.OnlyId(), 0);
  daemon.rig.Settle();
  EXPECT_THAT(daemon.Cox({"describe", name}), HasSubstr("Succeeded"));
  EXPECT_THAT(daemon.Cox({"events", name}), HasSubstr("Admitted"));
}

TEST(EndToEnd, ATaskIsKnownByNameNativeIdUuidAndTheirStart) {
  Daemon daemon;
  const std::string name = daemon.Submit();
  const auto task = daemon.rig.Task();
  for (const std::string& word : {name, task.native_id, task.root_uuid, name.substr(0, 8),
                                  task.root_uuid.substr(0, 8) + "-"}) {
    EXPECT_THAT(daemon.Cox({"get", word}), HasSubstr(name)) << word;
  }
  daemon.Cox({"get", "nobody-knows-it"}, kNoSuch);
  daemon.Cox({"get", "10"}, kNoSuch);  // a number is an id, never the start of one
  daemon.Submit();
  EXPECT_THAT(daemon.Cox({"get", "llama-"}, kFailed), HasSubstr("is the start of 2 jobs"));
}

TEST(EndToEnd, WhatWaitsIsExplained) {  // S47
  Daemon daemon;
  const std::string first = daemon.Submit();
  const std::string second = daemon.Submit();
  EXPECT_THAT(daemon.Cox({"explain", first}),
              HasSubstr(first + " waits for nothing: it is Running"));
  const std::string why = daemon.Cox({"explain", second});
  EXPECT_THAT(why,
              ContainsRegex("InsufficientQuota \\(choice 1: h100.1g x 8 reserved in train\\)"));
  EXPECT_THAT(why, ContainsRegex("queue: number 1 in the pool"));
  const std::string all = daemon.Cox({"describe", second});
  EXPECT_THAT(all, HasSubstr("Waits for:"));
  EXPECT_THAT(all, HasSubstr("Reason:     InsufficientQuota"));
}

TEST(EndToEnd, TooMuchIsRefusedWithTheNumbers) {  // S41, D2
  Daemon daemon;
  const std::string error = daemon.Cox({"submit", "-"}, kFailed, JobText("", 3));
  EXPECT_THAT(error, HasSubstr("32"));
  EXPECT_THAT(error, HasSubstr("16"));
  EXPECT_EQ(daemon.Cox({"list", "--all"}), "no jobs\n");
}

TEST(EndToEnd, ADryRunLeavesNothingBehind) {  // S8
  Daemon daemon;
  EXPECT_THAT(daemon.Cox({"submit", "-", "--dry-run"}, kOk, JobText()), HasSubstr("accepted"));
  EXPECT_THAT(daemon.Cox({"submit", "-", "--dry-run"}, kFailed, JobText("", 3)), HasSubstr("32"));
  EXPECT_EQ(daemon.Cox({"list", "--all"}), "no jobs\n");
}

// The test's process is the daemon's own user, who is an administrator under any name; what others
// may not do is run/authorize's to test.
TEST(EndToEnd, AHiddenValueIsMaskedEvenForAnAdministrator) {  // S13
  Daemon daemon;
  const std::string name = daemon.Submit();
  EXPECT_THAT(daemon.Cox({"get", name}), HasSubstr("s3cret"));
  daemon.user = "root";
  EXPECT_THAT(daemon.Cox({"get", name}), Not(HasSubstr("s3cret")));
  EXPECT_THAT(daemon.Cox({"describe", name}), HasSubstr("TOKEN=****"));
}

TEST(EndToEnd, StoppingGivesEverythingBack) {
  Daemon daemon;
  const std::string name = daemon.Submit();
  daemon.Cox({"stop", name});
  daemon.rig.batch.Ends(daemon.rig.batch.OnlyId(), 143);
  daemon.rig.Settle();
  EXPECT_THAT(daemon.Cox({"describe", name}), HasSubstr("Stopped by:  alice"));
  EXPECT_EQ(daemon.rig.Used(), 0);
}

TEST(EndToEnd, ANodePolicyBlocksIsListedAndDeleted) {  // S72, S77, S80
  Daemon daemon;
  const std::string id =
      daemon.Cox({"nodepolicy", "create", "--nodes", "n1,n2,n3,n4", "--ttl", "60s"});
  EXPECT_THAT(daemon.Cox({"nodepolicy", "list"}), HasSubstr("n1,n2,n3,n4"));
  const std::string name = daemon.Submit();
  EXPECT_THAT(daemon.Cox({"explain", name}),
              HasSubstr("quota check failed due to node blacklist: n1"));
  daemon.Cox({"nodepolicy", "delete", id.substr(0, id.find('\n'))});
  EXPECT_THAT(daemon.Cox({"list"}), HasSubstr("Running"));
  EXPECT_THAT(daemon.Cox({"nodepolicy", "create", "--nodes", "n1", "--ttl", "59s"}, kFailed),
              HasSubstr("S76"));
}

TEST(EndToEnd, WhatThereIsCanBeSeen) {  // S36, S42
  Daemon daemon;
  EXPECT_THAT(daemon.Cox({"pool"}), ContainsRegex("not reserved"));
  EXPECT_THAT(daemon.Cox({"pool"}), ContainsRegex("h100.1g +32 +0 +32 +0 +4 x 8"));
  EXPECT_THAT(daemon.Cox({"flavors"}), ContainsRegex("h100.1g +GPU +h100 +1 +4 +16Gi"));
  EXPECT_THAT(daemon.Cox({"nodes"}), ContainsRegex("n1 +ready +h100 +8 +8"));
  EXPECT_THAT(daemon.Cox({"plugin", "ls"}), ContainsRegex("quota_tree .* ok +quota"));
  EXPECT_EQ(daemon.Cox({"health"}), "deciding\n");
}

TEST(EndToEnd, LogsAreWhereTheAdapterKeepsThem) {
  Daemon daemon;
  const std::string name = daemon.Submit();
  EXPECT_THAT(daemon.Cox({"logs", name, "-o", "json"}), HasSubstr("/logs/100.0"));
}

TEST(EndToEnd, AReloadIsAllOrNothing) {
  Daemon daemon;
  daemon.user = "root";
  daemon.rig.reload_text = "region: [";
  EXPECT_THAT(daemon.Cox({"reload"}, kFailed), HasSubstr("site.yaml"));
  daemon.rig.reload_text = run::test::SiteText(32);
  daemon.Cox({"reload"});
  EXPECT_THAT(daemon.Cox({"quota"}), ContainsRegex("h100.1g +32 +0 +32"));
}

TEST(EndToEnd, NobodyListens) {
  std::ostringstream out, err;
  Context context;
  context.out = &out;
  context.err = &err;
  const SystemClock clock;
  context.clock = &clock;
  context.call = [](const std::string& socket, const std::string& request) {
    return run::Call(socket, request, std::chrono::seconds(1));
  };
  EXPECT_EQ(cli::Run(std::move(context), {"pool", "--socket", "/nonexistent/cox.sock"}), kNoDaemon);
  EXPECT_THAT(err.str(), HasSubstr("/nonexistent/cox.sock"));
}

}  // namespace
}  // namespace cox::cli
