#include "slurm/unsupported.hpp"

#include <algorithm>

namespace cox::slurm {
namespace {

using Job = spec::TrainingJob;
using spec::Mount;

template <Mount::Kind kind>
bool Mounts(const Job& job) {
  return std::any_of(job.mounts.begin(), job.mounts.end(),
                     [](const Mount& mount) { return mount.kind == kind; });
}

const struct {
  const char* field;   // in the specification
  const char* option;  // of sbatch; "" = it has none
  const char* what;
  bool (*used)(const Job& job);
} kTable[] = {
    {"spec.type: RayJob", "--cox-type=ray", "a Ray job",
     [](const Job& job) { return job.type == spec::TaskType::kRayJob; }},
    {"spec.image.ref", "--cox-image", "a container image",
     [](const Job& job) { return !job.image.ref.empty(); }},
    {"spec.image.pullPolicy.maxRetries", "--cox-image-retries", "a container image",
     [](const Job& job) { return job.image.ref.empty() && job.image.pull_max_retries; }},
    {"spec.volumeMounts", "", "a mounted volume", Mounts<Mount::Kind::kVolume>},
    {"spec.datasets", "", "a mounted data set", Mounts<Mount::Kind::kDataset>},
    {"spec.models", "", "a mounted model", Mounts<Mount::Kind::kModel>},
    {"spec.ssh.enabled", "", "ssh into a job", [](const Job& job) { return job.ssh; }},
    {"spec.notifications", "", "a notification",
     [](const Job& job) { return !job.notifications.empty(); }},
    {"spec.failurePolicy.hangDetection", "--cox-hang-silence", "hang detection",
     [](const Job& job) { return job.failure_policy.hang_detection.enabled; }},
};

}  // namespace

std::string Unsupported(const Job& job) {
  std::string lines;
  for (const auto& row : kTable) {
    if (!row.used(job)) continue;
    if (!lines.empty()) lines += '\n';
    lines += row.field;
    if (*row.option != '\0') lines.append(" (").append(row.option).append(")");
    lines.append(": ").append(row.what).append(" is not supported by this Coxswain on Slurm yet");
  }
  return lines;
}

}  // namespace cox::slurm
