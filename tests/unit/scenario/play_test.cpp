// Scenarios that are played: what each event does, what is compared, what is always checked.
#include <fstream>
#include <iterator>

#include "unit/scenario/play.hpp"

namespace cox::scenario::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const std::string kOne = "nodes: [{name: n1}]\n";

TEST(ScenarioPlay, TheExampleOfTheManualPasses) {
  std::ifstream file(std::string(COX_SOURCE_DIR) + "/docs/scenarios.md");
  const std::string page{std::istreambuf_iterator<char>(file), {}};
  const std::string fence = "```yaml\n";
  const size_t begin = page.find(fence) + fence.size();
  EXPECT_EQ(Differences(page.substr(begin, page.find("```", begin) - begin)), "");
}

TEST(ScenarioPlay, JobsRunForTheirTimeInTheOrderOfTheQueue) {
  const Verdict v = Played(kOne + "jobs: [{id: A, run: 10}, {id: B, run: 5}, {id: C, run: 0}]\n");
  ASSERT_TRUE(v.passed());
  EXPECT_THAT(v.history.jobs[0].runs, ElementsAre(AttemptHistory{0, 10, {"n1"}}));
  EXPECT_THAT(v.history.jobs[1].runs, ElementsAre(AttemptHistory{10, 15, {"n1"}}));
  EXPECT_THAT(v.history.jobs[2].runs, ElementsAre(AttemptHistory{15, 15, {"n1"}}));
  EXPECT_EQ(v.history.jobs[2].state, "Succeeded");
}

TEST(ScenarioPlay, EveryKindOfDifferenceNamesItsLine) {
  EXPECT_EQ(
      Differences(kOne + Lines({
                             "jobs: [{id: A, run: 10}, {id: B, run: 5}, {id: C}, {id: D, at: 30}]",
                             "until: 12",
                             "expect:",
                             "  jobs:",
                             "    A: {start: [0, 4], nodes: n2, end: never, evicted: 3}",
                             "    B: {wait: 3, state: Failed, says: [Pending, oops]}",
                             "    C: {start: 1, wait: 0, retries: 1, preemptions: 2}",
                             "  at:",
                             "  - t: 5",
                             "    says: {D: Running}",
                             "    running: [A, B]",
                             "    free: {n1: 8}",
                             "  - {t: 6, used: {tenant: {team: 3}}, earliest: {B: 9}}",
                             "  totals: {starts: 9, evictions: 1, end: 11}",
                         })),
      "6: A.start: expected 0, 4, got 0\n"
      "6: A.nodes: expected n2, got n1\n"
      "6: A.end: expected never, got 10\n"
      "6: A.evicted: expected 3, got never\n"
      "7: B.wait: expected 3, got 10\n"
      "7: B.state: expected Failed, got Running\n"
      "7: B.says: expected something with \"Pending\", got \"Running Started: all replicas "
      "run\"\n"
      "7: B.says: expected something with \"oops\", got \"Running Started: all replicas "
      "run\"\n"
      "8: C.start: expected 1, got never\n"
      "8: C.wait: expected 0, got never\n"
      "8: C.retries: expected 1, got 0\n"
      "8: C.preemptions: expected 2, got 0\n"
      "10: t=5: D says: expected something with \"Running\", got nothing: it is not known "
      "then\n"
      "10: t=5: running: expected A, B, got A\n"
      "10: t=5: free GPUs of n1: expected 8, got 0\n"
      "14: t=6: B earliest: expected 9, got never\n"
      "14: t=6: tenant team uses: expected 3, got 8\n"
      "15: totals.starts: expected 9, got 2\n"
      "15: totals.evictions: expected 1, got 0\n"
      "15: totals.end: expected 11, got 10\n");
}

