#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/tools_cox/fake_daemon.hpp"
#include "unit/tools_cox/task_json.hpp"

namespace cox::cli {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr const char* kJobFile = R"(
metadata: {generateName: a-}
spec:
  type: PyTorchJob
  command: hostname
  scheduling: {queue: train, flavors: [{name: h100.1g, count: 8}, {name: a100.1g, count: 8}]}
  replicas: {workers: 3}
)";

TEST(Describe, ShowsAWaitingTaskWithEverythingThatExplainsIt) {  // S6, S13, S47, S112
  FakeDaemon daemon;
  daemon.Answers("describe", kPendingTask);
  EXPECT_EQ(daemon.Cox({"describe", "llama"}), kOk);
  EXPECT_EQ(daemon.out.str(), R"(Name:       llama-k3v9x2ab
Id:         41
Task:       6ba7b810-9dad-11d1-80b4-00c04fd430c8
Owner:      ann (project nlp, tenant lab)
Labels:     team=nlp, stage=sft
State:      Pending for 1m
Reason:     InsufficientQuota
Message:    user ann uses 6 of 8 h100.1g, the job needs 8
Queue:      number 4 in the pool (ahead: 1 high, 2 medium, 0 low), number 1 of yours
Type:       PyTorchJob
Capacity:   reserved
Flavor:     h100.1g:8 a100.1g:8
Submitted:  2026-12-01 18:00:00 +08:00
Attempt:    1
Command:    train

Waits for:
  InsufficientQuota (choice 1: h100.1g x 8 reserved in train)
    user ann uses 6 of 8 h100.1g, the job needs 8
  NodePolicy (choice 2: a100.1g x 8 reserved in train)
    quota check failed due to node blacklist: n3,n4
    policy: np-3
    ends by itself: 2026-12-01 18:06:00 +08:00
  queue: number 4 in the pool (ahead: 1 high, 2 medium, 0 low), number 1 of yours
  earliest change by a timer: 2026-12-01 18:06:00 +08:00 (in 51s)

Attempts:
  ATTEMPT  ENDED                       NODES  EXIT  CLASS  REASON    ACTION     WHAT HAPPENED
        0  2026-12-01 18:04:00 +08:00  n1,n2     1  App    ExitCode  Retry 1/3  rank 1 on n2 ended with 1

Env:
  LR=1e-4
  TOKEN=****

Events:
  AT                          ATTEMPT     REASON          MESSAGE
  2026-12-01 18:00:00 +08:00        0     Queued          -
  2026-12-01 18:04:09 +08:00        1  !  RetryScheduled  1/3
)");
}

TEST(Describe, MasksAHiddenValueEvenWhenTheDaemonSendsIt) {  // S13
  FakeDaemon daemon;
  daemon.Answers("describe", R"({"job": {"spec": {"env": [
      {"name": "TOKEN", "value": "secret", "hidden": true}]}}})");
  daemon.Cox({"describe", "x"});
  EXPECT_THAT(daemon.out.str(), HasSubstr("TOKEN=****"));
  EXPECT_THAT(daemon.out.str(), Not(HasSubstr("secret")));
}

TEST(List, ShowsWhereEachTaskRunsAndOnWhat) {
  FakeDaemon daemon;
  daemon.Answers("list", R"({"jobs": [)" + std::string(kPendingTask) + "," + kRunningTask + "]}");
  EXPECT_EQ(daemon.Cox({"list"}), kOk);
  EXPECT_EQ(daemon.out.str(),
            "NAME            ID  USER  STATE    REASON             TYPE      FLAVOR               "
            "NODES  AGE\n"
            "llama-k3v9x2ab  41  ann   Pending  InsufficientQuota  reserved  h100.1g:8 a100.1g:8  "
            "-      5m9s\n"
            "bert-aaaa1111   40  bob   Running  Started            idle      h100.1g x 16         "
            "n2,n1  5m9s\n");
}

TEST(List, SaysSoWhenThereIsNothing) {
  FakeDaemon daemon;
  daemon.Answers("list", R"({"jobs": []})");
  EXPECT_EQ(daemon.Cox({"list"}), kOk);
  EXPECT_EQ(daemon.out.str(), "no jobs\n");
}

TEST(List, AsksForLabelsAndStates) {  // S7, S116
  FakeDaemon daemon;
  daemon.Answers("list", R"({"jobs": []})");
  daemon.Cox({"list", "-l", "a=1,b=2", "--mine", "--state", "Failed"});
  EXPECT_EQ(daemon.requests.at(0),
            R"({"verb":"list","args":{"mine":true,"all":false,"states":["Failed"],)"
            R"("labels":{"a":"1","b":"2"}}})");
}

TEST(Explain, SaysSoWhenNothingIsInTheWay) {
  FakeDaemon daemon;
  daemon.Answers("explain", R"({"blockers": [], "earliest": null})");
  EXPECT_EQ(daemon.Cox({"explain", "x"}), kOk);
  EXPECT_EQ(daemon.out.str(), "nothing is known to keep it from starting\n");
}

TEST(Explain, OfATaskThatDoesNotWaitSaysWhatItDoesInstead) {
  FakeDaemon daemon;
  daemon
      .Answers("explain", R"({"blockers": [], "earliest": null, "name": "a-1",
                               "state": "Running", "reason": "Started", "message": "",
                               "state_since": 1796119209000000000,
                               "placement": {"replicas": [{"node": "n1"}, {"node": "n2"}]}})")
      .Answers("explain", R"({"blockers": [], "earliest": null, "name": "a-1", "placement": null,
                              "state": "Failed", "reason": "CommandNotFound",
                              "message": "exit 127", "state_since": 1796119209000000000})");
  EXPECT_EQ(daemon.Cox({"explain", "a-1"}), kOk);
  EXPECT_EQ(daemon.out.str(), "a-1 waits for nothing: it is Running for 5m, on n1,n2\n  Started\n");
  EXPECT_EQ(daemon.Cox({"explain", "a-1"}), kOk);
  EXPECT_EQ(daemon.out.str(),
            "a-1 waits for nothing: it is Failed for 5m\n  CommandNotFound: exit 127\n");
}

