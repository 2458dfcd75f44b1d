#include "host/loader.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cox/harness/cluster.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "host/plugins.hpp"

namespace cox::host {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

const std::string kFixtures = COX_BINARY_DIR "/tests/abi/fixtures/";
const std::string kBuiltin = COX_BINARY_DIR "/plugins/";
const std::string kOld = COX_SOURCE_DIR "/tests/abi/old/";

// A directory of our own, so that the test does not depend on the umask of the build.
class Loader : public testing::Test {
 protected:
  Loader() {
    char name[] = "/tmp/cox-loader-XXXXXX";
    dir_ = mkdtemp(name);
  }
  ~Loader() override { fs::remove_all(dir_); }

  std::string Copy(const std::string& from) {
    const std::string to = dir_ + "/" + fs::path(from).filename().string();
    fs::remove(to);  // a new file: the old one may be mapped
    fs::copy_file(from, to);
    fs::permissions(to, fs::perms(0755));
    return to;
  }
  std::string Fixture(const std::string& name) { return Copy(kFixtures + name + ".so"); }

  // The refusal, without the directory of this run.
  std::string Refusal(const std::string& path) {
    const auto table = Load(path);
    if (table) return "loaded";
    std::string text = table.error().text;
    EXPECT_EQ(text.find('\n'), std::string::npos) << "more than one line: " << text;
    for (size_t at = text.find(dir_ + "/"); at != std::string::npos; at = text.find(dir_ + "/"))
      text.erase(at, dir_.size() + 1);
    return text;
  }

  std::string dir_;
};

spec::PluginConfig At(const std::string& path, const std::string& json = "{}") {
  spec::PluginConfig config;
  config.name = fs::path(path).stem();
  config.path = path;
  config.config_json = json;
  return config;
}

// ---- which file ----

TEST_F(Loader, TakesOnlyAbsolutePaths) {
  EXPECT_EQ(Refusal("quota_tree.so"), "quota_tree.so: a plugin's path must be absolute");
  EXPECT_EQ(Refusal(""), "an empty path: a plugin's path must be absolute");
}

TEST_F(Loader, NeedsARegularFileThatIsThere) {
  EXPECT_EQ(Refusal(dir_ + "/none.so"), "none.so: No such file or directory; correct `path`");
  EXPECT_THAT(Refusal(dir_), EndsWith(": is no regular file; name the plugin's .so"));
}

TEST_F(Loader, RefusesAFileThatOthersMayWrite) {
  const std::string path = Fixture("garbage");
  fs::permissions(path, fs::perms(0757));
  EXPECT_EQ(Refusal(path),
            "garbage.so: garbage.so is writable by its group or by everybody; chmod go-w "
            "garbage.so");
  fs::permissions(path, fs::perms(0775));
  EXPECT_THAT(Refusal(path), HasSubstr("is writable by its group"));
}

TEST_F(Loader, RefusesADirectoryThatOthersMayWrite) {
  const std::string path = Fixture("garbage");
  fs::permissions(dir_, fs::perms(0777));
  EXPECT_THAT(Refusal(path), AllOf(StartsWith("garbage.so: directory "),
                                   HasSubstr(" is writable by its group or by everybody")));
  fs::permissions(dir_, fs::perms(01777));
  EXPECT_THAT(Refusal(path), HasSubstr("is writable")) << "the sticky bit is no protection here";
}

TEST_F(Loader, RefusesAForeignOwner) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can give a file away";
  const std::string path = Fixture("garbage");
  ASSERT_EQ(chown(path.c_str(), 12345, 0), 0);
  EXPECT_EQ(Refusal(path),
            "garbage.so: garbage.so is owned by uid 12345, neither root nor uid 0; change its "
            "owner");
}

TEST_F(Loader, JudgesTheFileBehindASymbolicLink) {
  const std::string path = Fixture("garbage");
  fs::permissions(path, fs::perms(0777));
  const std::string link = dir_ + "/link.so";
  fs::create_symlink(path, link);
  EXPECT_THAT(Refusal(link), StartsWith("link.so: garbage.so is writable"));
}

