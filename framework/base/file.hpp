// Reads whole files. Any thread.
#pragma once

#include <string>

#include "base/result.hpp"

namespace cox {

// The bytes of a file, or why there are none, in the words of the system: "site.yaml: Is a
// directory". Also reads what has no size of its own, such as a pipe.
Result<std::string> ReadFile(const std::string& path);

}  // namespace cox
