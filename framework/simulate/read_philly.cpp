// Microsoft's Philly trace as tables have it: timestamp, duration, num_gpus, cluster (the virtual
// cluster). It knows neither users nor what they asked for; a virtual cluster becomes a tenant.
#include "simulate/readers.hpp"

namespace cox::simulate {

Result<Workload> ReadPhilly(const Source& source) {
  const auto table = Csv::Parse(source.text, source.file, {});
  if (!table) return table.error();
  Workload workload;
  LeftOut left_out(source.file);
  Rows rows(*table, left_out);
  while (rows.Next()) {
    TraceJob job;
    job.submit = rows.Time("timestamp");
    job.run = rows.Whole("duration");
    job.need.gpu_milli = rows.Whole("num_gpus") * 1000;
    job.replicas = 0;
    job.tenant = rows.Text("cluster");
    if (job.run < 0) rows.Spoil("duration is negative");
    if (job.need.gpu_milli <= 0) rows.Spoil("has no GPU");
    if (rows.good()) workload.jobs.push_back(std::move(job));
  }
  return Finish(std::move(workload), left_out);
}

}  // namespace cox::simulate
