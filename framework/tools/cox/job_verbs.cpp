#include "spec/parse.hpp"
#include "tools/cox/table.hpp"
#include "tools/cox/task_text.hpp"
#include "tools/cox/verbs.hpp"

namespace cox::cli {
namespace {

// S8: what was asked for, in the order in which one decides it.
std::string RequestText(const spec::TrainingJob& job) {
  const spec::Scheduling& s = job.scheduling;
  std::string flavors;
  for (const auto& f : s.flavors) {
    flavors += (flavors.empty() ? "" : ", then ") + f.name + " x " + std::to_string(f.count);
  }
  std::string replicas = job.type == spec::TaskType::kRayJob ? "1 head" : "1 master";
  if (job.workers > 0) {
    replicas += " + " + std::to_string(job.workers) + (job.workers == 1 ? " worker" : " workers");
  }
  std::string scheduling = s.capacity_type == spec::CapacityType::kIdle
                               ? "preemptible by anybody with quota"
                               : std::string("priority ") + Name(s.priority) +
                                     (s.preemptible ? ", preemptible" : ", guaranteed");
  if (s.idle.prefer) {
    scheduling += ", prefers idle capacity";
  } else if (s.idle.accept) {
    scheduling += ", accepts idle capacity";
  }
  return Facts({{"Capacity type", std::string(Name(s.capacity_type)) +
                                      (s.queue.empty() ? "" : " in pool " + s.queue)},
                {"Replicas", replicas},
                {"Flavors", flavors.empty() ? "none" : flavors + " (a replica)"},
                {"Scheduling", scheduling}});
}

std::string WarningsText(const Value& warnings) {
  std::string out;
  for (const Value& w : warnings.rows()) {
    out +=
        "warning: " + (w.is_text() ? w.text() : w["path"].text() + ": " + w["text"].text()) + "\n";
  }
  return out;
}

Value::Fields Job(const Arguments& args) {
  return {{"job", args.target}};
}

}  // namespace

int Submit(const Context& context, const Arguments& args) {
  const std::string file = args.target == "-" ? "<stdin>" : args.target;
  const auto text = context.read_file(args.target);
  if (!text) return context.Fail(text.error());
  const auto job = spec::ParseTrainingJob(*text, file);
  if (!job) return context.Fail(job.error());
  const auto result =
      context.Ask("submit", {{"text", *text}, {"file", file}, {"dry_run", args.dry_run}});
  if (!result) return context.Fail(result.error());
  const bool refused = args.dry_run && !(*result)["accepted"].truth();
  if (!context.Printed(args, *result)) {
    if (args.dry_run) {
      *context.out << RequestText(*job) << "Verdict:        " << (refused ? "refused" : "accepted")
                   << "\n";
      if (refused) *context.err << "cox: " << (*result)["refused"].text() << "\n";
    } else {
      *context.out << (*result)["name"].text() << "\n";
    }
    *context.err << WarningsText((*result)["warnings"]);
  }
  return refused ? kFailed : kOk;
}

int List(const Context& context, const Arguments& args) {
  Value::Fields fields = {{"mine", args.mine}, {"all", args.all}};
  if (!args.states.empty()) {
    fields.emplace_back("states", Value::List(args.states.begin(), args.states.end()));
  }
  if (!args.labels.empty()) {
    fields.emplace_back("labels", Value::Fields(args.labels.begin(), args.labels.end()));
  }
  const auto result = context.Ask("list", std::move(fields));
  if (!result) return context.Fail(result.error());
  if (!context.Printed(args, *result)) {
    *context.out << ListText((*result)["jobs"], context.clock->Now(), context.colour);
  }
  return kOk;
}

int Get(const Context& context, const Arguments& args) {
  const auto result = context.Ask("get", Job(args));
  if (!result) return context.Fail(result.error());
  if (!context.Printed(args, *result)) *context.out << result->ToYaml();
  return kOk;
}

int Describe(const Context& context, const Arguments& args) {
  const auto result = context.Ask("describe", Job(args));
  if (!result) return context.Fail(result.error());
  if (!context.Printed(args, *result)) {
    *context.out << DescribeText(*result, context.clock->Now(), context.colour);
  }
  return kOk;
}

int Explain(const Context& context, const Arguments& args) {
  const auto result = context.Ask("explain", Job(args));
  if (!result) return context.Fail(result.error());
  if (!context.Printed(args, *result)) {
    *context.out << ExplainText(*result, "", context.clock->Now());
  }
  return kOk;
}

int Stop(const Context& context, const Arguments& args) {
  const auto result = context.Ask("stop", Job(args));
  if (!result) return context.Fail(result.error());
  if (!context.Printed(args, *result)) {
    *context.out << (*result)["name"].text() << ": " << (*result)["state"].text() << "\n";
  }
  return kOk;
}

}  // namespace cox::cli
