// GPUs in Slurm's notation of generic resources. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace cox::slurm {

struct Gpus {
  int64_t count = 0;
  std::string type;  // "" = not said, or several
};

// Of a node ("gpu:h100:8(S:0-1),nvme:1"), a job's share of one ("gpu:2(IDX:0-1)") or a request
// ("gres:gpu:h100:2").
Gpus ParseGpus(std::string_view gres);

// The first item of it that is no GPU: "gres:nvme:1". "" = there is none.
std::string OtherThanGpus(std::string_view gres);

// "gres:gpu:h100:8"; "" for none.
std::string GresRequest(const Gpus& gpus);

}  // namespace cox::slurm
