// InternLM's Acme traces (Seren, Kalos): the published table (job_id, node_num, gpu_num,
// submit_time, duration, ...), or the one that simulators of its LLM jobs use (arrival_time,
// gpu_workers, gpu_per_worker, iterations).
#include <charconv>
#include <cmath>

#include "simulate/readers.hpp"

namespace cox::simulate {
namespace {

double Real(const std::string& text) {
  double number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

TraceJob Published(Rows& rows) {
  TraceJob job;
  job.user = rows.Text("user");
  job.pool = rows.Text("queue");
  job.submit = rows.Time("submit_time");
  job.run = rows.Whole("duration");
  job.need.gpu_milli = rows.Whole("gpu_num") * 1000;
  job.need.cpu_milli = rows.Whole("cpu_num") * 1000;
  job.replicas = rows.Whole("node_num");
  if (job.replicas > 0) {
    job.need.gpu_milli = (job.need.gpu_milli / 1000 + job.replicas - 1) / job.replicas * 1000;
    job.need.cpu_milli = (job.need.cpu_milli / 1000 + job.replicas - 1) / job.replicas * 1000;
  }
  if (rows.Text("start_time").empty()) rows.Spoil("never ran");
  return job;
}

TraceJob Converted(Rows& rows) {
  TraceJob job;
  job.submit = rows.Whole("arrival_time");
  const double iteration =
      Real(rows.Text("iteration_computing_time")) + Real(rows.Text("iteration_networking_time"));
  job.run = std::llround(static_cast<double>(rows.Whole("num_iteration")) * iteration);
  job.replicas = rows.Whole("gpu_workers");
  job.need.gpu_milli = rows.Whole("gpu_per_worker") * 1000;
  return job;
}

}  // namespace

Result<Workload> ReadAcme(const Source& source) {
  const auto table = Csv::Parse(source.text, source.file, {});
  if (!table) return table.error();
  const bool converted = table->Column("gpu_per_worker").has_value();
  Workload workload;
  LeftOut left_out(source.file);
  Rows rows(*table, left_out);
  while (rows.Next()) {
    TraceJob job = converted ? Converted(rows) : Published(rows);
    job.id = rows.Text("job_id");
    if (job.run < 0) rows.Spoil("its duration is negative");
    if (job.replicas <= 0) rows.Spoil("has no node");
    if (job.need.gpu_milli <= 0 && job.need.cpu_milli <= 0) rows.Spoil("has neither GPU nor CPU");
    if (rows.good()) workload.jobs.push_back(std::move(job));
  }
  return Finish(std::move(workload), left_out);
}

}  // namespace cox::simulate
