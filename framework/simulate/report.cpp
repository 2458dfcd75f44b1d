#include "simulate/report.hpp"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "simulate/page.hpp"

namespace cox::simulate {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kMostBars = 4'000;  // of a gantt chart; more nobody can look at

double Rounded(double value) {
  return std::round(value * 1e4) / 1e4;
}

Json ToJson(const Spread& spread) {
  return {{"mean", Rounded(spread.mean)},
          {"median", spread.median},
          {"p99", spread.p99},
          {"max", spread.most}};
}

Json ToJson(const Group& group) {
  return {{"by", group.by},
          {"name", group.name},
          {"jobs", group.jobs},
          {"ended", group.ended},
          {"refused", group.refused},
          {"neverStarted", group.never_started},
          {"waitSeconds", ToJson(group.wait)},
          {"jctSeconds", ToJson(group.jct)},
          {"preemptions", group.evictions},
          {"starved", group.starved},
          {"unitHours", Rounded(group.unit_hours)},
          {"lostUnitHours", Rounded(group.lost_unit_hours)},
          {"share", Rounded(group.share)}};
}

Json Summary(const Workload& workload, const std::vector<Outcome>& outcomes) {
  Json configurations = Json::array();
  for (const auto& [record, report] : outcomes) {
    Json groups = Json::array();
    for (const Group& group : report.groups) groups.push_back(ToJson(group));
    configurations.push_back({{"name", report.name},
                              {"unit", report.unit},
                              {"capacity", Rounded(report.capacity)},
                              {"allocation", Rounded(report.allocation)},
                              {"allocationWhileQueued", Rounded(report.allocation_queued)},
                              {"fragmentation", Rounded(report.fragmentation)},
                              {"fairness", Rounded(report.fairness)},
                              {"makespanSeconds", report.makespan},
                              {"cycles", report.cycles},
                              {"all", ToJson(report.all)},
                              {"groups", std::move(groups)},
                              {"notes", record.notes}});
  }
  return {{"trace",
           {{"file", workload.file},
            {"format", workload.format},
            {"jobs", workload.jobs.size()},
            {"nodes", outcomes.empty() ? 0 : outcomes.front().record.nodes.size()},
            {"origin", workload.origin},
            {"notes", workload.notes}}},
          {"configurations", std::move(configurations)}};
}

std::string Text(const Json& json, int indent) {
  return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

// ---- The page ----

Json RoundedList(const std::vector<double>& values) {
  Json list = Json::array();
  for (const double value : values) list.push_back(std::round(value * 1e3) / 1e3);
  return list;
}

// The seconds around the longest queue in which about `kMostBars` jobs ran.
std::pair<int64_t, int64_t> BusyWindow(const Outcome& outcome) {
  const Record& record = outcome.record;
  if (record.runs.size() <= kMostBars) return {0, record.until};
  const auto& queue = outcome.report.curves.queued_jobs;
  const auto peak = static_cast<int64_t>(std::ranges::max_element(queue) - queue.begin());
  const int64_t middle = peak * outcome.report.curves.step;
  int64_t half = record.until;
  const auto bars = [&] {
    return std::ranges::count_if(record.runs, [&](const Run& run) {
      return run.start < middle + half && run.end > middle - half;
    });
  };
  while (half > 60 && bars() > static_cast<std::ptrdiff_t>(kMostBars / 2)) half /= 2;
  return {std::max<int64_t>(middle - half, 0), std::min(middle + half, record.until)};
}

// [start, end, job, evicted, nodes...] and what is to be known of the jobs.
Json Gantt(const Record& record, std::pair<int64_t, int64_t> window) {
  Json bars = Json::array(), jobs = Json::object();
  bool all = true;
  for (const Run& run : record.runs) {
    if (run.start >= window.second || run.end <= window.first) continue;
    if (bars.size() == kMostBars) {
      all = false;
      break;
    }
    Json bar = {run.start, run.end, run.job, run.evicted ? 1 : 0};
    for (const uint32_t node : run.nodes) bar.push_back(node);
    bars.push_back(std::move(bar));
    const JobRecord& job = record.jobs[run.job];
    jobs[std::to_string(run.job)] = {job.id, job.tenant, job.user, job.submit};
  }
  Json nodes = Json::array();
  for (const Record::Node& node : record.nodes) nodes.push_back(node.name);
  return {{"from", window.first}, {"to", window.second}, {"all", all},
          {"nodes", nodes},       {"bars", bars},        {"jobs", jobs}};
}

}  // namespace

std::string ToJson(const Workload& workload, const std::vector<Outcome>& outcomes) {
  return Text(Summary(workload, outcomes), 2);
}

std::string ToHtml(const Workload& workload, const std::vector<Outcome>& outcomes,
                   std::optional<std::pair<int64_t, int64_t>> window) {
  Json data = Summary(workload, outcomes);
  if (!window && !outcomes.empty()) window = BusyWindow(outcomes.front());
  for (size_t i = 0; i < outcomes.size(); ++i) {
    const Curves& curves = outcomes[i].report.curves;
    Json shares = Json::array();
    for (const auto& share : curves.shares) shares.push_back(RoundedList(share));
    data["configurations"][i]["curves"] = {{"step", curves.step},
                                           {"used", RoundedList(curves.used)},
                                           {"queuedJobs", RoundedList(curves.queued_jobs)},
                                           {"queuedUnits", RoundedList(curves.queued_units)},
                                           {"fragmented", RoundedList(curves.fragmented)},
                                           {"tenants", curves.tenants},
                                           {"shares", std::move(shares)},
                                           {"waits", outcomes[i].report.wait_quantiles}};
    data["configurations"][i]["gantt"] = Gantt(outcomes[i].record, *window);
  }
  std::string text = Text(data, -1);
  // The text stands in a script element, which only "</" could end.
  for (size_t at = 0; (at = text.find("</", at)) != text.npos; at += 3) text.insert(at + 1, "\\");
  std::string page = PageTemplate();
  const std::string mark = "@DATA@";
  return page.replace(page.find(mark), mark.size(), text);
}

}  // namespace cox::simulate
