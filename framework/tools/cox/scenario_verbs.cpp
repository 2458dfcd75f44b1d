// `cox scenario`: a policy is tried on a small cluster that exists in a file. Asks no daemon.
#include "scenario/compare.hpp"
#include "scenario/parse.hpp"
#include "tools/cox/plugin_options.hpp"
#include "tools/cox/table.hpp"
#include "tools/cox/verbs.hpp"

namespace cox::cli {
namespace {

std::string Words(const std::vector<std::string>& words, const char* between) {
  std::string out;
  for (const std::string& word : words) out += (out.empty() ? "" : between) + word;
  return out;
}

Value JobsValue(const scenario::History& history) {
  Value::List jobs;
  for (const scenario::JobHistory& job : history.jobs) {
    Value::List runs;
    for (const scenario::AttemptHistory& run : job.runs) {
      Value row;
      row.Set("start", run.start);
      if (run.end >= 0) row.Set("end", run.end);
      row.Set("nodes", Value::List(run.nodes.begin(), run.nodes.end()));
      runs.push_back(std::move(row));
    }
    Value row;
    row.Set("id", job.id);
    row.Set("submitted", job.submitted);
    row.Set("state", job.state);
    row.Set("runs", std::move(runs));
    row.Set("evicted", Value::List(job.evicted.begin(), job.evicted.end()));
    row.Set("retries", job.retries);
    row.Set("preemptions", job.preemptions);
    row.Set("says", job.says);
    jobs.push_back(std::move(row));
  }
  return Value(std::move(jobs));
}

Value ResultValue(const scenario::Scenario& scenario, const scenario::Verdict& verdict) {
  Value::List differences;
  for (const scenario::Difference& d : verdict.differences) {
    differences.emplace_back(Value::Fields{
        {"line", d.line}, {"what", d.what}, {"expected", d.expected}, {"got", d.got}});
  }
  Value result;
  result.Set("file", scenario.file);
  result.Set("title", scenario.title);
  result.Set("passed", verdict.passed());
  result.Set("differences", std::move(differences));
  result.Set("broken", Value::List(verdict.broken.begin(), verdict.broken.end()));
  result.Set("until", verdict.history.until);
  result.Set("jobs", JobsValue(verdict.history));
  return result;
}

std::string JobsText(const scenario::History& history, bool colour) {
  Table table({"  JOB", ">SUBMITTED", ">START", ">END", "NODES", ">EVICTED", "STATE"});
  for (const scenario::JobHistory& job : history.jobs) {
    std::vector<std::string> evicted;
    for (const int64_t t : job.evicted) evicted.push_back(std::to_string(t));
    std::string id = "  " + job.id, submitted = std::to_string(job.submitted);
    if (job.runs.empty()) {
      table.Row({id, submitted, "never", "", "", Words(evicted, ","), job.state});
    }
    for (const scenario::AttemptHistory& run : job.runs) {
      const bool last = &run == &job.runs.back();
      table.Row({id, submitted, std::to_string(run.start),
                 run.end < 0 ? "" : std::to_string(run.end), Words(run.nodes, ","),
                 last ? Words(evicted, ",") : "", last ? job.state : ""});
    }
  }
  return table.Text(colour);
}

std::string VerdictText(const scenario::Scenario& scenario, const scenario::Verdict& verdict,
                        bool show, bool colour) {
  const bool passed = verdict.passed();
  std::string out = Paint(passed ? "PASS" : "FAIL", passed ? Tint::kGood : Tint::kBad, colour);
  out += " " + scenario.file + (scenario.title.empty() ? "" : "  " + scenario.title) + "\n";
  for (const std::string& broken : verdict.broken) out += "  broken promise: " + broken + "\n";
  for (const scenario::Difference& d : verdict.differences) {
    out += "  line " + std::to_string(d.line) + ": " + d.what + ": expected " + d.expected +
           ", got " + d.got + "\n";
  }
  if (show || !passed) out += JobsText(verdict.history, colour);
  return out;
}

Result<std::pair<scenario::Scenario, scenario::Verdict>> Play(const Context& context,
                                                              const std::string& file,
                                                              const host::Options& options) {
  const auto text = context.read_file(file);
  if (!text) return text.error();
  auto scenario = scenario::Parse(*text, file, context.read_file);
  if (!scenario) return scenario.error();
  auto verdict = scenario::Judge(*scenario, options);
  if (!verdict) return verdict.error();
  return std::pair(*std::move(scenario), *std::move(verdict));
}

}  // namespace

int ScenarioRun(const Context& context, const Arguments& args) {
  const host::Options options = PluginOptions(args);
  int code = kOk;
  Value::List results;
  for (const std::string& file : args.files) {
    const auto played = Play(context, file, options);
    if (!played) {  // the others are still worth to be seen
      code = context.Fail(played.error());
      continue;
    }
    const auto& [scenario, verdict] = *played;
    if (!verdict.passed()) code = kFailed;
    if (args.format == Format::kTable) {
      *context.out << VerdictText(scenario, verdict, args.show, context.colour) << std::flush;
    } else {
      results.push_back(ResultValue(scenario, verdict));
    }
  }
  context.Printed(args, Value(std::move(results)));
  return code;
}

}  // namespace cox::cli
