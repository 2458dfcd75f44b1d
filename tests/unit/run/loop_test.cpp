#include <future>
#include <thread>

#include "base/file.hpp"
#include "unit/run/rig.hpp"

namespace cox::run::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(Loop, DecidesNothingBeforeTheFirstBaseline) {
  Rig rig;
  rig.Restart(false);
  EXPECT_EQ(rig.view()->not_ready, "the batch system has not yet shown its state");
  const auto name = rig.Submit();
  ASSERT_TRUE(name) << name.error().text;
  rig.Settle();
  EXPECT_EQ(rig.view()->counters.cycles, 0u);
  EXPECT_EQ(rig.batch.Count(1), 0);
  rig.loop->sink().Post(rig.batch.All());
  rig.Settle();
  EXPECT_EQ(rig.Task().state, State::kRunning);
  EXPECT_EQ(rig.view()->not_ready, "");
}

TEST(Loop, TakesAJobFromSubmissionToItsEnd) {
  Rig rig;
  const auto name = rig.Submit();
  ASSERT_TRUE(name);
  EXPECT_THAT(*name, testing::MatchesRegex("llama-[a-z0-9]{8}"));
  rig.Settle();
  EXPECT_EQ(rig.Task().state, State::kRunning);
  EXPECT_EQ(rig.Task().owner, (model::Owner{"alice", "nlp", "lab"}));
  EXPECT_EQ(rig.Task().job->region, "north");
  EXPECT_EQ(rig.Used(), 16);
  EXPECT_EQ(rig.view()->ledger_error, "");
  rig.batch.Ends(rig.batch.OnlyId(), 0);
  rig.Turn();
  EXPECT_EQ(rig.Task().state, State::kSucceeded);
  EXPECT_EQ(rig.Used(), 0);
  EXPECT_THAT(rig.batch.notes[rig.batch.OnlyId()], HasSubstr("Succeeded"));
}

TEST(Loop, TheOwnersPersistentVariablesAreMergedAtSubmissionTheJobsWin) {
  Rig rig;
  ASSERT_TRUE(rig.Submit());
  std::map<std::string, std::string> env;
  for (const auto& var : rig.Task().job->env) env[var.name] = var.value;
  EXPECT_EQ(env["PROFILE"], "1");
  EXPECT_EQ(env["LR"], "1");
}

TEST(Loop, AWholeJobWaitsAndStartsWhenThereIsRoomWithoutAnybodyAsking) {
  Rig rig;
  ASSERT_TRUE(rig.Submit());
  ASSERT_TRUE(rig.Submit());
  rig.Settle();
  EXPECT_EQ(rig.Task(1).state, State::kPending);
  EXPECT_EQ(rig.Task(1).reason, "InsufficientQuota");
  EXPECT_THAT(rig.batch.notes[rig.Task(1).native_id], HasSubstr("InsufficientQuota"));
  rig.batch.Ends(rig.Task(0).native_id, 0);
  rig.Settle();
  EXPECT_EQ(rig.Task(1).state, State::kRunning);
}

TEST(Loop, AJobThatCouldNeverBeAdmittedIsRefusedAndLeavesNoTrace) {
  Rig rig;
  const auto refused = rig.Submit(JobText("", 3));
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().text, HasSubstr("quota check failed"));
  EXPECT_THAT(refused.error().text, HasSubstr("32"));
  EXPECT_THAT(refused.error().text, HasSubstr("16"));
  EXPECT_TRUE(rig.view()->tasks.empty());
  EXPECT_FALSE(rig.Submit(JobText(), "nobody"));
}

TEST(Loop, ANativeJobIsTakenOnceAndAnInvalidOneIsDiscardedWithTheReason) {
  Rig rig;
  const auto good = rig.batch.Native_("7");
  rig.loop->sink().Post(good);
  rig.loop->sink().Post(good);
  rig.Settle();
  ASSERT_EQ(rig.view()->tasks.size(), 1u);
  EXPECT_EQ(rig.Task().state, State::kRunning);
  auto bad = rig.batch.Native_("8");
  bad.rejected = "--cox-flavors: \"h999\" is not a flavor";
  rig.loop->sink().Post(bad);
  rig.Settle();
  EXPECT_EQ(rig.Task(1).reason, "Rejected");
  EXPECT_TRUE(rig.batch.natives["8"].discarded);
  EXPECT_THAT(rig.batch.notes["8"], HasSubstr("h999"));
}

