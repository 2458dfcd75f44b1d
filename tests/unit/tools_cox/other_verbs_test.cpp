#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>

#include "unit/tools_cox/fake_daemon.hpp"

namespace cox::cli {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

TEST(Quota, ShowsEachLevel) {  // S40
  FakeDaemon daemon;
  daemon.Answers("quota", R"({"rows": [
    {"level": "tenant", "subject": "lab", "capacity": "reserved", "pool": "train",
     "flavor": "h100.1g", "limit": 16, "used": 6, "available": 10},
    {"level": "user", "subject": "ann", "capacity": "on-demand", "pool": "",
     "flavor": "a100.1g", "limit": null, "used": 2, "available": null}]})");
  EXPECT_EQ(daemon.Cox({"quota"}), kOk);
  EXPECT_EQ(daemon.out.str(),
            "LEVEL   SUBJECT  TYPE       POOL   FLAVOR   LIMIT  USED  AVAILABLE\n"
            "tenant  lab      reserved   train  h100.1g     16     6         10\n"
            "user    ann      on-demand  any    a100.1g      -     2          -\n");
}

TEST(Pool, SaysWhenItLookedAndThatNothingIsReserved) {  // S42, S54
  FakeDaemon daemon;
  daemon.Answers("pool", R"({"at": 1796119509000000000, "pools": [
    {"name": "train", "nodes": ["n1", "n2"], "flavors": [
      {"name": "h100.1g", "total": 16, "used": 4, "free": 8, "not_ready": 4,
       "fragments": [{"free_units": 4, "nodes": 2}],
       "idle": [{"stability": "high", "free": 2, "fragments": [{"free_units": 2, "nodes": 1}]},
                {"stability": "low", "free": 8, "fragments": [{"free_units": 4, "nodes": 2}]}]}]}]})");
  EXPECT_EQ(daemon.Cox({"pool"}), kOk);
  EXPECT_EQ(daemon.out.str(),
            "as of 2026-12-01 10:05:09 +00:00, not reserved\n"
            "\n"
            "train (nodes n1,n2)\n"
            "FLAVOR        TOTAL  USED  FREE  NOT READY  FRAGMENTS\n"
            "h100.1g          16     4     8          4  2 x 4\n"
            "  idle, high      -     -     2          -  1 x 2\n"
            "  idle, low       -     -     8          -  2 x 4\n"
            "\n"
            "FRAGMENTS is nodes x free units; a replica must fit one node, so the sum in FREE is "
            "not a schedulability test. NOT READY is free on nodes that are drained or down.\n");
}

TEST(Flavors, ShowsTheUnit) {  // S36
  FakeDaemon daemon;
  daemon.Answers("flavors", R"({"flavors": [
    {"name": "h100.1g", "class": "GPU", "gpu_type": "h100", "rdma": true,
     "unit": {"gpu_milli": 1000, "cpu_milli": 4000, "mem_mib": 16384}, "pools": ["train"]},
    {"name": "cpu", "class": "CPU", "gpu_type": "",
     "unit": {"gpu_milli": 0, "cpu_milli": 500, "mem_mib": 1500}}]})");
  EXPECT_EQ(daemon.Cox({"flavors"}), kOk);
  EXPECT_EQ(daemon.out.str(),
            "FLAVOR   CLASS  GPU   GPUS  CPUS  MEMORY  RDMA  POOLS\n"
            "h100.1g  GPU    h100     1     4    16Gi  yes   train\n"
            "cpu      CPU    -        0   0.5  1500Mi  no    -\n");
}

TEST(Flavors, AnEmptyListSaysWhy) {  // S29
  FakeDaemon daemon;
  daemon.Answers("flavors", R"({"flavors": [], "reason": "SpotUnavailable: nothing is free"})");
  EXPECT_EQ(daemon.Cox({"flavors", "--capacity-type", "spot"}), kOk);
  EXPECT_EQ(daemon.out.str(), "nothing available: SpotUnavailable: nothing is free\n");
  EXPECT_EQ(daemon.requests.at(0), R"({"verb":"flavors","args":{"capacity_type":"spot"}})");
}