TEST(ScenarioPlay, AnEvictedJobUsesItsGraceAndStartsAgain) {
  EXPECT_EQ(
      Differences(kOne + Lines({
                             "jobs:",
                             "- {id: S, capacity: spot, grace: 5, retries: 0, run: 50}",
                             "- {id: H, at: 10, run: 20, priority: high}",
                             "expect:",
                             "  jobs:",
                             "    S: {start: [0, 35], end: [15, 85], nodes: [n1, n1], evicted: 10,",
                             "        preemptions: 1, retries: 0, state: Succeeded}",
                             "    H: {start: 15, end: 35}",
                             "  at: [{t: 12, free: {n1: 0}, running: [S]}]",
                             "  totals: {evictions: 1, starts: 3, end: 85}",
                         })),
      "");
}

TEST(ScenarioPlay, AttemptsEndInEveryWay) {
  EXPECT_EQ(Differences(Lines({
                "nodes: [{name: 'n[1-6]'}]",
                "jobs:",
                "- {id: limit, run: 50, wall: 20}",
                "- {id: code, run: 10, exit: 3}",
                "- {id: dead, wall: unknown}",
                "- {id: told, run: 100}",
                "- {id: fault, retries: 1}",
                "- {id: stopped, grace: 4}",
                "events:",
                "- {at: 5, down: n3}",
                "- {at: 6, end: told}",
                "- {at: 7, end: fault, cause: oom, node: n5}",
                "- {at: 7, end: told}",  // has ended: nothing
                "- {at: 8, cancel: stopped}",
                "expect:",
                "  jobs:",
                "    limit: {end: 20, state: Failed, says: TimeLimit}",
                "    code: {end: 10, state: Failed, says: exit code 3 on n2}",
                "    dead: {end: 5, state: Failed, says: [NodeFailure, on n3]}",
                "    told: {end: 6, state: Succeeded}",
                "    fault: {end: 7, state: Failed, says: OutOfMemory}",
                "    stopped: {end: 12, state: Stopped, says: StoppedBy=user}",
            })),
            "");
}

TEST(ScenarioPlay, NodesComeAndGo) {
  EXPECT_EQ(Differences(kOne + Lines({
                                   "jobs:",
                                   "- {id: A, run: 10, retries: 5}",
                                   "- {id: B, at: 20, run: 10}",
                                   "- {id: C, at: 40, run: 10}",
                                   "events:",
                                   "- {at: 12, drain: n1}",
                                   "- {at: 25, up: n1}",
                                   "- {at: 36, resize: n1, gpus: 7}",
                                   "- {at: 50, resize: n1, gpus: 8}",
                                   "- {at: 55, remove: n1}",
                                   "- {at: 56, up: n1}",  // is gone: nothing
                                   "expect:",
                                   "  jobs:",
                                   "    A: {start: 0, end: 10}",
                                   "    B: {start: 25}",
                                   "    C: {start: 50, end: 55, state: Failed}",
                                   "  at: [{t: 60, free: {n1: 0}}]",
                               })),
            "");
}

TEST(ScenarioPlay, PoliciesHoldUntilTheirEndAndClocksMayJump) {
  EXPECT_EQ(Differences(kOne + Lines({
                                   "jobs:",
                                   "- {id: A, at: 1, user: u1, run: 5}",
                                   "- {id: B, at: 60, user: u1, run: 5}",
                                   "events:",
                                   "- {at: 0, policy: {user: u1, nodes: n1, until: 50}}",
                                   "- at: 55",
                                   "  policy: {tenant: team, nodes: n9, type: NodeIn, until: 3000}",
                                   "- {at: 80, clock: 3600}",
                                   "expect:",
                                   "  jobs:",
                                   "    A: {start: 50}",
                                   "    B: {start: 80}",
                                   "  at:",
                                   "  - {t: 20, earliest: {A: 50}, says: {A: node blacklist}}",
                               })),
            "");
}