TEST(Loop, AFailedJobIsTriedAgainAfterTheBackOffOnOtherNodes) {
  Rig rig;
  ASSERT_TRUE(rig.Submit(JobText("  failurePolicy: {enabled: true, maxRetries: 1}\n")));
  rig.Settle();
  rig.batch.Ends("100", 1);
  rig.Settle();
  EXPECT_EQ(rig.Task().state, State::kPending);
  EXPECT_EQ(rig.Task().attempt, 1);
  EXPECT_EQ(rig.Used(), 0);
  const TimePoint due = rig.Turn();
  EXPECT_EQ(due, rig.Task().not_before) << "the end of a back-off wakes the loop";
  rig.clock.now = due;
  rig.Settle();
  EXPECT_EQ(rig.Task().state, State::kRunning);
  rig.batch.Ends("100", 1);
  rig.Settle();
  EXPECT_EQ(rig.Task().state, State::kFailed);
  EXPECT_EQ(rig.Task().attempts.size(), 2u);
}

TEST(Loop, TheEndOfANodePolicyStartsTheBlockedJob) {
  Rig rig;
  spec::NodePolicy policy;
  policy.subject = "alice";
  policy.node_names = {"n1", "n2", "n3", "n4", "gone-node"};
  policy.expires_at = rig.clock.now + std::chrono::seconds(60);
  std::string id;
  rig.loop->Ask(CreatePolicyRequest{policy, [&](Result<std::string> r) { id = *r; }});
  rig.Turn();
  EXPECT_EQ(id, "np-1");
  ASSERT_TRUE(rig.Submit());
  rig.Settle();
  EXPECT_EQ(rig.Task().state, State::kPending);
  EXPECT_THAT(rig.Task().message, HasSubstr("quota check failed due to node blacklist: "));
  const TimePoint due = rig.Turn();
  EXPECT_LE(due, policy.expires_at);
  rig.Later(59);
  rig.Settle();
  EXPECT_EQ(rig.Task().state, State::kPending);
  EXPECT_EQ(rig.Turn(), policy.expires_at);
  rig.clock.now = policy.expires_at;
  rig.Settle();
  EXPECT_EQ(rig.Task().state, State::kRunning);
}

TEST(Loop, TheBlockThatAJobBringsAlongEndsByItself) {  // S81
  Rig rig;
  std::string text = JobText();
  text.replace(text.find("queue: train"), 12,
               "queue: train\n    nodePolicy: {nodeNames: [n1, n2, n3, n4], ttlSeconds: 60}");
  ASSERT_TRUE(rig.Submit(text));
  rig.Settle();
  EXPECT_EQ(rig.Task().state, State::kPending);
  EXPECT_THAT(rig.Task().message, HasSubstr("quota check failed due to node blacklist: "));
  rig.Later(60);
  rig.Settle();
  EXPECT_EQ(rig.Task().state, State::kRunning);
}

TEST(Loop, ADeletedPolicyStartsTheBlockedJobAndAnUnknownOneIsNotFound) {
  Rig rig;
  spec::NodePolicy policy;
  policy.subject = "alice";
  policy.node_names = {"n1", "n2", "n3", "n4"};
  policy.expires_at = rig.clock.now + std::chrono::hours(1);
  rig.loop->Ask(CreatePolicyRequest{policy, {}});
  ASSERT_TRUE(rig.Submit());
  rig.Settle();
  EXPECT_EQ(rig.Task().state, State::kPending);
  Result<std::string> answer = std::string();
  const auto keep = [&](Result<std::string> r) { answer = std::move(r); };
  rig.loop->Ask(DeletePolicyRequest{"np-7", keep});
  rig.Turn();
  EXPECT_EQ(answer.error().code, Code::kNotFound);
  rig.loop->Ask(DeletePolicyRequest{"np-1", keep});
  rig.Settle();
  EXPECT_TRUE(answer);
  EXPECT_EQ(rig.Task().state, State::kRunning);
}

TEST(Loop, AStoppedJobKeepsItsChargeUntilItIsGone) {
  Rig rig;
  ASSERT_TRUE(rig.Submit());
  rig.Settle();
  ASSERT_TRUE(rig.Stop(rig.Task()));
  EXPECT_EQ(rig.Task().state, State::kStopping);
  EXPECT_EQ(rig.Used(), 16);
  rig.Later(30);
  rig.Settle();
  EXPECT_EQ(rig.Task().state, State::kStopped) << "killed after its grace";
  EXPECT_EQ(rig.Used(), 0);
  const auto again = rig.Stop(rig.Task());
  EXPECT_EQ(again.error().code, Code::kFailedPrecondition);
}