// ---- which library ----

TEST_F(Loader, RefusesWhatIsNoLibrary) {
  const std::string path = dir_ + "/text.so";
  std::ofstream(path) << "not a library\n";
  EXPECT_THAT(Refusal(path), StartsWith("text.so: is no shared library (no ELF file)"));
}

TEST_F(Loader, RefusesALibraryWithoutTheEntryAndDoesNotRunIt) {
  EXPECT_EQ(Refusal(Fixture("no_entry")),
            "no_entry.so: does not export cox_plugin_entry; end its source with COX_PLUGIN(...)");
}

TEST_F(Loader, FindsTheEntryOfAStrippedLibrary) {  // which boost::dll::library_info does not
  EXPECT_TRUE(Load(Copy(kOld + "plugin_1_0.so")));
}

TEST_F(Loader, NamesBothVersionsOfAnotherMajor) {
  const std::string why = "; rebuild it with this host's SDK";
  EXPECT_EQ(Refusal(Fixture("wrong_major")),
            "wrong_major.so: built for plugin ABI 2.5, this host speaks 1.0" + why);
}

TEST_F(Loader, RefusesAnotherMajorInTheNoteBeforeAnyCodeRuns) {  // the fixture aborts when run
  EXPECT_EQ(Refusal(Fixture("wrong_major_note")),
            "wrong_major_note.so: built for plugin ABI 3.0, this host speaks 1.0; rebuild it with "
            "this host's SDK");
}

TEST_F(Loader, RefusesATableThatCannotBeCalled) {
  EXPECT_EQ(Refusal(Fixture("null_entry")), "null_entry.so: cox_plugin_entry() returned NULL");
  EXPECT_EQ(Refusal(Fixture("no_create")),
            "no_create.so: has no create function; fill it in cox_plugin");
  EXPECT_EQ(Refusal(Fixture("no_schema")),
            "no_schema.so: its config_schema is empty; fill it in cox_plugin");
  EXPECT_EQ(Refusal(Fixture("short_table")),
            "short_table.so: struct_size of cox_plugin is 16, expected at least 72; rebuild it "
            "with the SDK");
}

TEST_F(Loader, FindsAMissingSymbolWhenLoadingNotInACycle) {
  EXPECT_THAT(Refusal(Fixture("unresolved")),
              AllOf(StartsWith("unresolved.so: cannot be loaded"), HasSubstr("nobody_has_this")));
}

TEST_F(Loader, LoadsWhatIsWellMade) {
  const auto table = Load(Copy(kBuiltin + "quota_tree.so"));
  ASSERT_TRUE(table) << table.error().text;
  EXPECT_STREQ((*table)->id, "io.coxswain.quota-tree");
}

TEST_F(Loader, ALoadedLibraryStaysMapped) {
  const auto table = Load(Copy(kBuiltin + "node_policy.so"));
  ASSERT_TRUE(table);
  fs::remove(dir_ + "/node_policy.so");
  EXPECT_STREQ((*table)->version, "1.0.0");  // would crash if it had been unmapped
}

// ---- without running it ----

TEST_F(Loader, InspectReadsTheNoteWithoutRunningTheLibrary) {
  const auto aborts_when_run = Inspect(Fixture("wrong_major_note"));
  ASSERT_TRUE(aborts_when_run) << aborts_when_run.error().text;
  EXPECT_EQ(aborts_when_run->abi_major, 3);
  const auto manifest = Inspect(Copy(kBuiltin + "quota_tree.so"));
  ASSERT_TRUE(manifest) << manifest.error().text;
  EXPECT_EQ(manifest->id, "io.coxswain.quota-tree");
  EXPECT_EQ(manifest->version, "1.0.0");
  EXPECT_EQ(manifest->abi_major, 1);
  EXPECT_THAT(manifest->summary, HasSubstr("limits of tenant"));
  EXPECT_THAT(manifest->config_schema, HasSubstr("missing_quota"));
  EXPECT_THAT(manifest->exports, Contains("cox_plugin_entry"));
}

