#include "run/metrics.hpp"

#include <cox/plugin.hpp>
#include <future>

#include "unit/run/rig.hpp"

namespace cox::run::test {
namespace {

double Value(const std::vector<Sample>& samples, const std::string& name,
             const Labels& labels = {}) {
  for (const Sample& sample : samples) {
    if (sample.name == name && (labels.empty() || sample.labels == labels)) return sample.value;
  }
  return -1;
}

constexpr char kMeasured[] = "  metrics: {enabled: true, port: 9400, path: /m}\n";

TEST(Metrics, UsageEqualsTheSumOfLiveAllocationsRowByRow) {
  Rig rig;
  ASSERT_TRUE(rig.Submit());
  rig.Settle();
  const auto samples = Samples(*rig.view());
  int rows = 0;
  for (const Sample& sample : samples) {
    if (sample.name != "cox_quota_used_units") continue;
    const double live = Value(samples, "cox_live_allocated_units", sample.labels);
    EXPECT_EQ(sample.value, std::max(live, 0.0));
    rows += sample.value == 16;
  }
  EXPECT_EQ(rows, 3);  // tenant, project, user
  EXPECT_EQ(Value(samples, "cox_ledger_consistent"), 1);
  EXPECT_EQ(Value(samples, "cox_tasks", {{"state", "Running"}}), 1);
  EXPECT_EQ(Value(samples, "cox_tasks", {{"state", "Failed"}}), 0);
  EXPECT_EQ(Value(samples, "cox_nodes", {{"ready", "1"}}), 4);
  EXPECT_GE(Value(samples, "cox_cycles_total"), 1);
  EXPECT_EQ(Value(samples, "cox_starts_total"), 1);
  EXPECT_GE(
      Value(samples, "cox_plugin_calls_total", {{"instance", "quota_tree"}, {"point", "quota"}}),
      1);
  EXPECT_EQ(Value(samples, "cox_degraded"), 0);
}

TEST(Metrics, AJobIsATargetWhileItRunsAndOnlyIfItAsked) {
  Rig rig;
  ASSERT_TRUE(rig.Submit(JobText(kMeasured)));
  EXPECT_TRUE(Targets(*rig.view()).empty());
  rig.Settle();
  const auto targets = Targets(*rig.view());
  ASSERT_EQ(targets.size(), 2u);
  EXPECT_EQ(targets[0].path, "/m");
  EXPECT_THAT(targets[0].address, testing::MatchesRegex("10\\.0\\.0\\..:9400"));
  std::vector<std::string> keys;
  for (const auto& [key, value] : targets[0].labels) keys.push_back(key);
  EXPECT_EQ(keys, (std::vector<std::string>{"cluster", "orgname", "user", "module", "task_type",
                                            "task_name", "task_uuid", "resource_pool", "region",
                                            "role", "rank"}));
  EXPECT_EQ(targets[1].labels[6].second, rig.Task().attempt_uuid);
  EXPECT_EQ(targets[1].labels[7].second, "train");
  EXPECT_EQ(targets[1].labels[9].second, "worker");
  EXPECT_EQ(targets[1].labels[10].second, "1");
  rig.batch.Ends("100", 0);
  rig.Settle();
  EXPECT_TRUE(Targets(*rig.view()).empty());
}

// Counts what it is told; what it must hear first is that a job runs.
std::promise<uint32_t>* told = nullptr;
class Ear final : public cox::Monitor {
 public:
  explicit Ear(const cox::Config&) {}
  void Observe(const cox_samples& samples, const cox_targets& targets) override {
    if (told == nullptr || samples.count == 0) return;
    told->set_value(targets.count);
    told = nullptr;
  }
};

TEST(Observer, TellsMonitorPluginsWhatTheLoopPublished) {
  Rig rig;
  ASSERT_TRUE(rig.Submit(JobText(kMeasured)));
  rig.Settle();
  constexpr cox_plugin kEar = cox::MakePlugin<Ear>("test.ear", "1", "listens", "{}");
  host::StaticPlugin plugin;
  plugin.table = &kEar;
  plugin.config.name = "ear";
  auto plugins = host::Plugins::Create({plugin});
  ASSERT_TRUE(plugins) << plugins.error().text;
  auto picture = std::make_shared<Published>(*rig.view());
  picture->plugins = std::make_shared<host::Plugins>(*std::move(plugins));
  std::promise<uint32_t> heard;
  told = &heard;
  {
    Observer observer([&] { return picture; }, std::chrono::hours(1));
    EXPECT_EQ(heard.get_future().get(), 2u);
  }
}

TEST(Observer, WithoutMonitorPluginsItOnlyCountsWhatItMissed) {
  Rig rig;
  rig.Settle();
  Observer observer([&] { return rig.view(); }, std::chrono::hours(1));
  while (observer.skipped() == 0) std::this_thread::yield();
  EXPECT_EQ(observer.observed(), 0u);
}

}  // namespace
}  // namespace cox::run::test
