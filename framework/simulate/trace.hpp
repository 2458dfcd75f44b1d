// From the text of a trace to a Workload. One small file a format: read_<format>.cpp. A row that
// cannot be read is left out and counted in the notes, with its line; a file of which nothing can
// be read is an error.
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"
#include "scenario/parse.hpp"
#include "simulate/workload.hpp"

namespace cox::simulate {

// "swf", "sacct", "philly", "acme", "openb", "recording", "scenario".
const std::vector<std::string>& Formats();

// `format` "" = by its first lines. `read_file`: what a scenario file names.
Result<Workload> ReadTrace(const std::string& file, const std::string& text,
                           const std::string& format, const scenario::ReadFile& read_file);

}  // namespace cox::simulate
