// Slurm's way to write many nodes. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace cox::spec {

// "n[1-3,7],login" -> n1 n2 n3 n7 login. Zeros in front are kept: "n[08-10]" -> n08 n09 n10.
// Several brackets in one name multiply: "r[1-2]n[1-2]". At most 65536 names.
Result<std::vector<std::string>> ExpandNodes(std::string_view text);

}  // namespace cox::spec
