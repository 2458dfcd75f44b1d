// The right outcome, as its author wrote it.
#include <algorithm>

#include "scenario/reading.hpp"

namespace cox::scenario {
namespace {

// A time, a list of them, or never.
Times ReadTimes(const Item& item, const char* key, Complaints& complaints) {
  const json& value = item[key];
  if (value.is_array()) return value.get<Times>();
  if (value.is_number()) return {value.get<int64_t>()};
  if (value != "never") complaints.Add(item.At(key), "is a time, a list of times, or never");
  return {};
}

std::vector<std::string> ReadTexts(const json& value) {
  if (value.is_string()) return {value.get<std::string>()};
  return value.get<std::vector<std::string>>();
}

template <class T>
void Take(const Item& item, const char* key, std::optional<T>& to) {
  if (item.has(key)) to = item[key].get<T>();
}

ExpectedJob ReadJob(const Item& item, Complaints& complaints) {
  ExpectedJob job;
  job.line = item.line;
  if (item.has("start")) job.starts = ReadTimes(item, "start", complaints);
  if (item.has("end")) job.ends = ReadTimes(item, "end", complaints);
  if (item.has("evicted")) job.evicted = ReadTimes(item, "evicted", complaints);
  Take(item, "wait", job.wait);
  Take(item, "state", job.state);
  Take(item, "retries", job.retries);
  Take(item, "preemptions", job.preemptions);
  if (item.has("says")) job.says = ReadTexts(item["says"]);
  if (item.has("nodes")) {
    for (const std::string& text : ReadTexts(item["nodes"])) {
      if (!job.nodes) job.nodes.emplace();
      job.nodes->push_back(Names(item, text, complaints));
      std::ranges::sort(job.nodes->back());
    }
  }
  return job;
}

Moment ReadMoment(const Item& item, const Scenario& scenario, Complaints& complaints) {
  Moment moment;
  moment.t = item["t"];
  moment.line = item.line;
  for (const auto& [id, texts] : item["says"].items()) {
    MustBeAJob(item, id, scenario.jobs, complaints);
    for (std::string& text : ReadTexts(texts)) moment.says.emplace_back(id, std::move(text));
  }
  item["earliest"].get_to(moment.earliest);
  for (const auto& [id, t] : moment.earliest) MustBeAJob(item, id, scenario.jobs, complaints);
  if (item.has("running")) {
    moment.running.emplace();
    for (const json& text : item["running"]) {
      for (const std::string& id : Names(item, text, complaints)) {
        MustBeAJob(item, id, scenario.jobs, complaints);
        moment.running->push_back(id);
      }
    }
    std::ranges::sort(*moment.running);
  }
  using spec::QuotaLevel;
  for (const QuotaLevel level : {QuotaLevel::kTenant, QuotaLevel::kProject, QuotaLevel::kUser}) {
    if (!item["used"].contains(spec::Name(level))) continue;
    for (const auto& [subject, units] : item["used"][spec::Name(level)].items()) {
      moment.used[{level, subject}] = units;
    }
  }
  item["free"].get_to(moment.free_gpus);
  for (const auto& [name, gpus] : moment.free_gpus) {
    if (std::ranges::count(scenario.nodes, name, &model::Node::name) == 0) {
      complaints.Add(item, "no node has the name " + name);
    }
  }
  return moment;
}

}  // namespace

Expectation ReadExpectation(const Item& item, const Scenario& scenario, Complaints& complaints) {
  Expectation expect;
  const Item jobs = item.At("jobs");
  for (const auto& [ids, value] : jobs.value->items()) {
    const Item row = jobs.At(ids);
    ExpectedJob job = ReadJob(row, complaints);
    for (const std::string& id : Names(row, ids, complaints)) {
      MustBeAJob(row, id, scenario.jobs, complaints);
      job.id = id;
      expect.jobs.push_back(job);
    }
  }
  std::ranges::stable_sort(expect.jobs, {}, &ExpectedJob::line);
  const Item at = item.At("at");
  for (size_t i = 0; i < at.value->size(); ++i) {
    expect.at.push_back(ReadMoment(at.At(i), scenario, complaints));
  }
  std::ranges::stable_sort(expect.at, {}, &Moment::t);
  const Item totals = item.At("totals");
  expect.totals.line = totals.line;
  Take(totals, "starts", expect.totals.starts);
  Take(totals, "evictions", expect.totals.evictions);
  Take(totals, "end", expect.totals.end);
  return expect;
}

}  // namespace cox::scenario
