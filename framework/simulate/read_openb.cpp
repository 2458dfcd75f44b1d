// Pod lists in the columns of Alibaba's cluster-trace-gpu-v2023 (openb): one pod a row, also with a
// part of a GPU. Its nodes are a list of their own: --nodes FILE.
#include "simulate/readers.hpp"

namespace cox::simulate {

Result<Workload> ReadOpenb(const Source& source) {
  const auto table = Csv::Parse(source.text, source.file, {});
  if (!table) return table.error();
  Workload workload;
  LeftOut left_out(source.file);
  Rows rows(*table, left_out);
  const bool timed = table->Column("creation_time") && table->Column("deletion_time");
  const auto forever = static_cast<int64_t>(table->rows()) * 2;
  while (rows.Next()) {
    TraceJob job;
    job.id = rows.Text("name");
    job.need.cpu_milli = rows.Whole("cpu_milli");
    job.need.mem_mib = rows.Whole("memory_mib");
    job.need.gpu_milli = rows.Whole("num_gpu") * rows.Whole("gpu_milli");
    job.gpu_types = SplitAt(rows.Text("gpu_spec"), '|');
    const std::string qos = rows.Text("qos");
    if (qos == "BE") job.priority = spec::Priority::kLow;
    if (qos == "Guaranteed") job.guaranteed = true;
    if (timed) {
      const bool started = !rows.Text("scheduled_time").empty();
      job.submit = rows.Whole("creation_time");
      job.run = rows.Whole("deletion_time") - (started ? rows.Whole("scheduled_time") : job.submit);
    } else {
      job.submit = static_cast<int64_t>(workload.jobs.size());
      job.run = forever;
    }
    if (job.run < 0) rows.Spoil("was deleted before it was scheduled");
    if (job.need == Resources{}) rows.Spoil("asks for nothing");
    if (rows.good()) workload.jobs.push_back(std::move(job));
  }
  if (!timed) workload.notes.push_back("the list has no times: a pod comes each second and stays");
  return Finish(std::move(workload), left_out);
}

}  // namespace cox::simulate
