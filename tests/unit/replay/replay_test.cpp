#include "replay/replay.hpp"

#include <fstream>
#include <sstream>

#include "unit/run/rig.hpp"

namespace cox::replay {
namespace {

using run::test::FakeBatch;
using run::test::JobText;
using run::test::PluginOptions;
using run::test::Rig;
using run::test::SiteText;
using testing::HasSubstr;

// A day in production: a few jobs, a wait, a policy, a conflict, a failure and a reload.
std::string Recording() {
  Rig rig;
  auto opened = run::Recorder::Open(rig.dir / "cycles.jsonl", 64 << 20);
  EXPECT_TRUE(opened);
  rig.recorder = *std::move(opened);
  rig.Restart();
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(rig.Submit(JobText("  failurePolicy: {enabled: true}\n")));
  }
  spec::NodePolicy policy;
  policy.subject = "alice";
  policy.node_names = {"n1"};
  policy.expires_at = rig.clock.now + std::chrono::seconds(90);
  rig.loop->Ask(run::CreatePolicyRequest{policy, {}});
  rig.batch.mood = FakeBatch::Mood::kConflict;
  rig.Settle();
  rig.batch.mood = FakeBatch::Mood::kWilling;
  rig.Later(30);
  rig.Settle();
  rig.batch.Ends(rig.Task(0).native_id, 1);
  rig.Settle();
  rig.reload_text = SiteText(32);
  rig.loop->Ask(run::ReloadRequest{{}});
  rig.Settle();
  rig.Later(100);
  rig.Settle();
  std::ifstream file(rig.dir / "cycles.jsonl");
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

Report Played(const std::string& recording, std::string* differences = nullptr) {
  std::istringstream in(recording);
  std::ostringstream out;
  const Report report = Replay(in, PluginOptions(), out);
  if (differences != nullptr) *differences = out.str();
  return report;
}

TEST(Replay, MakesEveryRecordedDecisionAgainToTheSameBytes) {
  std::string differences;
  const Report report = Played(Recording(), &differences);
  EXPECT_EQ(report.error, "");
  EXPECT_GT(report.cycles, 5u);
  EXPECT_EQ(report.different, 0u) << differences;
}

TEST(Replay, ShowsWhatADifferentDecisionWouldBe) {
  std::string recording = Recording();
  const size_t at = recording.find("\"starts\":[{");
  ASSERT_NE(at, std::string::npos);
  const size_t attempt = recording.find("\"attempt\":0", at);
  recording.replace(attempt, 11, "\"attempt\":9");
  std::string differences;
  const Report report = Played(recording, &differences);
  EXPECT_EQ(report.error, "");
  EXPECT_EQ(report.different, 1u);
  EXPECT_THAT(differences, HasSubstr("/starts/0/attempt"));
}

TEST(Replay, LeavesOutALastLineThatWasCutShort) {
  const std::string recording = Recording();
  const Report whole = Played(recording);
  const Report cut = Played(recording.substr(0, recording.size() - 20));
  EXPECT_EQ(cut.error, "");
  EXPECT_EQ(cut.cycles + 1, whole.cycles);
}

TEST(Replay, NamesTheLineThatItCannotRead) {
  EXPECT_THAT(Played("{\"kind\":\"cycle\",\"snapshot\":{},\"decision\":{}}\n").error,
              HasSubstr("line 1: a cycle before any site"));
  EXPECT_THAT(Played("nonsense\n").error, HasSubstr("line 1"));
  EXPECT_THAT(Played("{\"kind\":\"poem\"}\n").error, HasSubstr("neither a site nor a cycle"));
  EXPECT_THAT(Played("{\"kind\":\"site\",\"text\":\"pools: 3\",\"file\":\"s.yaml\"}\n").error,
              HasSubstr("s.yaml"));
}

TEST(Recorder, HoldsNoCommandsNorVariablesAndStopsAtItsLimit) {
  const std::string recording = Recording();
  EXPECT_EQ(recording.find("s3cret"), std::string::npos);
  EXPECT_EQ(recording.find("\"command\""), std::string::npos);

  Rig rig;
  auto opened = run::Recorder::Open(rig.dir / "small.jsonl", 100);
  ASSERT_TRUE(opened);
  rig.recorder = *std::move(opened);
  rig.Restart();
  ASSERT_TRUE(rig.Submit());
  rig.Settle();
  EXPECT_EQ(rig.Task().state, model::State::kRunning) << "recording never stops the loop";
  EXPECT_GT(rig.view()->counters.recorder_dropped, 0u);
  EXPECT_LE(std::filesystem::file_size(rig.dir / "small.jsonl"), 100u);
}

}  // namespace
}  // namespace cox::replay
