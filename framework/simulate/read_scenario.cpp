// A scenario file: it has its own nodes, jobs and events, and is played as `cox scenario run` plays
// it.
#include "simulate/readers.hpp"

namespace cox::simulate {

Result<Workload> ReadScenario(const Source& source) {
  auto scenario = scenario::Parse(source.text, source.file, source.read_file);
  if (!scenario) return scenario.error();
  Workload workload;
  workload.nodes = scenario->nodes;
  for (const scenario::Job& asked : scenario->jobs) {
    TraceJob job;
    job.id = asked.id;
    job.user = asked.user;
    job.project = asked.project;
    job.submit = asked.at;
    job.run = asked.run.value_or(0);
    job.job = asked.job;
    workload.jobs.push_back(std::move(job));
  }
  workload.scenario = std::make_shared<const scenario::Scenario>(*std::move(scenario));
  return workload;
}

}  // namespace cox::simulate
