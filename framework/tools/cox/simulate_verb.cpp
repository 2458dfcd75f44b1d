// `cox simulate`: a trace under one or several configurations. Asks no daemon.
#include <cstdio>
#include <fstream>

#include "simulate/nodes.hpp"
#include "simulate/report.hpp"
#include "simulate/simulate.hpp"
#include "simulate/trace.hpp"
#include "tools/cox/plugin_options.hpp"
#include "tools/cox/table.hpp"
#include "tools/cox/verbs.hpp"
#include "tools/cox/when.hpp"

namespace cox::cli {
namespace {

std::string Percent(double part) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f%%", part * 100);
  return text;
}

std::string Decimal(double number, int digits) {
  char text[64];
  std::snprintf(text, sizeof text, "%.*f", digits, number);
  return text;
}

std::string SpanOf(double seconds) {
  return Span(std::chrono::seconds(static_cast<int64_t>(seconds)));
}

std::vector<std::string> Times(const simulate::Group& group) {
  const auto span = [](int64_t n, double seconds) { return n == 0 ? "" : SpanOf(seconds); };
  const int64_t started = group.jobs - group.refused - group.never_started;
  return {span(started, group.wait.mean), span(started, static_cast<double>(group.wait.p99)),
          span(group.ended, group.jct.mean), span(group.ended, static_cast<double>(group.jct.p99))};
}

std::string Overview(const std::vector<simulate::Outcome>& outcomes, bool colour) {
  Table table({"CONFIG", ">ALLOC", ">ALLOC-QUEUED", ">FRAGMENTED", ">WAIT", ">WAIT-P99", ">JCT",
               ">JCT-P99", ">PREEMPTED", ">LOST " + outcomes.front().report.unit + "h", ">STARVED",
               ">FAIRNESS", ">REFUSED", ">NEVER"});
  for (const auto& [record, report] : outcomes) {
    std::vector<std::string> row = {report.name, Percent(report.allocation),
                                    Percent(report.allocation_queued),
                                    Percent(report.fragmentation)};
    for (std::string& time : Times(report.all)) row.push_back(std::move(time));
    const simulate::Group& all = report.all;
    row.push_back(std::to_string(all.evictions));
    row.push_back(Decimal(all.lost_unit_hours, 1));
    row.push_back(std::to_string(all.starved));
    row.push_back(Decimal(report.fairness, 3));
    row.push_back(all.refused > 0 ? std::to_string(all.refused) : " ");
    row.push_back(all.never_started > 0 ? std::to_string(all.never_started) : " ");
    table.Row(std::move(row));
  }
  return table.Text(colour);
}

// Tenants, classes and sizes, each under all configurations.
std::string Groups(const std::vector<simulate::Outcome>& outcomes, bool colour) {
  constexpr size_t kMost = 12;  // of a kind; the JSON has all
  std::string out;
  for (const std::string by : {"tenant", "class", "size"}) {
    std::string header = by;
    for (char& c : header) c = static_cast<char>(c - 'a' + 'A');
    Table table({header, "CONFIG", ">JOBS", ">SHARE", ">WAIT", ">WAIT-P99", ">JCT", ">JCT-P99",
                 ">PREEMPTED", ">LOST " + outcomes.front().report.unit + "h", ">STARVED"});
    size_t shown = 0, hidden = 0;
    for (const simulate::Group& first : outcomes.front().report.groups) {
      if (first.by != by) continue;
      if (shown++ >= kMost) {
        ++hidden;
        continue;
      }
      for (const auto& [record, report] : outcomes) {
        for (const simulate::Group& group : report.groups) {
          if (group.by != by || group.name != first.name) continue;
          std::vector<std::string> row = {group.name, report.name, std::to_string(group.jobs),
                                          Percent(group.share)};
          for (std::string& time : Times(group)) row.push_back(std::move(time));
          row.push_back(std::to_string(group.evictions));
          row.push_back(Decimal(group.lost_unit_hours, 1));
          row.push_back(std::to_string(group.starved));
          table.Row(std::move(row));
        }
      }
    }
    if (shown > 1) out += "\n" + table.Text(colour);
    if (hidden > 0) out += std::to_string(hidden) + " more; -o json has all\n";
  }
  return out;
}

std::string Notes(const simulate::Workload& workload,
                  const std::vector<simulate::Outcome>& outcomes) {
  std::string out;
  for (const std::string& note : workload.notes) out += "note: " + note + "\n";
  for (const auto& [record, report] : outcomes) {
    for (const std::string& note : record.notes) out += "note: " + report.name + ": " + note + "\n";
    for (const simulate::JobRecord& job : record.jobs) {
      if (job.refused.empty()) continue;
      out += "note: " + report.name + ": " + std::to_string(report.all.refused) +
             " jobs refused; the first, " + job.id + ": " + job.refused + "\n";
      break;
    }
  }
  return out;
}

// "[######....]  61 %  fair.yaml: day 12, 48,120 jobs came, 312 wait"
class Bar {
 public:
  explicit Bar(const Context& context) : context_(context) {}
  ~Bar() { Clear(); }
  Bar(const Bar&) = delete;
  Bar& operator=(const Bar&) = delete;

