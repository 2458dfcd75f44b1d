#include "slurm/unsupported.hpp"

#include <gtest/gtest.h>

namespace cox::slurm {
namespace {

using spec::Mount;

TEST(Unsupported, APlainJobHasAllThatItAsksFor) {
  spec::TrainingJob job;
  job.labels["a"] = "1";
  job.metrics.enabled = job.failure_policy.enabled = true;
  EXPECT_EQ(Unsupported(job), "");
}

TEST(Unsupported, EachFieldThatIsNotCarriedToSlurmIsNamedWithItsOption) {
  spec::TrainingJob job;
  job.type = spec::TaskType::kRayJob;
  job.image.ref = "reg/x:1";
  for (const auto kind : {Mount::Kind::kVolume, Mount::Kind::kDataset, Mount::Kind::kModel})
    job.mounts.push_back({.kind = kind, .source = "s", .version = "1", .path = "/p"});
  job.ssh = true;
  job.notifications.push_back({});
  job.failure_policy.hang_detection.enabled = true;
  EXPECT_EQ(Unsupported(job),
            "spec.type: RayJob (--cox-type=ray): a Ray job is not supported by this Coxswain on "
            "Slurm yet\n"
            "spec.image.ref (--cox-image): a container image is not supported by this Coxswain on "
            "Slurm yet\n"
            "spec.volumeMounts: a mounted volume is not supported by this Coxswain on Slurm yet\n"
            "spec.datasets: a mounted data set is not supported by this Coxswain on Slurm yet\n"
            "spec.models: a mounted model is not supported by this Coxswain on Slurm yet\n"
            "spec.ssh.enabled: ssh into a job is not supported by this Coxswain on Slurm yet\n"
            "spec.notifications: a notification is not supported by this Coxswain on Slurm yet\n"
            "spec.failurePolicy.hangDetection (--cox-hang-silence): hang detection is not "
            "supported by this Coxswain on Slurm yet");
}

TEST(Unsupported, RetriesOfAPullWithoutAnImageAreNotForgotten) {
  spec::TrainingJob job;
  job.image.pull_max_retries = 3;
  EXPECT_NE(Unsupported(job).find("--cox-image-retries"), std::string::npos);
}

}  // namespace
}  // namespace cox::slurm
