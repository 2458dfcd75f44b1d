#include "host/plugins.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fakes.hpp"

namespace cox::host {
namespace {

using namespace cox::host::testing;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr uint16_t kFailed = 0xffff;

std::vector<Refusal> Admit(Plugins& plugins, harness::Cluster& cluster) {
  const cox_view& view = cluster.view();
  std::vector<Refusal> out(cluster.asks_of_view().count);
  plugins.Admit(view, cluster.asks_of_view(), out);
  return out;
}

std::vector<int32_t> Filter(Plugins& plugins, harness::Cluster& cluster) {
  const cox_view& view = cluster.view();
  std::vector<int32_t> lanes(view.nodes->stride, -1);
  plugins.Filter(view, harness::Cluster::Shape(), lanes);
  for (size_t n = view.nodes->count; n < lanes.size(); ++n) EXPECT_EQ(lanes[n], 0);
  lanes.resize(view.nodes->count);
  return lanes;
}

std::vector<int32_t> Score(Plugins& plugins, harness::Cluster& cluster) {
  const cox_view& view = cluster.view();
  std::vector<int32_t> scores(view.nodes->stride, -1);
  plugins.Score(view, harness::Cluster::Shape(), scores);
  scores.resize(view.nodes->count);
  return scores;
}

std::vector<int64_t> Rank(Plugins& plugins, harness::Cluster& cluster) {
  std::vector<int64_t> out(2);
  plugins.Rank(cluster.view(), out);
  return out;
}

FaultVerdict Judge(Plugins& plugins, uint32_t cause = COX_CAUSE_EXIT) {
  cox_failure failure{};
  failure.struct_size = sizeof failure;
  failure.cause = cause;
  return plugins.Judge(failure);
}

// ---- merging ----

TEST(Merge, QuotaIsAndAndTheFirstRefusalIsNamed) {
  Plugins plugins = Make({Static<Limit>("a", R"({"units": 2, "code": 4})"),
                          Static<Limit>("b", R"({"units": 1, "code": 5})")});
  auto cluster = Small();
  EXPECT_THAT(Admit(plugins, cluster), ElementsAre(Refusal{1, 5}, Refusal{0, 4}));
}

TEST(Merge, RankIsTheWeightedSum) {
  auto heavy = Static<Linear>("b", R"({"base": 10})");
  heavy.config.weight = 3;
  Plugins plugins = Make({Static<Linear>("a", R"({"base": 100})"), heavy});
  auto cluster = Small();
  EXPECT_THAT(Rank(plugins, cluster), ElementsAre(130, 134));
}

TEST(Merge, FilterIsAndAndTheFirstRefusalIsNamed) {
  Plugins plugins = Make({Static<OneNode>("a", R"({"node": 0, "verdict": 1, "score": 0})"),
                          Static<OneNode>("b", R"({"node": 0, "verdict": 2, "score": 0})"),
                          Static<OneNode>("c", R"({"node": 2, "verdict": 32769, "score": 0})")});
  auto cluster = Small();
  const auto lanes = Filter(plugins, cluster);
  EXPECT_EQ(Refusal::FromLane(lanes[0]), (Refusal{0, 1}));
  EXPECT_EQ(lanes[1], 0);
  EXPECT_EQ(Refusal::FromLane(lanes[2]), (Refusal{2, COX_FIXED | 1}));
  EXPECT_TRUE(Refusal::FromLane(lanes[2]).fixed());
  EXPECT_FALSE(Refusal::FromLane(lanes[0]).fixed());
}

TEST(Merge, ScoreIsTheWeightedSum) {
  auto heavy = Static<OneNode>("b", R"({"node": 1, "verdict": 0, "score": 10000})");
  heavy.config.weight = 1000;
  Plugins plugins = Make({Static<OneNode>("a", R"({"node": 1, "verdict": 0, "score": 7})"), heavy});
  auto cluster = Small();
  EXPECT_THAT(Score(plugins, cluster), ElementsAre(0, 10'000'007, 0));
}

TEST(Merge, OfTwoFaultVerdictsTheSafestWins) {
  const char* retry =
      R"({"class": 2, "retry": 1, "counts": 0, "exclude": 1, "backoff": 10, "reason": "Retry"})";
  const char* longer =
      R"({"class": 4, "retry": 1, "counts": 1, "exclude": 0, "backoff": 90, "reason": "Longer"})";
  const char* fail =
      R"({"class": 1, "retry": 0, "counts": 0, "exclude": 0, "backoff": 0, "reason": "Fail"})";
  Plugins both = Make({Static<Ruling>("a", retry), Static<Ruling>("b", longer)});
  FaultVerdict verdict = Judge(both);
  EXPECT_TRUE(verdict.retry && verdict.counts && verdict.exclude_node);
  EXPECT_EQ(verdict.backoff, Duration(90));
  EXPECT_EQ(verdict.exclude_ttl, Duration(90));
  EXPECT_EQ(verdict.reason, "Retry") << "the words of the first";
  EXPECT_EQ(verdict.failure_class, model::FailureClass::kInfra);

  for (const bool fail_first : {true, false}) {
    Plugins mixed = fail_first ? Make({Static<Ruling>("a", fail), Static<Ruling>("b", retry)})
                               : Make({Static<Ruling>("a", retry), Static<Ruling>("b", fail)});
    verdict = Judge(mixed);
    EXPECT_FALSE(verdict.retry);
    EXPECT_EQ(verdict.reason, "Fail");
    EXPECT_EQ(verdict.failure_class, model::FailureClass::kNonRetryable);
  }
}

TEST(Merge, WithoutPluginsEverythingIsAllowedAndNothingIsRetried) {
  Plugins none;
  auto cluster = Small();
  EXPECT_THAT(Admit(none, cluster), ElementsAre(Refusal{}, Refusal{}));
  EXPECT_THAT(Filter(none, cluster), ElementsAre(0, 0, 0));
  EXPECT_THAT(Rank(none, cluster), ElementsAre(0, 0));
  EXPECT_FALSE(Judge(none).retry);
  EXPECT_EQ(Judge(none, COX_CAUSE_NODE).failure_class, model::FailureClass::kInfra);
  EXPECT_EQ(Judge(none, COX_CAUSE_SPOT_EVICTED).failure_class, model::FailureClass::kPreempted);
  EXPECT_EQ(Judge(none, COX_CAUSE_HANG).failure_class, model::FailureClass::kHang);
  for (int p = 0; p < kPoints; ++p) EXPECT_FALSE(none.Offers(static_cast<Point>(p)));
}

// ---- explanations ----

TEST(Explain, QuotaTellsWhatThePluginSays) {
  Plugins plugins = Make({Static<Limit>("limits", R"({"units": 1, "code": 3})")});
  auto cluster = Small();
  const cox_view& view = cluster.view();
  const Reason reason = plugins.ExplainQuota(view, cluster.asks_of_view(), 1, {0, 3});
  EXPECT_EQ(reason.instance, "limits");
  EXPECT_EQ(reason.code, "TooMuch");
  EXPECT_EQ(reason.text, "ask 1");
  EXPECT_EQ(reason.policy, "q-1");
  EXPECT_EQ(reason.retry_at, FromNanos(5));
  EXPECT_EQ(reason.ledger_row, COX_NONE) << "a row outside the ledger is not believed";
}

TEST(Explain, APluginThatCannotExplainIsSpokenForByItsReason) {
  Plugins plugins = Make({Static<Limit>("limits", R"({"units": 1, "code": 3})"),
                          Static<OneNode>("nodes", R"({"node": 0, "verdict": 1, "score": 0})")});
  auto cluster = Small();
  const cox_view& view = cluster.view();
  const Reason quota = plugins.ExplainQuota(view, cluster.asks_of_view(), 0, {0, 3});
  EXPECT_EQ(quota.code, "InsufficientQuota");
  EXPECT_EQ(quota.text, "over the limit");
  EXPECT_EQ(quota.retry_at, kNever);
  const uint32_t nodes[] = {0, 2};
  const Reason node = plugins.ExplainNodes(view, harness::Cluster::Shape(), {1, 1}, nodes);
  EXPECT_EQ(node.code, "NodePolicy");
  EXPECT_EQ(node.text, "no: n1,n3");
}

// ---- what a failing plugin may do ----

TEST(Misbehaving, QuotaAndFilterDenyAndTheRestContributesNothing) {
  Plugins plugins = Make({Static<Thrower>("broken"), Static<Linear>("ok", R"({"base": 1})")});
  auto cluster = Small();
  EXPECT_THAT(Admit(plugins, cluster), ElementsAre(Refusal{0, kFailed}, Refusal{0, kFailed}));
  for (const int32_t lane : Filter(plugins, cluster))
    EXPECT_EQ(Refusal::FromLane(lane), (Refusal{0, kFailed}));
  EXPECT_THAT(Score(plugins, cluster), ElementsAre(0, 0, 0));
  EXPECT_THAT(Rank(plugins, cluster), ElementsAre(1, 2));
  EXPECT_FALSE(Judge(plugins).retry);
  plugins.Observe({}, {});
  const Reason why =
      plugins.ExplainQuota(cluster.view(), cluster.asks_of_view(), 0, Refusal{0, kFailed});
  EXPECT_EQ(why.code, "PluginFailed");
  EXPECT_THAT(why.text, AllOf(HasSubstr("plugin broken cannot judge"),
                              HasSubstr("threw something that is no std::exception")));
  const uint32_t node[] = {0};
  EXPECT_EQ(plugins.ExplainNodes(cluster.view(), {}, Refusal{0, kFailed}, node).code,
            "PluginFailed");
}

TEST(Misbehaving, OnErrorAllowLetsQuotaAndFilterPass) {
  auto broken = Static<Thrower>("broken");
  broken.config.on_error = "allow";
  Plugins plugins = Make({broken});
  auto cluster = Small();
  EXPECT_THAT(Admit(plugins, cluster), ElementsAre(Refusal{}, Refusal{}));
  EXPECT_THAT(Filter(plugins, cluster), ElementsAre(0, 0, 0));
}

TEST(Misbehaving, AVerdictThatIsNoReasonCodeCountsAsAFailure) {
  auto cluster = Small();
  for (const char* code : {"32767", "32768", "65535"}) {  // the host's own; FIXED alone; both
    Plugins plugins =
        Make({Static<Limit>("q", std::string(R"({"units": 1, "code": )") + code + "}")});
    EXPECT_THAT(Admit(plugins, cluster), ElementsAre(Refusal{0, kFailed}, Refusal{0, kFailed}));
    EXPECT_THAT(plugins.TakeNotices()[0].text, HasSubstr("verdict " + std::string(code)));
  }
  for (const char* verdict : {"-1", "65536", "32767", "32768"}) {
    Plugins plugins = Make({Static<OneNode>(
        "f", std::string(R"({"node": 1, "score": 0, "verdict": )") + verdict + "}")});
    for (const int32_t lane : Filter(plugins, cluster))
      EXPECT_EQ(Refusal::FromLane(lane), (Refusal{0, kFailed})) << verdict;
  }
}

TEST(Misbehaving, AScoreOutOfRangeContributesNothing) {
  auto cluster = Small();
  for (const char* score : {"-1", "10001"}) {
    Plugins plugins = Make({Static<OneNode>(
        "s", std::string(R"({"node": 1, "verdict": 0, "score": )") + score + "}")});
    EXPECT_THAT(Score(plugins, cluster), ElementsAre(0, 0, 0));
    EXPECT_THAT(plugins.TakeNotices()[0].text,
                HasSubstr("score " + std::string(score) + " of row 1 is outside 0..10000"));
  }
}

TEST(Misbehaving, ARankOutOfRangeContributesNothing) {
  Plugins plugins = Make({Static<Linear>("r", R"({"base": 1099511627776})")});  // 2^40, then + 1
  auto cluster = Small();
  EXPECT_THAT(Rank(plugins, cluster), ElementsAre(0, 0));
}

TEST(Misbehaving, AFaultVerdictOutOfRangeIsNoVerdict) {
  Plugins unknown_class = Make({Static<Ruling>(
      "c", R"({"class": 5, "retry": 1, "counts": 1, "exclude": 0, "backoff": 1, "reason": "R"})")});
  EXPECT_FALSE(Judge(unknown_class).retry);
  Plugins negative = Make({Static<Ruling>(
      "n",
      R"({"class": 2, "retry": 1, "counts": 1, "exclude": 0, "backoff": -1, "reason": "R"})")});
  EXPECT_FALSE(Judge(negative).retry);
}

int32_t Return17(void*, const cox_view*, int64_t*, cox_error* error) {
  std::memset(error->text, 'x', sizeof error->text);  // not terminated
  return 17;
}

TEST(Misbehaving, AnUnknownErrorCodeAndATextWithoutEndAreSurvived) {
  static const cox_priority priority = {sizeof priority, 0, &Return17};
  static cox_plugin table = *TableOf<Linear>();
  table.extension = [](void*, const char* id) -> const void* {
    return std::string(id) == COX_EXT_PRIORITY ? &priority : nullptr;
  };
  Plugins plugins = Make({{&table, Named("odd", R"({"base": 0})")}});
  auto cluster = Small();
  EXPECT_THAT(Rank(plugins, cluster), ElementsAre(0, 0));
  EXPECT_THAT(plugins.TakeNotices()[0].text,
              HasSubstr("rank: returned 17, which is no COX_ code: xxx"));
}

TEST(Misbehaving, ATableThatIsTooShortForItsHookIsNotCalled) {  // an older minor
  static const cox_priority priority = {sizeof(uint32_t) * 2, 0, &Return17};
  static cox_plugin table = *TableOf<Linear>();
  table.extension = [](void*, const char* id) -> const void* {
    return std::string(id) == COX_EXT_PRIORITY ? &priority : nullptr;
  };
  const auto plugins = Plugins::Create({StaticPlugin{&table, Named("old", R"({"base": 0})")}});
  ASSERT_FALSE(plugins);
  EXPECT_THAT(plugins.error().text, HasSubstr("plugin old: offers none of the extensions"));
}

// ---- quarantine ----

TEST(Quarantine, BeginsOnlyWhenTheCycleEnds) {
  auto broken = Static<Thrower>("broken");
  broken.config.max_errors = 2;
  Plugins plugins = Make({broken});
  auto cluster = Small();
  for (int call = 0; call < 5; ++call) Rank(plugins, cluster);
  EXPECT_EQ(plugins.Status()[0].quarantined, "");
  EXPECT_EQ(plugins.Status()[0].points[int(Point::kPriority)].calls, 5U);
  plugins.EndCycle();
  EXPECT_THAT(plugins.Status()[0].quarantined, HasSubstr("2 errors in a row, the last: rank: "));
  Rank(plugins, cluster);
  EXPECT_EQ(plugins.Status()[0].points[int(Point::kPriority)].calls, 5U) << "not asked any more";
}

TEST(Quarantine, DeniesLikeAnError) {
  auto broken = Static<Thrower>("broken");
  broken.config.max_errors = 1;
  Plugins plugins = Make({broken});
  auto cluster = Small();
  Admit(plugins, cluster);
  plugins.EndCycle();
  EXPECT_THAT(Admit(plugins, cluster), ElementsAre(Refusal{0, kFailed}, Refusal{0, kFailed}));
  EXPECT_THAT(
      plugins.ExplainQuota(cluster.view(), cluster.asks_of_view(), 0, Refusal{0, kFailed}).text,
      HasSubstr("in quarantine until it is reloaded"));
}

TEST(Quarantine, IsToldOnceAsANotice) {
  auto broken = Static<Thrower>("broken");
  broken.config.max_errors = 1;
  Plugins plugins = Make({broken});
  auto cluster = Small();
  Rank(plugins, cluster);
  plugins.EndCycle();
  plugins.EndCycle();
  const auto notices = plugins.TakeNotices();
  ASSERT_THAT(notices, SizeIs(2));
  EXPECT_FALSE(notices[0].quarantine) << "the error itself";
  EXPECT_TRUE(notices[1].quarantine);
  EXPECT_THAT(notices[1].text, HasSubstr("quarantined: 1 errors in a row"));
  EXPECT_THAT(plugins.TakeNotices(), IsEmpty());
}

// Fails every other time.
class Flaky final : public Priority {
 public:
  explicit Flaky(const cox::Config&) {}
  void Rank(const cox_view&, Span<int64_t>) override {
    if (++calls_ % 2 == 1) throw std::runtime_error("flaky");
  }