  void Show(const simulate::Progress& p) {
    if (context_.clock->Now() - shown_ < std::chrono::milliseconds(100)) return;
    shown_ = context_.clock->Now();
    constexpr size_t kWidth = 30;
    const size_t done = p.jobs == 0 ? 0 : p.came * kWidth / p.jobs;
    *context_.err << "\r\033[K[" << std::string(done, '#') << std::string(kWidth - done, '.')
                  << "] " << (p.jobs == 0 ? 0 : p.came * 100 / p.jobs) << " %  " << p.name
                  << ": day " << p.second / 86400 << ", " << p.came << " of " << p.jobs
                  << " jobs came, " << p.waiting << " wait" << std::flush;
    visible_ = true;
  }
  void Clear() {
    if (visible_) *context_.err << "\r\033[K" << std::flush;
    visible_ = false;
  }

 private:
  const Context& context_;
  TimePoint shown_{};
  bool visible_ = false;
};

Result<simulate::Workload> Load(const Context& context, const Arguments& args) {
  const auto text = context.read_file(args.target);
  if (!text) return text.error();
  auto workload = simulate::ReadTrace(args.target, *text, args.trace_format, context.read_file);
  if (!workload) return workload;
  if (!args.cluster.empty()) {
    auto nodes = simulate::ReadNodes(args.cluster, context.read_file);
    if (!nodes) return nodes.error();
    workload->nodes = *std::move(nodes);
  }
  if (!args.tenant.empty()) {
    if (auto kept = simulate::KeepTenant(*workload, args.tenant); !kept) return kept.error();
  }
  return workload;
}

Result<std::vector<simulate::Configuration>> Configurations(const Context& context,
                                                            const Arguments& args) {
  std::vector<simulate::Configuration> configurations;
  for (const std::string& file : args.configs) {
    const auto text = context.read_file(file);
    if (!text) return text.error();
    configurations.push_back({file.substr(file.rfind('/') + 1), *text, false});
  }
  if (configurations.empty()) configurations.push_back({"default", "", false});
  if (args.baseline) {
    configurations.push_back({"strict FIFO", configurations.front().site_text, true});
  }
  return configurations;
}

Result<void> WriteFile(const std::string& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file << text;
  file.close();
  if (!file) return Unavailable(path + ": cannot be written");
  return {};
}

}  // namespace

int Simulate(const Context& context, const Arguments& args) {
  const auto workload = Load(context, args);
  if (!workload) return context.Fail(workload.error());
  const auto configurations = Configurations(context, args);
  if (!configurations) return context.Fail(configurations.error());

  Bar bar(context);
  simulate::Settings settings;
  settings.host = PluginOptions(args);
  settings.checkpoint_seconds = args.checkpoint_seconds;
  if (context.progress) {
    settings.progress = [&](const simulate::Progress& progress) { bar.Show(progress); };
  }
  std::vector<simulate::Outcome> outcomes;
  for (const simulate::Configuration& configuration : *configurations) {
    auto record = simulate::Simulate(*workload, configuration, settings);
    bar.Clear();
    if (!record) return context.Fail(record.error());
    simulate::Report report = simulate::Measure(*record);
    outcomes.push_back({*std::move(record), std::move(report)});
  }

  if (args.format == Format::kTable) {
    *context.out << Overview(outcomes, context.colour) << Groups(outcomes, context.colour);
    *context.err << Notes(*workload, outcomes);
  } else {
    const auto value = Value::Parse(simulate::ToJson(*workload, outcomes));
    if (!value) return context.Fail(value.error());
    context.Printed(args, *value);
  }
  if (args.html.empty()) return kOk;
  const auto written = WriteFile(args.html, simulate::ToHtml(*workload, outcomes, args.window));
  return written ? kOk : context.Fail(written.error());
}

}  // namespace cox::cli
