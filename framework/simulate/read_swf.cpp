// The Standard Workload Format of the Parallel Workloads Archive: 18 numbers a line, -1 = unknown,
// and a header of ";" lines. Its processors become CPUs, or GPUs where the nodes are given with
// GPUs (site.cpp).
#include <algorithm>

#include "simulate/readers.hpp"

namespace cox::simulate {
namespace {

enum Column { kNumber, kSubmit, kWait, kRun, kProcessors, kAskedProcessors = 7, kAskedTime };
enum LaterColumn { kUser = 11, kGroup = 12, kQueue = 14, kColumns = 18 };

struct Machine {
  int64_t nodes = 0, processors = 0;
};

// "; MaxProcs: 1024"
void ReadHeader(std::string_view line, Machine& machine, Workload& workload) {
  const size_t colon = line.find(':');
  if (colon == line.npos) return;
  const auto name = line.substr(0, colon);
  const std::vector<std::string> words = SplitAt(line.substr(colon + 1), ' ');
  const auto value = words.empty() ? std::nullopt : ToWhole(words.front());
  if (!value || *value <= 0) return;
  if (name.ends_with("MaxNodes")) machine.nodes = *value;
  if (name.ends_with("MaxProcs")) machine.processors = *value;
  if (name.ends_with("UnixStartTime")) workload.origin = *value;
}

void AddNodes(Machine machine, Workload& workload) {
  if (machine.nodes == 0) machine.nodes = machine.processors;
  if (machine.processors < machine.nodes) machine.processors = machine.nodes;
  constexpr int64_t kMost = 200'000;
  for (int64_t i = 0; i < std::min(machine.nodes, kMost); ++i) {
    model::Node node;
    node.name = "n" + std::to_string(i + 1);
    node.capacity.cpu_milli = machine.processors / machine.nodes * 1000;
    workload.nodes.push_back(std::move(node));
  }
}

std::string Named(const char* what, int64_t number) {
  return number < 0 ? "" : what + std::to_string(number);
}

}  // namespace

Result<Workload> ReadSwf(const Source& source) {
  Workload workload;
  LeftOut left_out(source.file);
  Machine machine;
  int64_t number = 0;
  std::string_view text = source.text;
  while (!text.empty()) {
    std::string line(text.substr(0, text.find('\n')));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    ++number;
    std::ranges::replace(line, '\t', ' ');
    std::erase(line, '\r');
    const std::vector<std::string> words = SplitAt(line, ' ');
    if (words.empty()) continue;
    if (words.front().starts_with(';')) {
      ReadHeader(line, machine, workload);
      continue;
    }
    int64_t cell[kColumns];
    bool good = words.size() >= kColumns;
    for (size_t i = 0; good && i < kColumns; ++i) {
      const auto value = ToWhole(words[i]);
      good = value.has_value();
      cell[i] = value.value_or(-1);
    }
    if (!good) {
      left_out.Add(number, "is not 18 numbers");
      continue;
    }
    const int64_t processors = cell[kProcessors] > 0 ? cell[kProcessors] : cell[kAskedProcessors];
    if (cell[kRun] < 0 || processors <= 0) {
      left_out.Add(number, "never ran");
      continue;
    }
    TraceJob job;
    job.id = std::to_string(cell[kNumber]);
    job.user = Named("user", cell[kUser]);
    job.tenant = Named("group", cell[kGroup]);
    job.pool = Named("queue", cell[kQueue]);
    job.submit = cell[kSubmit];
    job.run = cell[kRun];
    if (cell[kAskedTime] > 0) job.wall = cell[kAskedTime];
    job.replicas = 0;
    job.need.cpu_milli = processors * 1000;
    workload.jobs.push_back(std::move(job));
  }
  AddNodes(machine, workload);
  const int64_t origin = workload.origin;
  auto finished = Finish(std::move(workload), left_out);
  if (finished) finished->origin = origin;  // its seconds count from there
  return finished;
}

}  // namespace cox::simulate