TEST(Loop, APreemptedJobMakesRoomAndSaysByWhom) {
  Rig rig(SiteText(64));
  const std::string low = JobText("", 3);
  ASSERT_TRUE(rig.Submit(low));
  rig.Settle();
  std::string high = JobText();
  high.replace(high.find("queue: train"), 12, "queue: train\n    priorityClassName: high");
  ASSERT_TRUE(rig.Submit(high));
  rig.Settle();
  ASSERT_EQ(rig.Task(0).state, State::kPreempting) << rig.Task(1).message;
  EXPECT_EQ(rig.view()->counters.evictions, 1u);
  rig.batch.Ends("100", 143);
  rig.Settle();
  EXPECT_EQ(rig.Task(0).state, State::kFailed);
  EXPECT_EQ(rig.Task(0).message,
            "task " + rig.Task(0).name + " was preempted by another task " + rig.Task(1).name);
  EXPECT_THAT(rig.batch.notes["100"], HasSubstr("was preempted by another task"));
  EXPECT_EQ(rig.Task(1).state, State::kRunning);
}

TEST(Loop, TheEndOfAJobIsOneLineInTheLog) {
  Rig rig;
  const std::string file = rig.dir / "log";
  rig.log = std::make_unique<Log>("test", Log::Level::kInfo, file);
  rig.Restart();
  ASSERT_TRUE(rig.Submit());
  rig.Settle();
  rig.batch.Ends(rig.batch.OnlyId(), 3);
  rig.Settle();
  const auto log = ReadFile(file);
  ASSERT_TRUE(log) << log.error().text;
  EXPECT_THAT(*log, HasSubstr("job ended job=" + rig.Task().name +
                              " native=100 user=alice state=Failed reason=ExitCode attempts=1"));
  EXPECT_EQ(log->find("job ended"), log->rfind("job ended"));
}

TEST(Loop, WhatTheAdapterCannotGiveIsRefusedAtEveryDoor) {
  Rig rig;
  rig.unsupported = [](const spec::TrainingJob& job) { return job.ssh ? "spec.ssh: not yet" : ""; };
  ASSERT_TRUE(rig.Submit());
  const std::string text = JobText("  ssh: {enabled: true}\n");
  EXPECT_EQ(rig.Submit(text).error().text, "spec.ssh: not yet");
  Judgement judged;
  rig.loop->Ask(JudgeRequest{"alice", *Job(text), [&](Judgement j) { judged = std::move(j); }});
  rig.Turn();
  EXPECT_EQ(judged.refused, "spec.ssh: not yet");
}

TEST(Loop, AJobThatComesHeldIsNotPlacedUntilItIsLetGoAlsoAfterARestart) {
  Rig rig;
  model::Baseline all = rig.batch.All();
  all.submissions = {rig.batch.Native_("7")};
  rig.batch.natives.at("7").shown.held = "held by ann";
  all.attempts = rig.batch.All().attempts;
  rig.loop->sink().Post(all);
  rig.Settle();
  EXPECT_EQ(rig.Task().state, State::kPending);
  EXPECT_THAT(rig.batch.notes["7"], HasSubstr("Pending Held: held by ann"));
  EXPECT_EQ(rig.batch.natives.at("7").started.size(), 0u);
  rig.Restart();
  rig.Settle();
  EXPECT_EQ(rig.Task().held, "held by ann");
  rig.batch.natives.at("7").shown.held = "";
  rig.batch.Post("7");
  rig.Settle();
  EXPECT_EQ(rig.Task().state, State::kRunning);
}

TEST(Loop, AJobThatRanWhenItWasOfferedAgainIsTakenAsItIs) {
  Rig rig;
  model::Baseline all = rig.batch.All();
  all.submissions = {rig.batch.Native_("7")};
  model::Observation& shown = rig.batch.natives.at("7").shown;
  shown.phase = Phase::kRunning;
  shown.nodes = {"n2", "n3"};
  all.attempts = rig.batch.All().attempts;
  rig.loop->sink().Post(all);
  rig.Settle();
  EXPECT_EQ(rig.Task().state, State::kRunning);
  EXPECT_EQ(rig.batch.natives.at("7").started.size(), 0u) << "it was never placed a second time";
}