 private:
  int calls_ = 0;
};

TEST(Quarantine, CountsErrorsInARowOnly) {
  auto flaky = Static<Flaky>("flaky");
  flaky.config.max_errors = 2;
  Plugins plugins = Make({flaky});
  auto cluster = Small();
  for (int call = 0; call < 20; ++call) Rank(plugins, cluster);
  plugins.EndCycle();
  EXPECT_EQ(plugins.Status()[0].quarantined, "");
  EXPECT_EQ(plugins.Status()[0].points[int(Point::kPriority)].errors, 10U);
}

TEST(Quarantine, OverrunsOfTheBudgetLeadThereWithoutChangingTheAnswer) {
  int64_t now = 0;
  Options options;
  options.max_overruns = 3;
  options.ticks = [&now] { return now += 60'000'000; };  // each call takes 60 ms
  auto slow = Static<Linear>("slow", R"({"base": 1})");
  slow.config.budget_ms = 50;
  Plugins plugins = Make({slow}, options);
  auto cluster = Small();
  for (int call = 0; call < 3; ++call) EXPECT_THAT(Rank(plugins, cluster), ElementsAre(1, 2));
  EXPECT_EQ(plugins.Status()[0].points[int(Point::kPriority)].overruns, 3U);
  EXPECT_EQ(plugins.Status()[0].points[int(Point::kPriority)].nanos, 180'000'000);
  plugins.EndCycle();
  EXPECT_EQ(plugins.Status()[0].quarantined, "rank took longer than budget_ms=50 3 times");
  EXPECT_THAT(Rank(plugins, cluster), ElementsAre(0, 0));
}

TEST(Quarantine, WithinTheBudgetIsNoOverrun) {
  int64_t now = 0;
  Options options;
  options.ticks = [&now] { return now += 50'000'000; };
  auto ok = Static<Linear>("ok", R"({"base": 1})");
  ok.config.budget_ms = 50;
  Plugins plugins = Make({ok}, options);
  auto cluster = Small();
  Rank(plugins, cluster);
  EXPECT_EQ(plugins.Status()[0].points[int(Point::kPriority)].overruns, 0U);
}

// ---- life ----

// Logs and counts.
class Talker final : public Priority {
 public:
  explicit Talker(const cox::Config& c) : host_(c), lines_(c.Int("lines")) {}
  void Rank(const cox_view&, Span<int64_t>) override {
    for (int64_t i = 0; i < lines_; ++i) host_.Warn("line " + std::to_string(i));
    host_.Count("ranked", 2);
  }