TEST(ScenarioPlay, AKilledSchedulerComesBackAndGoesOn) {
  EXPECT_EQ(Differences(kOne + Lines({
                                   "jobs:",
                                   "- {id: A, run: 10}",
                                   "- {id: B, at: 8, run: 10}",
                                   "- {id: C, at: 22, run: 5}",
                                   "events:",
                                   "- {at: 5, restart: 10}",
                                   "- {at: 9, cancel: C}",  // nobody listens
                                   "- {at: 10, policy: {user: user, nodes: n1, until: 90}}",
                                   "- {at: 12, reload: {org: o}}",
                                   "- {at: 23, restart: 0}",
                                   "expect:",
                                   "  jobs:",
                                   "    A: {start: 0, end: 10, state: Succeeded}",
                                   "    B: {start: 15, end: 25}",
                                   "    C: {start: 25}",
                                   "  at: [{t: 7, running: []}]",
                                   "  totals: {starts: 3, end: 30}",
                               })),
            "");
}

TEST(ScenarioPlay, ReportsMayComeTwiceAndQuotasMayChange) {
  EXPECT_EQ(Differences(Lines({
                "site:",
                "  quotas: [{tenant: team, pool: main, flavor: gpu, units: 8}]",
                "nodes: [{name: 'n[1-2]'}]",
                "jobs: [{id: A, run: 50}, {id: B, run: 50, at: 1}]",
                "events:",
                "- {at: 0, again: B}",  // not submitted yet: nothing
                "- {at: 2, again: A}",
                "- {at: 3, resync: true}",
                "- at: 30",
                "  reload: {quotas: [{tenant: team, pool: main, flavor: gpu, units: 16}]}",
                "- {at: 60, again: A}",
                "expect:",
                "  jobs: {A: {start: 0, end: 50}, B: {start: 30}}",
                "  at:",
                "  - {t: 10, used: {tenant: {team: 8}, user: {user: 8}}, says: {B: 0 of 8 left}}",
                "  - {t: 60, used: {tenant: {team: 8}}}",
            })),
            "");
}

TEST(ScenarioPlay, WithoutAnEndItStopsWhenNothingIsGoingToHappen) {
  const std::string wait = kOne + "jobs: [{id: A, size: 1x9}]\n";
  EXPECT_EQ(Played(wait).history.until, 3600);
  EXPECT_EQ(Played(wait + "until: 50\n").history.until, 50);
  EXPECT_EQ(Played(kOne + "jobs: [{id: A, run: 5}]\nuntil: 77\n").history.until, 77);
  EXPECT_EQ(Played(kOne + "jobs: [{id: A, run: 5}]\n").history.until, 5);
}

TEST(ScenarioPlay, APluginThatIsNotThereIsAnError) {
  const Scenario s = Parsed("site: {plugins: [{path: gone.so}]}\n" + kOne + "jobs: []\n");
  const auto verdict = Judge(s, Options());
  ASSERT_FALSE(verdict);
  EXPECT_THAT(verdict.error().text, HasSubstr("gone.so"));
}

TEST(ScenarioPlay, APluginWhoseAnswersDependOnMoreThanTheFileIsCaught) {
  const Verdict v = Played("site: {plugins: [{path: " COX_FIXTURE_DIR "/moody.so}]}\n" + kOne +
                           "jobs: [{id: A, run: 10}]\n");
  EXPECT_THAT(v.broken, ElementsAre("the same file gave another outcome when it ran again"));
  EXPECT_FALSE(v.passed());
}

TEST(ScenarioPlay, ATemporaryFolderIsNeeded) {
  const Scenario s = Parsed(kOne + "jobs: []\n");
  const char* before = std::getenv("TMPDIR");
  const std::string kept = before == nullptr ? "" : before;
  ::setenv("TMPDIR", "/proc", 1);
  const auto history = Simulate(s, Options());
  if (before == nullptr) {
    ::unsetenv("TMPDIR");
  } else {
    ::setenv("TMPDIR", kept.c_str(), 1);
  }
  EXPECT_FALSE(history);
}

}  // namespace
}  // namespace cox::scenario::test
