// Slurm's accounting: `sacct -P -X -a -o JobID,User,Account,Partition,QOS,Submit,ElapsedRaw,
// TimelimitRaw,State,NNodes,AllocTRES` with a header. Other columns are ignored, steps too.
#include <algorithm>
#include <charconv>

#include "simulate/readers.hpp"

namespace cox::simulate {
namespace {

// "1-02:03:04", "02:03:04", "03:04"
std::optional<int64_t> ToSpan(std::string_view text) {
  int64_t days = 0;
  if (const size_t dash = text.find('-'); dash != text.npos) {
    const auto whole = ToWhole(text.substr(0, dash));
    if (!whole) return std::nullopt;
    days = *whole;
    text.remove_prefix(dash + 1);
  }
  int64_t seconds = 0;
  for (const std::string& part : SplitAt(text, ':')) {
    const auto whole = ToWhole(part);
    if (!whole) return std::nullopt;
    seconds = seconds * 60 + *whole;
  }
  return days * 86400 + seconds;
}

// "512G", "4000Mn" (per node), "2Tc": in MiB.
int64_t ToMebibytes(std::string_view text) {
  double number = 0;
  const auto [rest, failed] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (failed != std::errc{} || number < 0) return 0;
  const char unit = rest == text.data() + text.size() ? 'M' : *rest;
  const double factor = unit == 'K'   ? 1.0 / 1024
                        : unit == 'G' ? 1024.0
                        : unit == 'T' ? 1048576.0
                                      : 1.0;
  return static_cast<int64_t>(number * factor);
}

// "billing=8,cpu=96,gres/gpu:h100=8,gres/gpu=8,mem=512G,node=2": of the whole job.
void ReadTres(const std::string& text, TraceJob& job) {
  int64_t typed = 0, gpus = 0;
  for (const std::string& pair : SplitAt(text, ',')) {
    const size_t equals = pair.find('=');
    if (equals == pair.npos) continue;
    const std::string name = pair.substr(0, equals);
    const std::string value = pair.substr(equals + 1);
    if (name == "cpu") job.need.cpu_milli = ToWhole(value).value_or(0) * 1000;
    if (name == "mem") job.need.mem_mib = ToMebibytes(value);
    if (name == "node") job.replicas = ToWhole(value).value_or(1);
    if (name == "gres/gpu") gpus = ToWhole(value).value_or(0);
    if (name.starts_with("gres/gpu:")) {
      typed += ToWhole(value).value_or(0);
      job.gpu_types = {name.substr(9)};
    }
  }
  job.need.gpu_milli = std::max(gpus, typed) * 1000;
}

int64_t Part(int64_t whole, int64_t parts, int64_t unit) {
  return (whole / unit + parts - 1) / parts * unit;
}

// What sites call their QOS: the words of the contract mean what they say.
void ReadQos(const std::string& qos, TraceJob& job) {
  if (qos == "high") job.priority = spec::Priority::kHigh;
  if (qos == "low") job.priority = spec::Priority::kLow;
  if (qos == "spot") job.capacity = spec::CapacityType::kSpot;
}

std::optional<int64_t> RunTime(Rows& rows) {
  if (const auto raw = ToWhole(rows.Text("ElapsedRaw"))) return raw;
  if (const std::string elapsed = rows.Text("Elapsed"); !elapsed.empty()) return ToSpan(elapsed);
  const auto start = ToUnixTime(rows.Text("Start")), end = ToUnixTime(rows.Text("End"));
  if (start && end) return *end - *start;
  return std::nullopt;
}

}  // namespace

Result<Workload> ReadSacct(const Source& source) {
  const auto table = Csv::Parse(source.text, source.file, {'|', false});
  if (!table) return table.error();
  Workload workload;
  LeftOut left_out(source.file);
  Rows rows(*table, left_out);
  while (rows.Next()) {
    TraceJob job;
    job.id = rows.Text("JobID");
    if (job.id.find('.') != std::string::npos) continue;  // a step
    job.user = rows.Text("User");
    job.project = rows.Text("Account");
    job.tenant = job.project;
    job.pool = rows.Text("Partition");
    job.submit = rows.Time("Submit");
    const auto run = RunTime(rows);
    job.run = run.value_or(0);
    const std::string tres = rows.Text("AllocTRES");
    ReadTres(tres.empty() ? rows.Text("ReqTRES") : tres, job);
    if (const int64_t nodes = rows.Whole("NNodes"); nodes > 0) job.replicas = nodes;
    job.replicas = std::max<int64_t>(job.replicas, 1);
    job.need = {Part(job.need.cpu_milli, job.replicas, 1000),
                Part(job.need.mem_mib, job.replicas, 1),
                Part(job.need.gpu_milli, job.replicas, 1000)};
    if (const auto minutes = ToWhole(rows.Text("TimelimitRaw"))) {
      job.wall = *minutes * 60;
    } else if (const auto span = ToSpan(rows.Text("Timelimit")); span && *span > 0) {
      job.wall = span;
    }
    ReadQos(rows.Text("QOS"), job);
    const std::string state = rows.Text("State");
    const bool waits = state == "PENDING" || (state.starts_with("CANCELLED") && job.run == 0);
    if (waits || !run) rows.Spoil("never ran");
    if (state == "RUNNING") rows.Spoil("still runs");
    if (job.need.gpu_milli <= 0 && job.need.cpu_milli <= 0)
      rows.Spoil("no GPU and no CPU in its TRES");
    if (rows.good()) workload.jobs.push_back(std::move(job));
  }
  return Finish(std::move(workload), left_out);
}

}  // namespace cox::simulate