TEST(Loop, ReloadIsAllOrNothing) {
  Rig rig;
  ASSERT_TRUE(rig.Submit());
  ASSERT_TRUE(rig.Submit());
  rig.Settle();
  EXPECT_EQ(rig.Task(1).state, State::kPending);
  Result<std::string> answer = std::string();
  const auto keep = [&](Result<std::string> r) { answer = std::move(r); };

  rig.reload_text = SiteText(32, "  - {path: no_such_plugin.so}\n");
  rig.loop->Ask(ReloadRequest{keep});
  rig.Settle();
  EXPECT_THAT(answer.error().text, HasSubstr("no_such_plugin"));
  EXPECT_EQ(rig.Task(1).state, State::kPending);
  EXPECT_EQ(rig.view()->counters.reload_errors, 1u);
  EXPECT_THAT(rig.reloaded, IsEmpty());

  rig.reload_text = SiteText(32);
  rig.loop->Ask(ReloadRequest{keep});
  rig.Settle();
  EXPECT_TRUE(answer);
  EXPECT_EQ(rig.Task(1).state, State::kRunning) << "the larger quota is in effect at once";
  EXPECT_THAT(rig.reloaded, ElementsAre(rig.view()->site));
}

TEST(Loop, AReloadThatOnlyARestartCanBringIsRefusedWholeAndSaysSo) {
  Rig rig;
  Result<std::string> answer = std::string();
  const auto keep = [&](Result<std::string> r) { answer = std::move(r); };
  const auto before = rig.view()->site;
  rig.reload_text = SiteText(32);
  rig.reload_text.replace(rig.reload_text.find("region: north"), 13, "region: south");
  rig.loop->Ask(ReloadRequest{keep});
  rig.Settle();
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().text, "site.yaml: needs a restart: region; nothing was reloaded");
  EXPECT_EQ(answer.error().code, Code::kFailedPrecondition);
  EXPECT_EQ(rig.view()->site, before) << "not even the quota is taken over";
  EXPECT_EQ(rig.view()->counters.reload_errors, 1u);
  EXPECT_THAT(rig.reloaded, IsEmpty());
}

std::string ReloadError(const std::string& running, const std::string& fresh) {
  const std::string base = "region: r\ncluster: c\n";
  const auto checked = CheckReload(*spec::ParseSite(base + running, "a.yaml"),
                                   *spec::ParseSite(base + fresh, "b.yaml"));
  return checked ? "" : checked.error().text;
}

TEST(Reload, MayChangeAllButWhereTheDaemonIsAndWhatItHasOpen) {
  EXPECT_EQ(ReloadError("slurm: {}\n", "slurm: {stateDir: /var/lib/coxswain}\n"), "")
      << "a default that is written out is no change";
  EXPECT_EQ(ReloadError("slurm: {}\n", "slurm: {pluginDir: /opt/plugins}\norg: o\n"), "");
  EXPECT_EQ(ReloadError("slurm: {}\n", "slurm: {stateDir: /x, pollMs: 70, pluginDir: /y}\n"),
            "needs a restart: slurm.pollMs, slurm.stateDir; nothing was reloaded");
  EXPECT_EQ(ReloadError("slurm: {}\n", ""), "needs a restart: slurm; nothing was reloaded");
  EXPECT_EQ(ReloadError("", "slurm: {}\n"), "needs a restart: slurm; nothing was reloaded");
}

TEST(Loop, AReloadThatTakesAFlavorAwayLeavesTheJobWaitingWithAReason) {
  Rig rig;
  rig.Restart(false);
  ASSERT_TRUE(rig.Submit());
  rig.reload_text = SiteText();
  rig.reload_text.replace(rig.reload_text.find("name: h100.1g"), 13, "name: x100.1g");
  for (size_t at; (at = rig.reload_text.find("h100.1g")) != std::string::npos;) {
    rig.reload_text.replace(at, 7, "x100.1g");
  }
  Result<std::string> answer = std::string();
  rig.loop->Ask(ReloadRequest{[&](Result<std::string> r) { answer = std::move(r); }});
  rig.loop->sink().Post(rig.batch.All());
  rig.Settle();
  ASSERT_TRUE(answer) << answer.error().text;
  EXPECT_EQ(rig.Task().state, State::kPending);
  EXPECT_FALSE(rig.Task().message.empty());
}