TEST(Ledger, AnInconsistentOneFails) {
  FakeDaemon daemon;
  daemon.Answers("ledger_check", R"({"consistent": true, "text": ""})")
      .Answers("ledger_check", R"({"consistent": false, "text": "user ann: used 4, sum 8"})");
  EXPECT_EQ(daemon.Cox({"ledger", "check"}), kOk);
  EXPECT_EQ(daemon.out.str(), "consistent\n");
  EXPECT_EQ(daemon.Cox({"ledger", "check"}), kFailed);
  EXPECT_EQ(daemon.out.str(), "NOT consistent: user ann: used 4, sum 8\n");
}

TEST(NodePolicy, CreateSendsWhatWasSaidAndPrintsTheId) {  // S72, S81
  FakeDaemon daemon;
  daemon.Answers("nodepolicy_create", R"({"id": "np-1", "warnings": ["n9 is not known"]})");
  EXPECT_EQ(daemon.Cox({"nodepolicy", "create", "--nodes", "n1,n9", "--ttl", "1h", "--tenant",
                        "--reason", "XID 79"}),
            kOk);
  EXPECT_EQ(daemon.out.str(), "np-1\n");
  EXPECT_EQ(daemon.err.str(), "warning: n9 is not known\n");
  EXPECT_EQ(daemon.requests.at(0),
            R"({"verb":"nodepolicy_create","args":{"type":"NodeNotIn","ttl_seconds":3600,)"
            R"("node_names":["n1","n9"],"tenant_scope":true,"reason":"XID 79"}})");
}

TEST(NodePolicy, ListShowsWhatIsLeftOfEach) {  // S77
  FakeDaemon daemon;
  daemon.Answers("nodepolicy_list", R"({"policies": [
    {"id": "np-1", "tenant_scope": false, "subject": "ann", "type": "NodeNotIn",
     "node_names": ["n1", "n2"], "expires_at": 1796119569000000000, "reason": "XID 79"}]})");
  EXPECT_EQ(daemon.Cox({"nodepolicy", "list"}), kOk);
  EXPECT_EQ(daemon.out.str(),
            "ID    SCOPE  SUBJECT  TYPE       NODES  EXPIRES                     LEFT  REASON\n"
            "np-1  user   ann      NodeNotIn  n1,n2  2026-12-01 10:06:09 +00:00    1m  XID 79\n");
}

TEST(NodePolicy, DeleteNamesIt) {
  FakeDaemon daemon;
  daemon.Answers("nodepolicy_delete", "{}");
  EXPECT_EQ(daemon.Cox({"nodepolicy", "delete", "np-1"}), kOk);
  EXPECT_EQ(daemon.requests.at(0), R"({"verb":"nodepolicy_delete","args":{"id":"np-1"}})");
}

TEST(PluginLs, ShowsWhatEachOffersAndHowItDoes) {
  FakeDaemon daemon;
  daemon.Answers("plugins", R"({"instances": [
    {"name": "quota", "id": "io.coxswain.quota", "version": "1.0.0", "failure": "",
     "quarantined": "", "points": {"quota": {"calls": 12, "errors": 0, "overruns": 1}}},
    {"name": "mine", "id": "", "version": "", "failure": "no such file", "points": {}}]})");
  EXPECT_EQ(daemon.Cox({"plugin", "ls"}), kOk);
  EXPECT_EQ(
      daemon.out.str(),
      "INSTANCE  ID                 VERSION  STATE                     POINTS  CALLS  ERRORS  "
      "OVERRUNS\n"
      "quota     io.coxswain.quota  1.0.0    ok                        quota      12       0  "
      "       1\n"
      "mine      -                  -        not loaded: no such file  -           0       0  "
      "       0\n");
}

TEST(Health, IsAnExitCodeForMonitors) {
  FakeDaemon daemon;
  daemon.Answers("health", R"({"not_ready": "", "degraded": ""})")
      .Answers("health", R"({"not_ready": "no baseline yet", "degraded": ""})")
      .Answers("health", R"({"not_ready": "", "degraded": "store: disk full"})");
  EXPECT_EQ(daemon.Cox({"health"}), kOk);
  EXPECT_EQ(daemon.out.str(), "deciding\n");
  EXPECT_EQ(daemon.Cox({"health"}), kFailed);
  EXPECT_EQ(daemon.out.str(), "not ready: no baseline yet\n");
  EXPECT_EQ(daemon.Cox({"health"}), kFailed);
  EXPECT_EQ(daemon.out.str(), "degraded: store: disk full\n");
}