TEST_F(Loader, InspectSaysWhenThereIsNothingToRead) {
  const auto plain = Inspect(Fixture("garbage"));
  ASSERT_FALSE(plain);
  EXPECT_EQ(plain.error().code, Code::kFailedPrecondition);
  EXPECT_THAT(plain.error().text, HasSubstr("carries no Coxswain note"));
  EXPECT_EQ(Inspect(dir_ + "/none.so").error().code, Code::kNotFound);
}

TEST_F(Loader, BuiltinPluginsExportNothingElse) {
  for (const char* name :
       {"quota_tree", "priority_multifactor", "node_policy", "fault_tolerance"}) {
    const auto manifest = Inspect(kBuiltin + name + ".so");
    ASSERT_TRUE(manifest) << manifest.error().text;
    EXPECT_THAT(manifest->exports, ElementsAre("cox_plugin_entry")) << name;
  }
}

TEST_F(Loader, CheckCreatesOneInstanceAndPrintsTheWholeConfiguration) {
  const auto checked = Check(At(Copy(kBuiltin + "quota_tree.so")));
  ASSERT_TRUE(checked) << checked.error().text;
  EXPECT_EQ(checked->id, "io.coxswain.quota-tree");
  EXPECT_THAT(checked->points, ElementsAre("quota"));
  EXPECT_THAT(checked->config_json, HasSubstr("\"spot\": \"allow\""));
  const auto wrong = Check(At(Copy(kBuiltin + "quota_tree.so"), R"({"missing_quote": {}})"));
  ASSERT_FALSE(wrong);
  EXPECT_THAT(wrong.error().text, HasSubstr("missing_quote"));
}

// ---- a whole set ----

TEST_F(Loader, RelativePathsStartAtThePluginDirectory) {
  Copy(kBuiltin + "quota_tree.so");
  Options options;
  options.plugin_directory = dir_;
  const auto plugins = Plugins::Create({At("quota_tree.so")}, options);
  ASSERT_TRUE(plugins) << plugins.error().text;
  EXPECT_EQ(plugins->Status()[0].path, dir_ + "/quota_tree.so");
}

TEST_F(Loader, AFailedPluginStopsTheSetUnlessItIsOptional) {
  auto bad = At(Fixture("no_entry"));
  const auto good = At(Copy(kBuiltin + "quota_tree.so"));
  EXPECT_FALSE(Plugins::Create({good, bad}, Options{}));
  bad.optional = true;
  const auto plugins = Plugins::Create({bad, good}, Options{});
  ASSERT_TRUE(plugins) << plugins.error().text;
  const auto status = plugins->Status();
  ASSERT_EQ(status.size(), 2U);
  EXPECT_EQ(status[0].id, "io.coxswain.quota-tree");
  EXPECT_THAT(status[1].failure, HasSubstr("does not export cox_plugin_entry"));
}

TEST_F(Loader, OneLibraryServesTwoInstances) {
  const std::string path = Copy(kBuiltin + "priority_multifactor.so");
  auto first = At(path, R"({"points_per_level": 1})"), second = At(path);
  first.name = "small";
  const auto plugins = Plugins::Create({first, second}, Options{});
  ASSERT_TRUE(plugins) << plugins.error().text;
  auto cluster = harness::Cluster().Add(harness::Job(1).Priority(COX_HIGH));
  std::vector<int64_t> rank(1);
  const_cast<Plugins&>(*plugins).Rank(cluster.view(), rank);
  EXPECT_EQ(rank[0], 2 + 2'000'000);
}

