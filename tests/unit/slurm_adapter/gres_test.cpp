#include "slurm/gres.hpp"

#include <gtest/gtest.h>

namespace cox::slurm {
namespace {

void Expect(const char* gres, int64_t count, const char* type) {
  const Gpus gpus = ParseGpus(gres);
  EXPECT_EQ(gpus.count, count) << gres;
  EXPECT_EQ(gpus.type, type) << gres;
}

TEST(Gres, ReadsWhatSlurmWrites) {
  Expect("", 0, "");
  Expect("gpu:8", 8, "");
  Expect("gpu", 1, "");
  Expect("gpu:h100", 1, "h100");
  Expect("gpu:h100:8(S:0-1)", 8, "h100");
  Expect("gres:gpu:h100:2", 2, "h100");
  Expect("gpu:h100:2(IDX:0,3),nvme:4", 2, "h100");
  Expect("nvme:1,gpu:2", 2, "");
  Expect("gpuish:4", 0, "");
  Expect("gpu:h100:0", 0, "");
}

TEST(Gres, TwoTypesAddUpToGpusOfNone) {
  Expect("gpu:h100:2,gpu:a100:4", 6, "");
}

TEST(Gres, ARequestNamesATypeOnlyWhenThereIsOne) {
  EXPECT_EQ(GresRequest({8, "h100"}), "gres:gpu:h100:8");
  EXPECT_EQ(GresRequest({8, ""}), "gres:gpu:8");
  EXPECT_EQ(GresRequest({0, "h100"}), "");
}

}  // namespace
}  // namespace cox::slurm
