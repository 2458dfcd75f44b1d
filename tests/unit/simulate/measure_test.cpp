#include "simulate/report.hpp"
#include "unit/simulate/fixture.hpp"

namespace cox::simulate::test {
namespace {

using testing::HasSubstr;
using testing::Not;

// One node of 8 GPUs; each job is (tenant, submit, start, end, GPUs).
struct Line {
  const char* tenant;
  int64_t submit, start, end, gpus;
};

Record Made(const std::vector<Line>& lines, int64_t nodes = 1) {
  Record record;
  record.name = "it";
  for (int64_t i = 0; i < nodes; ++i)
    record.nodes.push_back({"n" + std::to_string(i), {0, 0, 8000}});
  for (const Line& line : lines) {
    JobRecord job;
    job.id = "j" + std::to_string(record.jobs.size());
    job.tenant = line.tenant;
    job.group = "reserved, medium";
    job.submit = line.submit;
    job.run = line.end - line.start;
    job.need.gpu_milli = line.gpus * 1000;
    job.start = line.start;
    job.end = line.end;
    if (line.start >= 0) {
      Run run;
      run.job = static_cast<uint32_t>(record.jobs.size());
      run.start = line.start;
      run.end = line.end;
      run.nodes = {0};
      record.runs.push_back(run);
    }
    record.until = std::max(record.until, line.end);
    record.jobs.push_back(job);
  }
  std::ranges::stable_sort(record.runs, {}, &Run::start);
  return record;
}

TEST(Measure, AllocationCountsUntilTheLastJobHasStarted) {
  // 4 of 8 for 10 s, then 8 of 8 for 10 s, then 8 s of an end that nobody decides about.
  const Report r = Measure(Made({{"a", 0, 0, 20, 4}, {"a", 10, 10, 20, 4}, {"a", 15, 20, 28, 8}}));
  EXPECT_NEAR(r.allocation, (4 * 10 + 8 * 10) / (8.0 * 20), 1e-9);
  EXPECT_NEAR(r.allocation_queued, 1.0, 1e-9) << "from 15 to 20 somebody waited";
  EXPECT_EQ(r.capacity, 8);
  EXPECT_EQ(r.makespan, 28);
}

TEST(Measure, WaitsAndJctsHaveMeansAndPercentiles) {
  std::vector<Line> lines;
  for (int64_t i = 0; i < 100; ++i) lines.push_back({"a", 0, i, i + 1, 8});
  const Report r = Measure(Made(lines));
  EXPECT_NEAR(r.all.wait.mean, 49.5, 1e-9);
  EXPECT_EQ(r.all.wait.median, 49);
  EXPECT_EQ(r.all.wait.p99, 98);
  EXPECT_EQ(r.all.wait.most, 99);
  EXPECT_EQ(r.all.jct.p99, 99);
  EXPECT_EQ(r.wait_quantiles.front(), 0);
  EXPECT_EQ(r.wait_quantiles.back(), 99);
}

TEST(Measure, FragmentationIsFreeRoomThatTheNextReplicaCannotUse) {
  // 6 of 8 GPUs in use and 2 free, while one of size 4 waits: of the trace's three replicas only
  // the one of size 2 would fit.
  const Report r = Measure(Made({{"a", 0, 0, 10, 6}, {"a", 0, 10, 20, 4}, {"a", 10, 10, 12, 2}}));
  EXPECT_NEAR(r.fragmentation, 2.0 / 3, 1e-9);
}

TEST(Measure, StarvedIsWhoWasOvertakenAfterADay) {
  constexpr int64_t kDay = 86'400;
  const auto starved = [](const std::vector<Line>& lines) {
    return Measure(Made(lines)).all.starved;
  };
  EXPECT_EQ(starved({{"a", 0, 2 * kDay, 2 * kDay + 1, 8}, {"a", 10, kDay + 9, kDay + 10, 1}}), 1);
  EXPECT_EQ(starved({{"a", 0, 2 * kDay, 2 * kDay + 1, 8}, {"a", 10, kDay - 9, kDay, 1}}), 0)
      << "within the first day";
  EXPECT_EQ(starved({{"a", 10, 2 * kDay, 2 * kDay + 1, 8}, {"a", 0, kDay + 20, kDay + 30, 1}}), 0)
      << "it came first";
  Record high = Made({{"a", 0, 2 * kDay, 2 * kDay + 1, 8}, {"a", 10, kDay + 9, kDay + 10, 1}});
  high.jobs[1].priority = 2;
  EXPECT_EQ(Measure(high).all.starved, 0) << "by a higher priority that is right";
}

TEST(Measure, FairnessIsOneWhenAllAreServedAlike) {
  EXPECT_NEAR(Measure(Made({{"a", 0, 0, 10, 8}, {"b", 0, 0, 10, 8}})).fairness, 1, 1e-9);
  // a is served all of its time, b a tenth of it.
  const Report r = Measure(Made({{"a", 0, 0, 10, 8}, {"b", 0, 90, 100, 8}}));
  EXPECT_NEAR(r.fairness, 1.1 * 1.1 / (2 * (1 + 0.01)), 1e-9);
}

TEST(Measure, GroupsAreTenantsClassesAndSizesTheLargestFirst) {
  const Report r = Measure(Made({{"a", 0, 0, 10, 1}, {"b", 0, 0, 10, 7}}));
  ASSERT_EQ(r.groups.size(), 5U);
  EXPECT_EQ(r.groups[0].name, "b");
  EXPECT_NEAR(r.groups[0].share, 7.0 / 8, 1e-9);
  EXPECT_EQ(r.groups[2].name, "reserved, medium");
  EXPECT_EQ(r.groups[3].name, "2-8 GPU");
  EXPECT_EQ(r.groups[4].name, "up to 1 GPU");
}

TEST(Measure, CurvesAreMeansOverEqualSteps) {
  const Curves c = Measure(Made({{"a", 0, 0, 600, 4}, {"b", 0, 600, 1199, 8}})).curves;
  EXPECT_EQ(c.step, 3);
  EXPECT_NEAR(c.used[0], 4, 1e-9);
  EXPECT_NEAR(c.used[300], 8, 1e-9);
  EXPECT_NEAR(c.queued_jobs[100], 1, 1e-9);
  EXPECT_NEAR(c.queued_units[100], 8, 1e-9);
  EXPECT_NEAR(c.queued_jobs[300], 0, 1e-9);
  EXPECT_NEAR(c.shares[0][300] + c.shares[1][300], 8, 1e-9);
}

TEST(Measure, OfManyTenantsTheSmallOnesShareACurve) {
  std::vector<Line> lines;
  static std::vector<std::string> names;
  for (int i = 0; i < 20; ++i) names.push_back("t" + std::to_string(i));
  for (int i = 0; i < 20; ++i) lines.push_back({names[i].c_str(), 0, i * 10, i * 10 + 10, 8});
  const Curves c = Measure(Made(lines)).curves;
  ASSERT_EQ(c.tenants.size(), 12U);
  EXPECT_EQ(c.tenants.back(), "others");
}

TEST(Measure, NothingAtAllIsNoDivisionByNothing) {
  const Report r = Measure(Made({{"a", 0, -1, -1, 8}}));
  EXPECT_EQ(r.allocation, 0);
  EXPECT_EQ(r.fairness, 1);
  EXPECT_EQ(r.all.never_started, 1);
}

Outcome Of(const Record& record) {
  return {record, Measure(record)};
}

TEST(Report, ThePageIsOneFileWithoutAnyAddress) {
  Record record = Made({{"</script><b>", 0, 0, 10, 1}});
  const std::string page = ToHtml({}, {Of(record)}, std::nullopt);
  EXPECT_THAT(page, HasSubstr("<\\/script><b>")) << "names cannot end the script";
  EXPECT_THAT(page, Not(HasSubstr("@DATA@")));
  for (const char* address : {"src=", "href=", "@import", "url(", "fetch("}) {
    EXPECT_THAT(page, Not(HasSubstr(address)));
  }
}

TEST(Report, TheGanttChartShowsTheWindow) {
  const Record record = Made({{"a", 0, 0, 10, 1}, {"a", 0, 50, 60, 1}});
  const std::string page = ToHtml({}, {Of(record)}, std::pair<int64_t, int64_t>(40, 100));
  EXPECT_THAT(page, HasSubstr("\"bars\":[[50,60,1,0,0]]"));
  EXPECT_THAT(page, HasSubstr("\"from\":40,\"to\":100"));
}

TEST(Report, OfALongTraceTheBusiestTimeIsShown) {
  std::vector<Line> lines;
  for (int64_t i = 0; i < 6000; ++i)
    lines.push_back({"a", std::min<int64_t>(i * 10, 30'000), i * 10, i * 10 + 10, 8});
  const std::string page = ToHtml({}, {Of(Made(lines))}, std::nullopt);
  EXPECT_THAT(page, HasSubstr("\"all\":true"));
  EXPECT_THAT(page, Not(HasSubstr("\"from\":0,\"to\":60000")));
}

}  // namespace
}  // namespace cox::simulate::test