TEST(Loop, JudgesASubmissionWithoutKeepingIt) {
  Rig rig;
  Judgement judged;
  const auto ask = [&](const std::string& text) {
    rig.loop->Ask(JudgeRequest{"alice", *Job(text), [&](Judgement j) { judged = std::move(j); }});
    rig.Turn();
  };
  ask(JobText());
  EXPECT_EQ(judged.refused, "");
  EXPECT_EQ(judged.who.tenant, "lab");
  ask(JobText("", 3));
  EXPECT_THAT(judged.refused, HasSubstr("quota check failed"));
  EXPECT_TRUE(rig.view()->tasks.empty());
}

TEST(Loop, AJobThatIdleCapacityCouldRunIsNotRefusedForItsQuota) {
  Rig rig;
  std::string text = JobText("", 3);
  text.replace(text.find("queue: train"), 12, "queue: train\n    idle: {accept: true}");
  EXPECT_TRUE(rig.Submit(text));
}

TEST(Loop, OldEndedTasksAreForgottenInMemoryAndOnDisk) {
  Rig rig;
  rig.keep_ended = 2;
  rig.Restart();
  for (int i = 0; i < 4; ++i) {
    ASSERT_TRUE(rig.Submit());
    rig.Settle();
    rig.batch.Ends(std::to_string(100 + i), 0);
    rig.Settle();
  }
  ASSERT_TRUE(rig.Submit());
  rig.Settle();
  ASSERT_EQ(rig.view()->tasks.size(), 3u);
  EXPECT_EQ(rig.Task(0).native_id, "102");
  EXPECT_EQ(rig.Task(2).state, State::kRunning);
  auto reader = StoreReader::Open(rig.store_file());
  ASSERT_TRUE(reader);
  EXPECT_TRUE((*reader)->Events(TaskId{1})->empty());
  EXPECT_FALSE((*reader)->Events(TaskId{3})->empty());
  rig.Restart();
  rig.Settle();
  EXPECT_EQ(rig.view()->tasks.size(), 3u);
  ASSERT_TRUE(rig.Submit());
  EXPECT_EQ(std::prev(rig.view()->tasks.end())->first, 6u) << "ids are never used again";
}

TEST(Loop, ItsTurnsAreCountedAndComeAtLeastEveryTenSeconds) {
  Rig rig;
  rig.Settle();
  const uint64_t before = rig.loop->turns();
  EXPECT_LE(rig.Turn(), rig.clock.now + std::chrono::seconds(10));
  EXPECT_EQ(rig.loop->turns(), before + 1);
}

TEST(Loop, RunTurnsOnItsOwnThreadUntilStopped) {
  Rig rig;
  SystemClock wall;
  LoopParts parts;
  parts.clock = &wall;
  auto store = Store::Open(rig.dir / "second.db");
  ASSERT_TRUE(store);
  parts.store = store->get();
  FakeBatch batch;
  parts.actuator = &batch;
  parts.config = SiteConfig();
  auto loop = Loop::Create(std::move(parts));
  ASSERT_TRUE(loop);
  batch.sink = &(*loop)->sink();
  (*loop)->sink().Post(batch.All());
  std::thread thread([&] { (*loop)->Run(); });

  const Judge judge([&](JudgeRequest r) { (*loop)->Ask(std::move(r)); });
  const Judgement judged = judge.Check("alice", *Job(), std::chrono::seconds(60));
  EXPECT_EQ(judged.refused, "");
  EXPECT_EQ(judged.unavailable, "");

  std::promise<Result<std::string>> named;
  model::Submission s;
  s.user = "alice";
  s.job = Job();
  (*loop)->Ask(SubmitRequest{s, [&](Result<std::string> r) { named.set_value(std::move(r)); }});
  EXPECT_TRUE(named.get_future().get());
  EXPECT_EQ((*loop)->published()->site->cluster, "auriga");
  (*loop)->Stop();
  thread.join();
  EXPECT_GT((*loop)->turns(), 0u);
}

TEST(Judge, SaysSoWhenNobodyAnswersInTime) {
  const Judge judge([](const JudgeRequest&) {});
  const Judgement judged = judge.Check("alice", *Job(), std::chrono::milliseconds(1));
  EXPECT_THAT(judged.unavailable, HasSubstr("did not answer within 1 ms"));
}

}  // namespace
}  // namespace cox::run::test
