#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "base/file.hpp"
#include "unit/tools_cox/fake_daemon.hpp"

namespace cox::cli {
namespace {

using testing::HasSubstr;
using testing::Not;

const std::string kTrace =
    "timestamp,duration,num_gpus,cluster\n"
    "2017-10-09 00:00:00,100,8,a\n"
    "2017-10-09 00:00:01,50,16,b\n"
    "2017-10-09 00:00:02,90,8,b\n";

std::vector<std::string> Simulate(std::vector<std::string> more) {
  std::vector<std::string> words = {"simulate", "t.csv", "--plugin-dir", COX_PLUGIN_DIR};
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

TEST(Simulate, ComparesConfigurationsInATable) {
  FakeDaemon daemon;
  daemon.File("t.csv", kTrace);
  daemon.File("conf/mine.yaml",
              "region: r\ncluster: c\npools: [{name: main}]\n"
              "scheduling: {starvationBoundSeconds: 0}\n"
              "plugins: [{path: priority_multifactor.so}]\n");
  EXPECT_EQ(daemon.Cox(Simulate({"--nodes", "2x8", "--config", "conf/mine.yaml", "--baseline"})),
            kOk);
  EXPECT_THAT(daemon.out.str(),
              HasSubstr("CONFIG       ALLOC  ALLOC-QUEUED  FRAGMENTED   WAIT  WAIT-P99    JCT"));
  EXPECT_THAT(daemon.out.str(), HasSubstr("\nmine.yaml    "));
  EXPECT_THAT(daemon.out.str(), HasSubstr("\nstrict FIFO  "));
  EXPECT_THAT(daemon.out.str(), HasSubstr("\nTENANT  CONFIG "));
  EXPECT_THAT(daemon.out.str(), HasSubstr("\nSIZE      CONFIG "));
  EXPECT_THAT(daemon.out.str(), Not(HasSubstr("CLASS"))) << "there is only one";
  EXPECT_EQ(daemon.err.str(), "");
  EXPECT_TRUE(daemon.requests.empty()) << "it asks no daemon";
}

TEST(Simulate, JsonHasEveryFigure) {
  FakeDaemon daemon;
  daemon.File("t.csv", kTrace);
  EXPECT_EQ(daemon.Cox(Simulate({"--nodes", "2x8", "-o", "json", "--baseline", "--tenant", "b"})),
            kOk);
  const auto parsed = Value::Parse(daemon.out.str());
  ASSERT_TRUE(parsed);
  EXPECT_EQ((*parsed)["trace"]["jobs"].number(), 2);
  ASSERT_EQ((*parsed)["configurations"].rows().size(), 2U);
  const Value& first = (*parsed)["configurations"].rows()[0];
  EXPECT_EQ(first["unit"].text(), "GPU");
  EXPECT_EQ(first["all"]["jobs"].number(), 2);
  EXPECT_EQ(first["all"]["waitSeconds"]["max"].number(), 49);
  EXPECT_FALSE(first["groups"].rows().empty());
}

TEST(Simulate, WritesThePage) {
  FakeDaemon daemon;
  daemon.File("t.csv", kTrace);
  std::string folder = std::filesystem::temp_directory_path() / "cox-page-XXXXXX";
  ASSERT_NE(mkdtemp(folder.data()), nullptr);
  const std::string page = folder + "/page.html";
  EXPECT_EQ(daemon.Cox(Simulate({"--nodes", "2x8", "--html", page, "--window", "10s,1m"})), kOk);
  const auto text = ReadFile(page);
  ASSERT_TRUE(text);
  EXPECT_THAT(*text, HasSubstr("\"from\":10,\"to\":60"));
  EXPECT_EQ(daemon.Cox(Simulate({"--nodes", "2x8", "--html", folder + "/no/page.html"})),
            kNoDaemon);
  EXPECT_THAT(daemon.err.str(), HasSubstr("cannot be written"));
  std::filesystem::remove_all(folder);
}

TEST(Simulate, NotesAndRefusalsGoToStandardError) {
  FakeDaemon daemon;
  daemon.File("t.csv", kTrace + "2017-10-09 00:00:00,x,8,a\n");
  daemon.File("none.yaml",
              "region: r\ncluster: c\npools: [{name: main}]\n"
              "plugins: [{path: quota_tree.so}]\n");
  EXPECT_EQ(daemon.Cox(Simulate({"--nodes", "2x8", "--config", "none.yaml"})), kOk);
  EXPECT_THAT(daemon.err.str(),
              HasSubstr("note: 1 row left out: duration is no number (t.csv:5)\n"));
  EXPECT_THAT(daemon.err.str(), HasSubstr("note: none.yaml: 3 jobs refused; the first, 1: "));
  EXPECT_THAT(daemon.out.str(), HasSubstr("REFUSED"));
}

TEST(Simulate, ProgressIsShownOnlyToATerminal) {
  std::string trace = "timestamp,duration,num_gpus,cluster\n";
  for (int i = 0; i < 600; ++i) trace += std::to_string(1'500'000'000 + i * 10) + ",5,8,a\n";
  FakeDaemon daemon;
  daemon.File("t.csv", trace);
  daemon.progress = true;
  EXPECT_EQ(daemon.Cox(Simulate({"--nodes", "1x8"})), kOk);
  EXPECT_THAT(daemon.err.str(), HasSubstr("] "));
  EXPECT_THAT(daemon.err.str(), HasSubstr("default: day 0, "));
  EXPECT_TRUE(daemon.err.str().ends_with("\r\033[K")) << "and wiped away in the end";
}

TEST(Simulate, MistakesAreErrors) {
  FakeDaemon daemon;
  daemon.File("t.csv", kTrace);
  EXPECT_EQ(daemon.Cox({"simulate", "gone.csv"}), kNoSuch);
  EXPECT_EQ(daemon.Cox(Simulate({})), kFailed);
  EXPECT_THAT(daemon.err.str(), HasSubstr("say --nodes 16x8 or a list"));
  EXPECT_EQ(daemon.Cox(Simulate({"--nodes", "2x8", "--config", "gone.yaml"})), kNoSuch);
  EXPECT_EQ(daemon.Cox(Simulate({"--nodes", "2y8"})), kFailed);
  EXPECT_EQ(daemon.Cox(Simulate({"--nodes", "2x8", "--tenant", "c"})), kFailed);
  EXPECT_EQ(daemon.Cox(Simulate({"--window", "5"})), kUsage);
  EXPECT_EQ(daemon.Cox(Simulate({"--checkpoint", "often"})), kUsage);
  EXPECT_EQ(daemon.Cox(Simulate({"--format", "xml"})), kUsage);
  EXPECT_EQ(daemon.Cox(Simulate({"--format", "swf", "--nodes", "2x8"})), kFailed);
}

}  // namespace
}  // namespace cox::cli