class LogFile {
 public:
  explicit LogFile(const std::string& text)
      : path_(testing::TempDir() + "cox_log_test." + std::to_string(getpid()) + ".out") {
    std::ofstream(path_) << text;
  }
  ~LogFile() { std::remove(path_.c_str()); }
  std::string Reply() const { return R"({"path": ")" + path_ + "\"}"; }

 private:
  std::string path_;
};

TEST(Logs, CopyTheFileThatTheDaemonNames) {
  const LogFile log("one\ntwo\n");
  FakeDaemon daemon;
  daemon.Answers("logs", log.Reply());
  EXPECT_EQ(daemon.Cox({"logs", "a-1", "--attempt", "0"}), kOk);
  EXPECT_EQ(daemon.out.str(), "one\ntwo\n");
  EXPECT_EQ(daemon.requests.at(0), R"({"verb":"logs","args":{"job":"a-1","attempt":0}})");
}

TEST(Logs, FollowUntilTheTaskHasEnded) {
  const LogFile log("all\n");
  FakeDaemon daemon;
  daemon.Answers("logs", log.Reply())
      .Answers("get", R"({"state": "Running"})")
      .Answers("get", R"({"state": "Running"})")
      .Answers("get", R"({"state": "Succeeded"})");
  EXPECT_EQ(daemon.Cox({"logs", "-f", "a-1"}), kOk);
  EXPECT_EQ(daemon.out.str(), "all\n");
  EXPECT_EQ(daemon.waits, 2);
}

TEST(Logs, AFileThatIsNotThereIsNotFound) {
  FakeDaemon daemon;
  daemon.Answers("logs", R"({"path": "/nonexistent/x.out"})");
  EXPECT_EQ(daemon.Cox({"logs", "a-1"}), kNoSuch);
  EXPECT_THAT(daemon.err.str(), HasSubstr("/nonexistent/x.out"));
}

TEST(Events, ShowWhoseTheyAre) {
  FakeDaemon daemon;
  daemon
      .Answers("events", R"({"next": 9, "events": [
    {"sequence": 8, "at": 1796119509000000000, "name": "a-1", "attempt": 0, "warning": false,
     "reason": "Admitted", "message": "flavor=h100.1g"}]})")
      .Answers("events", R"({"next": 9, "events": []})");
  EXPECT_EQ(daemon.Cox({"events"}), kOk);
  EXPECT_EQ(daemon.out.str(),
            "AT                          TASK  ATTEMPT  REASON    MESSAGE\n"
            "2026-12-01 10:05:09 +00:00  a-1         0  Admitted  flavor=h100.1g\n");
}

TEST(Events, OfAllTasksComePageByPage) {
  FakeDaemon daemon;
  daemon.Answers("events", R"({"next": 2, "events": [{"name": "a-1", "reason": "Queued"}]})")
      .Answers("events", R"({"next": 3, "events": [{"name": "b-1", "reason": "Queued"}]})")
      .Answers("events", R"({"next": 3, "events": []})");
  EXPECT_EQ(daemon.Cox({"events"}), kOk);
  EXPECT_EQ(daemon.out.str(), "TASK  REASON\na-1   Queued\nb-1   Queued\n");
  EXPECT_EQ(daemon.requests.back(), R"({"verb":"events","args":{"after":3}})");
}

TEST(Events, OfOneTaskAreNotRepeatedWhileFollowing) {
  FakeDaemon daemon;
  daemon.Answers("events", R"({"next": 0, "events": [{"name": "a-1", "reason": "Queued"}]})")
      .Answers("events", R"({"next": 0, "events": [{"name": "a-1", "reason": "Queued"},
                                                   {"name": "a-1", "reason": "Admitted"}]})")
      .Refuses("events", "Unavailable", "the daemon went away");
  EXPECT_EQ(daemon.Cox({"events", "-f", "a-1"}), kNoDaemon);
  EXPECT_EQ(daemon.out.str(), "TASK  REASON\na-1   Queued\na-1   Admitted\n");
  EXPECT_EQ(daemon.waits, 2);
}