TEST(Explain, NamesABlockerOfAllChoices) {
  FakeDaemon daemon;
  daemon.Answers("explain",
                 R"({"blockers": [{"code": "Held", "text": "by ann", "candidate": -1}]})");
  daemon.Cox({"explain", "x"});
  EXPECT_EQ(daemon.out.str(), "Held (every choice)\n  by ann\n");
}

TEST(Get, PrintsTheRecordForPrograms) {
  FakeDaemon daemon;
  daemon.Answers("get", R"({"name": "a-1", "attempts": []})");
  EXPECT_EQ(daemon.Cox({"get", "a-1", "-o", "json"}), kOk);
  EXPECT_EQ(daemon.out.str(), "{\n  \"name\": \"a-1\",\n  \"attempts\": []\n}\n");
  EXPECT_EQ(daemon.Cox({"get", "a-1"}), kOk);
  EXPECT_EQ(daemon.out.str(), "name: a-1\nattempts: []\n");
}

TEST(Submit, SendsTheFileAndPrintsTheName) {
  FakeDaemon daemon;
  daemon.File("a.yaml", kJobFile).Answers("submit", R"({"name": "a-k3v9x2ab", "warnings": []})");
  EXPECT_EQ(daemon.Cox({"submit", "a.yaml"}), kOk);
  EXPECT_EQ(daemon.out.str(), "a-k3v9x2ab\n");
  const auto args = (*Value::Parse(daemon.requests.at(0)))["args"];
  EXPECT_EQ(args["text"].text(), kJobFile);
  EXPECT_FALSE(args["dry_run"].truth());
}

TEST(Submit, AMistakeInTheFileIsFoundWithoutADaemon) {
  FakeDaemon daemon;
  daemon.File("a.yaml", "metadata: {generateName: a-}\nspec: {type: MPIJob, command: x}\n");
  EXPECT_EQ(daemon.Cox({"submit", "a.yaml"}), kFailed);
  EXPECT_THAT(daemon.err.str(), HasSubstr("a.yaml:2"));
  EXPECT_THAT(daemon.err.str(), HasSubstr("MPIJob"));
  EXPECT_TRUE(daemon.requests.empty());
}

TEST(Submit, ADryRunShowsTheRequestInTheOrderOfDeciding) {  // S8
  FakeDaemon daemon;
  daemon.File("-", kJobFile).Answers("submit", R"({"accepted": true, "refused": "", "warnings": [
        {"path": "spec.volumeMounts[0]", "text": "shadows /usr", "rule": "S21"}]})");
  EXPECT_EQ(daemon.Cox({"submit", "-", "--dry-run"}), kOk);
  EXPECT_EQ(daemon.out.str(),
            "Capacity type:  reserved in pool train\n"
            "Replicas:       1 master + 3 workers\n"
            "Flavors:        h100.1g x 8, then a100.1g x 8 (a replica)\n"
            "Scheduling:     priority medium, preemptible\n"
            "Verdict:        accepted\n");
  EXPECT_EQ(daemon.err.str(), "warning: spec.volumeMounts[0]: shadows /usr\n");
}

TEST(Submit, ARefusedDryRunFailsAndSaysWhy) {
  FakeDaemon daemon;
  daemon.File("-", kJobFile)
      .Answers("submit",
               R"j({"accepted": false, "refused": "32 h100.1g, the limit is 16 (S41)"})j");
  EXPECT_EQ(daemon.Cox({"submit", "-", "--dry-run"}), kFailed);
  EXPECT_THAT(daemon.out.str(), HasSubstr("Verdict:        refused"));
  EXPECT_EQ(daemon.err.str(), "cox: 32 h100.1g, the limit is 16 (S41)\n");
}

TEST(Stop, SaysWhatBecameOfIt) {
  FakeDaemon daemon;
  daemon.Answers("stop", R"({"name": "a-1", "state": "Stopping"})");
  EXPECT_EQ(daemon.Cox({"stop", "a-1"}), kOk);
  EXPECT_EQ(daemon.out.str(), "a-1: Stopping\n");
}

TEST(ExitCodes, SayWhatTheCallerCanDo) {
  const std::pair<const char*, int> kCases[] = {
      {"InvalidArgument", kFailed}, {"FailedPrecondition", kFailed}, {"Conflict", kFailed},
      {"Internal", kFailed},        {"NotFound", kNoSuch},           {"Forbidden", kForbidden},
      {"Unavailable", kNoDaemon}};
  for (const auto& [code, exit] : kCases) {
    FakeDaemon daemon;
    daemon.Refuses("describe", code, "the reason");
    EXPECT_EQ(daemon.Cox({"describe", "x"}), exit) << code;
    EXPECT_EQ(daemon.err.str(), "cox: the reason\n");
    EXPECT_EQ(daemon.out.str(), "");
  }
}

TEST(ExitCodes, NobodyAnswers) {
  FakeDaemon daemon;
  EXPECT_EQ(daemon.Cox({"pool"}), kNoDaemon);
}

}  // namespace
}  // namespace cox::cli