 private:
  Host host_;
  int64_t lines_;
};

TEST(Life, WhatAPluginLogsIsBoundedAndNamed) {
  Plugins plugins = Make({Static<Talker>("talker", R"({"lines": 300})")});
  auto cluster = Small();
  Rank(plugins, cluster);
  const auto notices = plugins.TakeNotices();
  ASSERT_THAT(notices, SizeIs(257));
  EXPECT_EQ(notices[0].text, "line 0");
  EXPECT_EQ(notices[0].instance, "talker");
  EXPECT_EQ(notices[0].level, Notice::Level::kWarn);
  EXPECT_EQ(notices[256].text, "44 more lines were dropped");
  EXPECT_THAT(plugins.Status()[0].counters, ElementsAre(std::pair("ranked", 2.0)));
}

TEST(Life, StatusSaysWhatAnInstanceOffers) {
  Plugins plugins = Make({Static<OneNode>("n", R"({"node": 0, "verdict": 0, "score": 0})")});
  const InstanceStatus status = plugins.Status()[0];
  EXPECT_EQ(status.id, "test.fake");
  EXPECT_EQ(status.version, "1.0");
  EXPECT_EQ(status.summary, "a fake");
  EXPECT_TRUE(status.points[int(Point::kFilter)].offered);
  EXPECT_TRUE(status.points[int(Point::kScore)].offered);
  EXPECT_FALSE(status.points[int(Point::kQuota)].offered);
  EXPECT_TRUE(plugins.Offers(Point::kFilter));
  EXPECT_FALSE(plugins.Offers(Point::kMonitor));
}

int live = 0;
class Counted final : public Priority {
 public:
  explicit Counted(const cox::Config& c) {
    if (c.Int("fail") != 0) throw std::runtime_error("does not want to");
    ++live;
  }
  ~Counted() override { --live; }
  void Rank(const cox_view&, Span<int64_t>) override {}
};

TEST(Life, AFailedCreateLeavesNothingBehindAndTheOldSetWhole) {
  Plugins old = Make({Static<Counted>("a", R"({"fail": 0})")});
  const auto fresh = Plugins::Create(
      {Static<Counted>("a", R"({"fail": 0})"), Static<Counted>("b", R"({"fail": 1})")});
  ASSERT_FALSE(fresh);
  EXPECT_EQ(fresh.error().text, "plugin b: cannot be created: internal error: does not want to");
  EXPECT_EQ(live, 1);
  old = Make({Static<Counted>("a", R"({"fail": 0})"), Static<Counted>("c", R"({"fail": 0})")});
  EXPECT_EQ(live, 2) << "the new set lives, the old one is destroyed";
}

TEST(Life, SettingsThatCannotBeMeantAreRefused) {
  const auto error = [](auto change) {
    auto plugin = Static<Linear>("a", R"({"base": 1})");
    change(plugin.config);
    const auto made = Plugins::Create({Static<Linear>("first", R"({"base": 1})"), plugin});
    return made ? std::string() : made.error().text;
  };
  using C = spec::PluginConfig;
  EXPECT_THAT(error([](C& c) { c.name = "first"; }),
              HasSubstr("two plugin instances are named first"));
  EXPECT_THAT(error([](C& c) { c.name = ""; }), HasSubstr("without a name"));
  EXPECT_THAT(error([](C& c) { c.weight = 1001; }), HasSubstr("weight 1001 is outside 0..1000"));
  EXPECT_THAT(error([](C& c) { c.weight = -1; }), HasSubstr("weight -1"));
  EXPECT_THAT(error([](C& c) { c.on_error = "ignore"; }), HasSubstr("neither allow nor deny"));
  EXPECT_THAT(error([](C& c) { c.budget_ms = 0; }), HasSubstr("at least 1"));
}

TEST(Life, TheSameCallTwiceGivesTheSameBytes) {
  Plugins plugins = Make({Static<OneNode>("a", R"({"node": 0, "verdict": 1, "score": 5})"),
                          Static<Limit>("b", R"({"units": 2, "code": 3})")});
  auto cluster = Small();
  EXPECT_EQ(Filter(plugins, cluster), Filter(plugins, cluster));
  EXPECT_EQ(Score(plugins, cluster), Score(plugins, cluster));
  EXPECT_EQ(Admit(plugins, cluster), Admit(plugins, cluster));
}

}  // namespace
}  // namespace cox::host
