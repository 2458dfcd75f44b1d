// The nodes of a simulation, where the trace does not bring them: `--nodes`.
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"
#include "model/node.hpp"
#include "scenario/parse.hpp"

namespace cox::simulate {

// Each word is one of
//   16x8            16 nodes with 8 GPUs each; 64x0: CPU nodes
//   16x8:h100       of this type
//   batch=16x8      in this pool only
//   nodes.csv       a list with a header: sn or name, cpu_milli, memory_mib, gpu, model
// Nodes of the short forms have 256 CPUs and 4 TiB, so that GPUs alone decide.
Result<std::vector<model::Node>> ReadNodes(const std::vector<std::string>& words,
                                           const scenario::ReadFile& read_file);

}  // namespace cox::simulate