// What any of these plugins does at every point, merged by the host.
struct Judged {
  cox_verdict ask = 0;
  int64_t rank = 0;
  std::vector<int32_t> lanes, scores;
  FaultVerdict fault;
};
Judged JudgeAll(Plugins& plugins) {
  auto cluster = harness::Cluster()
                     .Add(harness::Node("n1"))
                     .Add(harness::Node("n2"))
                     .Add(harness::Job(1))
                     .Add(harness::Job(2))
                     .Add(harness::Ask(0, COX_RESERVED, "p", "f", 5));
  const cox_view& view = cluster.view();
  Judged out;
  Refusal refusal;
  plugins.Admit(view, cluster.asks_of_view(), {&refusal, 1});
  out.ask = refusal.verdict;
  std::vector<int64_t> ranks(2);
  plugins.Rank(view, ranks);
  out.rank = ranks[1];
  out.lanes.resize(view.nodes->stride);
  plugins.Filter(view, harness::Cluster::Shape(), out.lanes);
  out.lanes.resize(2);
  out.scores.resize(view.nodes->stride);
  plugins.Score(view, harness::Cluster::Shape(), out.scores);
  out.scores.resize(2);
  cox_failure failure{};
  failure.struct_size = sizeof failure;
  failure.enabled = 1;
  out.fault = plugins.Judge(failure);
  return out;
}

TEST_F(Loader, AnOldBinaryGoesOnLoadingAndJudging) {
#ifndef __x86_64__
  GTEST_SKIP() << "the binary is for x86-64";
#endif
  auto plugins = Plugins::Create({At(Copy(kOld + "plugin_1_0.so"))}, Options{});
  ASSERT_TRUE(plugins) << plugins.error().text;
  const Judged judged = JudgeAll(*plugins);
  EXPECT_EQ(judged.ask, 1);
  EXPECT_EQ(judged.rank, 1);
  EXPECT_THAT(judged.lanes, ElementsAre(2 | COX_FIXED, 0));
  EXPECT_THAT(judged.scores, ElementsAre(0, 10'000));
  EXPECT_TRUE(judged.fault.retry);
  EXPECT_EQ(judged.fault.backoff, std::chrono::seconds(5));
  EXPECT_EQ(judged.fault.reason, "Old");
}

TEST_F(Loader, GarbageIsContained) {
  auto plugins = Plugins::Create({At(Fixture("garbage"))}, Options{});
  ASSERT_TRUE(plugins) << plugins.error().text;
  const Judged judged = JudgeAll(*plugins);
  EXPECT_EQ(judged.ask, 0xffff) << "denied by the host";
  EXPECT_EQ(judged.rank, 0);
  EXPECT_THAT(judged.lanes, ElementsAre(0xffff, 0xffff));
  EXPECT_THAT(judged.scores, ElementsAre(0, 0));
  std::string all;
  for (const Notice& notice : plugins->TakeNotices()) all += notice.text + "\n";
  EXPECT_THAT(
      all, AllOf(HasSubstr("admit: internal error: verdict 32767 of row 0 is outside"),
                 HasSubstr("rank: returned 99, which is no COX_ code: ggg"),
                 HasSubstr("filter: internal error: verdict -1 of row 0 is outside"),
                 HasSubstr("score: internal error: score 1000000 of row 0 is outside 0..10000")));
}

void ExpectThrowsAreCodes(const std::string& path) {
  auto plugins = Plugins::Create({At(path)}, Options{});
  ASSERT_TRUE(plugins) << plugins.error().text;
  const Judged judged = JudgeAll(*plugins);
  EXPECT_EQ(judged.ask, 0xffff);
  EXPECT_THAT(judged.lanes, ElementsAre(0xffff, 0xffff));
  std::string all;
  for (const Notice& notice : plugins->TakeNotices()) all += notice.text + "\n";
  EXPECT_THAT(all,
              AllOf(HasSubstr("admit: internal error: threw something that is no std::exception"),
                    HasSubstr("rank: internal error: rank broke"),
                    HasSubstr("filter: internal error: threw something")));
  const auto refused = Plugins::Create({At(path, R"({"in_create": true})")}, Options{});
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().text,
              HasSubstr("cannot be created: internal error: threw something that is no"));
}

TEST_F(Loader, WhatAPluginThrowsBecomesACodeAndAText) {
  ExpectThrowsAreCodes(Fixture("throws"));
}

TEST_F(Loader, APluginOfAnotherCompilerAndStandardIsNoDifferent) {
  if (!fs::exists(kFixtures + "by_clang.so")) GTEST_SKIP() << "no clang++ on this machine";
  ExpectThrowsAreCodes(Fixture("by_clang"));
}

}  // namespace
}  // namespace cox::host
