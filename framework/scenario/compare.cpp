#include "scenario/compare.hpp"

#include <algorithm>

#include "scenario/simulate.hpp"

namespace cox::scenario {
namespace {

constexpr uint64_t kShuffle = 20'261'201;

std::string Text(int64_t n) {
  return std::to_string(n);
}
std::string Text(const std::string& s) {
  return s;
}
template <class T>
std::string Text(const std::vector<T>& list) {
  std::string text;
  for (const T& item : list) text += (text.empty() ? "" : ", ") + Text(item);
  return text.empty() ? "none" : text;
}
std::string Text(const std::vector<std::vector<std::string>>& lists) {
  std::string text;
  for (const auto& list : lists) text += (text.empty() ? "" : "; then ") + Text(list);
  return text.empty() ? "none" : text;
}
std::string Text(const Times& times) {
  if (times.empty()) return "never";
  std::string text;
  for (const int64_t t : times) text += (text.empty() ? "" : ", ") + Text(t);
  return text;
}

class Comparison {
 public:
  template <class T>
  void Equal(const std::string& what, const std::optional<T>& expected, const T& got) {
    if (expected && *expected != got) found_.push_back({line, what, Text(*expected), Text(got)});
  }
  void Contains(const std::string& what, const std::string& expected, const std::string& got) {
    if (got.find(expected) != std::string::npos) return;
    found_.push_back({line, what, "something with \"" + expected + "\"",
                      got.empty() ? "nothing: it is not known then" : "\"" + got + "\""});
  }

  int64_t line = 0;  // of what is compared now
  std::vector<Difference> Take() && { return std::move(found_); }

 private:
  std::vector<Difference> found_;
};

void CompareJob(Comparison& c, const ExpectedJob& expected, const JobHistory& got) {
  c.line = expected.line;
  Times starts, ends;
  std::vector<std::vector<std::string>> nodes;
  for (const AttemptHistory& run : got.runs) {
    starts.push_back(run.start);
    if (run.end >= 0) ends.push_back(run.end);
    nodes.push_back(run.nodes);
  }
  const std::string& id = expected.id;
  c.Equal(id + ".start", expected.starts, starts);
  if (expected.wait) {
    const Times wait = starts.empty() ? Times{} : Times{starts.front() - got.submitted};
    c.Equal(id + ".wait", std::optional(Times{*expected.wait}), wait);
  }
  c.Equal(id + ".nodes", expected.nodes, nodes);
  c.Equal(id + ".end", expected.ends, ends);
  c.Equal(id + ".evicted", expected.evicted, got.evicted);
  c.Equal(id + ".state", expected.state, got.state);
  c.Equal(id + ".retries", expected.retries, got.retries);
  c.Equal(id + ".preemptions", expected.preemptions, got.preemptions);
  for (const std::string& text : expected.says) c.Contains(id + ".says", text, got.says);
}

template <class Map, class Key>
auto At(const Map& map, const Key& key) {
  const auto found = map.find(key);
  return found == map.end() ? typename Map::mapped_type{} : found->second;
}

void CompareMoment(Comparison& c, const Moment& expected, const MomentHistory& got) {
  c.line = expected.line;
  const std::string when = "t=" + std::to_string(expected.t) + ": ";
  for (const auto& [id, text] : expected.says) {
    c.Contains(when + id + " says", text, At(got.says, id));
  }
  for (const auto& [id, t] : expected.earliest) {
    const auto found = got.earliest.find(id);
    const Times known = found == got.earliest.end() ? Times{} : Times{found->second};
    c.Equal(when + id + " earliest", std::optional(Times{t}), known);
  }
  c.Equal(when + "running", expected.running, got.running);
  for (const auto& [subject, units] : expected.used) {
    std::string what = when;
    what.append(spec::Name(subject.first)).append(" ").append(subject.second).append(" uses");
    c.Equal(what, std::optional(units), At(got.used, subject));
  }
  for (const auto& [node, gpus] : expected.free_gpus) {
    std::string what = when;
    what.append("free GPUs of ").append(node);
    c.Equal(what, std::optional(gpus), At(got.free_gpus, node));
  }
}

void CompareTotals(Comparison& c, const Totals& expected, const History& history) {
  c.line = expected.line;
  int64_t starts = 0, evictions = 0, end = 0;
  for (const JobHistory& job : history.jobs) {
    starts += static_cast<int64_t>(job.runs.size());
    evictions += static_cast<int64_t>(job.evicted.size());
    for (const AttemptHistory& run : job.runs) end = std::max(end, run.end);
  }
  c.Equal("totals.starts", expected.starts, starts);
  c.Equal("totals.evictions", expected.evictions, evictions);
  c.Equal("totals.end", expected.end, end);
}

}  // namespace

std::vector<Difference> Compare(const Scenario& scenario, const History& history) {
  Comparison c;
  for (const ExpectedJob& expected : scenario.expect.jobs) {
    const auto got = std::ranges::find(history.jobs, expected.id, &JobHistory::id);
    CompareJob(c, expected, *got);
  }
  for (size_t i = 0; i < scenario.expect.at.size(); ++i) {
    CompareMoment(c, scenario.expect.at[i], history.moments[i]);
  }
  CompareTotals(c, scenario.expect.totals, history);
  return std::move(c).Take();
}

Result<Verdict> Judge(const Scenario& scenario, const host::Options& options) {
  auto history = Simulate(scenario, options);
  if (!history) return history.error();
  Verdict verdict;
  verdict.differences = Compare(scenario, *history);
  verdict.broken = history->broken;
  for (const uint64_t shuffle : {uint64_t{0}, kShuffle}) {
    const auto again = Simulate(scenario, options, shuffle);
    if (!again) return again.error();
    if (*again == *history) continue;
    verdict.broken.emplace_back(shuffle == 0
                                    ? "the same file gave another outcome when it ran again"
                                    : "the outcome depends on the order in which events of the "
                                      "same second arrive");
  }
  verdict.history = *std::move(history);
  return verdict;
}

}  // namespace cox::scenario
