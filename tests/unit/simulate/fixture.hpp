// Small workloads and their outcomes.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "base/file.hpp"
#include "simulate/measure.hpp"
#include "simulate/nodes.hpp"
#include "simulate/simulate.hpp"
#include "simulate/trace.hpp"

namespace cox::simulate::test {

inline const std::string kTraces = std::string(COX_SOURCE_DIR) + "/tests/simulate/";

template <class T>
T Good(Result<T> result) {
  if (!result) {
    ADD_FAILURE() << result.error().text;
    std::abort();
  }
  return *std::move(result);
}

template <class T>
std::string ErrorOf(const Result<T>& result) {
  return result ? "" : result.error().text;
}

inline Workload Trace(const std::string& name, const std::string& format = "") {
  return Good(ReadTrace(name, Good(ReadFile(kTraces + name)), format, ReadFile));
}

// `nodes` nodes of 8 GPUs.
inline Workload Cluster(int64_t nodes, std::vector<TraceJob> jobs) {
  Workload workload;
  workload.file = "made";
  workload.nodes = Good(ReadNodes({std::to_string(nodes) + "x8"}, ReadFile));
  workload.jobs = std::move(jobs);
  return workload;
}

// A job of whole GPUs that is split over as few nodes as hold it.
inline TraceJob Job(const std::string& id, int64_t submit, int64_t gpus, int64_t run) {
  TraceJob job;
  job.id = id;
  job.submit = submit;
  job.run = run;
  job.replicas = 0;
  job.need.gpu_milli = gpus * 1000;
  return job;
}

inline Settings Defaults() {
  Settings settings;
  settings.host.plugin_directory = COX_PLUGIN_DIR;
  return settings;
}

inline Record Played(const Workload& workload, const std::string& site = "", bool fifo = false,
                     const Settings& settings = Defaults()) {
  return Good(Simulate(workload, {"it", site, fifo}, settings));
}

// "A 0-10 on n1,n2; B 10-20 on n1", and "!" behind what was evicted.
inline std::string Runs(const Record& record) {
  std::string text;
  for (const Run& run : record.runs) {
    text += (text.empty() ? "" : "; ") + record.jobs[run.job].id + " " + std::to_string(run.start) +
            "-" + std::to_string(run.end) + (run.evicted ? "!" : "");
  }
  return text;
}

}  // namespace cox::simulate::test