TEST(ConfigCheck, NamesThePlaceOfAMistakeAndAsksNoDaemon) {
  FakeDaemon daemon;
  daemon.File("site.yaml", "region: r\ncluster: c\npool: []\n");
  EXPECT_EQ(daemon.Cox({"config", "check", "site.yaml"}), kFailed);
  EXPECT_THAT(daemon.err.str(), StartsWith("cox: site.yaml:3"));
  EXPECT_TRUE(daemon.requests.empty());
}

TEST(ConfigCheck, LooksIntoTheAdaptersBlock) {
  FakeDaemon daemon;
  daemon.File("site.yaml", "region: r\ncluster: c\nslurm: {pollms: 500}\n");
  EXPECT_EQ(daemon.Cox({"config", "check", "site.yaml"}), kFailed);
  EXPECT_THAT(daemon.err.str(), StartsWith("cox: site.yaml:3: slurm.pollms: unknown key"));
}

TEST(ConfigCheck, CountsWhatItFound) {
  FakeDaemon daemon;
  daemon.File("site.yaml", "region: r\ncluster: c\n");
  EXPECT_EQ(daemon.Cox({"config", "check", "site.yaml"}), kOk) << daemon.err.str();
  EXPECT_EQ(daemon.out.str(),
            "site.yaml: right (0 pools, 0 flavors, 0 quotas, 0 users, 0 plugins)\n");
}

TEST(ConfigCheck, APluginThatIsNotThereIsAMistake) {
  FakeDaemon daemon;
  daemon.File("site.yaml", "region: r\ncluster: c\nplugins:\n- {path: /nonexistent/x.so}\n");
  EXPECT_EQ(daemon.Cox({"config", "check", "site.yaml"}), kNoSuch);
  EXPECT_THAT(daemon.err.str(),
              StartsWith("cox: site.yaml:4: plugins[0].path: /nonexistent/x.so: "));
}

TEST(ConfigCheck, LooksForPluginsWhereTheDaemonWould) {
  FakeDaemon daemon;
  const std::string plugins = "region: r\ncluster: c\nplugins: [{path: quota_tree.so}]\n";
  daemon.File("own.yaml", plugins + "slurm: {pluginDir: " COX_PLUGIN_DIR "}\n");
  EXPECT_EQ(daemon.Cox({"config", "check", "own.yaml"}), kOk) << daemon.err.str();
  daemon.File("else.yaml", plugins + "slurm: {pluginDir: /nonexistent}\n");
  EXPECT_EQ(daemon.Cox({"config", "check", "else.yaml"}), kNoSuch);
  EXPECT_THAT(daemon.err.str(), HasSubstr("plugins[0].path: /nonexistent/quota_tree.so: "));
  EXPECT_EQ(daemon.Cox({"config", "check", "else.yaml", "--plugin-dir", COX_PLUGIN_DIR}), kOk)
      << daemon.err.str();
}

TEST(ConfigCheck, AMistakeInAPluginsConfigHasItsWholePath) {
  FakeDaemon daemon;
  daemon.File("site.yaml",
              "region: r\ncluster: c\nslurm: {pluginDir: " COX_PLUGIN_DIR
              "}\n"
              "plugins:\n- path: fault_tolerance.so\n  config:\n    backoff_base: 1\n");
  EXPECT_EQ(daemon.Cox({"config", "check", "site.yaml"}), kFailed);
  EXPECT_THAT(daemon.err.str(), StartsWith("cox: site.yaml:7: plugins[0].config.backoff_base: "));
}

TEST(PluginInspect, AFileThatIsNoPluginIsRefused) {
  FakeDaemon daemon;
  EXPECT_EQ(daemon.Cox({"plugin", "inspect", "/nonexistent/x.so"}), kNoSuch);
  EXPECT_THAT(daemon.err.str(), HasSubstr("/nonexistent/x.so"));
}

}  // namespace
}  // namespace cox::cli
