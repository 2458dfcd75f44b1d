#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/tools_cox/fake_daemon.hpp"

namespace cox::cli {
namespace {

using testing::HasSubstr;

const std::string kJobs =
    "title: two\n"
    "nodes: [{name: n1}]\n"
    "jobs: [{id: S, capacity: spot, run: 9}, {id: H, at: 5, run: 4}, {id: L, at: 6, size: 2x8}]\n"
    "until: 20\n";

TEST(ScenarioRun, SaysPassAndShowsTheJobsWhenAsked) {
  FakeDaemon daemon;
  daemon.File("a.yaml", kJobs);
  const std::vector<std::string> run = {"scenario", "run", "a.yaml", "--plugin-dir",
                                        COX_PLUGIN_DIR};
  EXPECT_EQ(daemon.Cox(run), kOk);
  EXPECT_EQ(daemon.out.str(), "PASS a.yaml  two\n");
  auto show = run;
  show.emplace_back("--show");
  EXPECT_EQ(daemon.Cox(show), kOk);
  EXPECT_EQ(daemon.out.str(),
            "PASS a.yaml  two\n"
            "  JOB  SUBMITTED  START  END  NODES  EVICTED  STATE\n"
            "  S            0      0    5  n1           5  Failed\n"
            "  H            5      5    9  n1           -  Succeeded\n"
            "  L            6  never    -  -            -  Pending\n");
  EXPECT_TRUE(daemon.requests.empty()) << "it asks no daemon";
}

TEST(ScenarioRun, PrintsEachDifferenceAndLeavesWithOne) {
  FakeDaemon daemon;
  daemon.File("good.yaml", "nodes: [{name: n1}]\njobs: [{id: A, run: 1}]\n");
  daemon.File("bad.yaml", kJobs + "expect:\n  jobs: {H: {start: 7}}\n");
  EXPECT_EQ(
      daemon.Cox({"scenario", "run", "bad.yaml", "good.yaml", "--plugin-dir", COX_PLUGIN_DIR}),
      kFailed);
  EXPECT_THAT(daemon.out.str(), HasSubstr("FAIL bad.yaml  two\n"
                                          "  line 6: H.start: expected 7, got 5\n"
                                          "  JOB  SUBMITTED"));
  EXPECT_THAT(daemon.out.str(), HasSubstr("PASS good.yaml\n"));
}

TEST(ScenarioRun, JsonHasAllOfIt) {
  FakeDaemon daemon;
  daemon.File("bad.yaml", kJobs + "expect:\n  jobs: {H: {start: 7}}\n");
  EXPECT_EQ(
      daemon.Cox({"scenario", "run", "bad.yaml", "-o", "json", "--plugin-dir", COX_PLUGIN_DIR}),
      kFailed);
  const auto parsed = Value::Parse(daemon.out.str());
  ASSERT_TRUE(parsed);
  const Value& result = parsed->rows().at(0);
  EXPECT_EQ(result["file"].text(), "bad.yaml");
  EXPECT_FALSE(result["passed"].truth());
  EXPECT_EQ(result["differences"].rows().at(0)["what"].text(), "H.start");
  const Value& s = result["jobs"].rows().at(0);
  EXPECT_EQ(s["id"].text(), "S");
  EXPECT_EQ(s["evicted"].rows().at(0).number(), 5);
  EXPECT_EQ(s["runs"].rows().at(0)["end"].number(), 5);
  EXPECT_EQ(s["runs"].rows().at(0)["nodes"].rows().at(0).text(), "n1");
}

TEST(ScenarioRun, WhatCannotBeRunIsAnError) {
  FakeDaemon daemon;
  EXPECT_EQ(daemon.Cox({"scenario", "run", "gone.yaml"}), kNoSuch);
  daemon.File("wrong.yaml", "nodes: []\n");
  EXPECT_EQ(daemon.Cox({"scenario", "run", "wrong.yaml"}), kFailed);
  EXPECT_THAT(daemon.err.str(), HasSubstr("cox: wrong.yaml:1: "));
  daemon.File("a.yaml", kJobs);
  EXPECT_EQ(daemon.Cox({"scenario", "run", "gone.yaml", "a.yaml", "--plugin-dir", COX_PLUGIN_DIR}),
            kNoSuch);
  EXPECT_EQ(daemon.out.str(), "PASS a.yaml  two\n") << "the others are run all the same";
  EXPECT_EQ(daemon.Cox({"scenario", "run", "a.yaml"}), kFailed) << "no built-in plugins here";
  EXPECT_THAT(daemon.err.str(), HasSubstr("quota_tree.so"));
}

}  // namespace
}  // namespace cox::cli
