// From the text of a scenario file to a checked Scenario. Errors name file and line:
//   d1.yaml:7: jobs[0].size: "4-8" does not match ...
//   d1.yaml:14: expect.jobs.Z: no job has this id
// The site and the jobs in it are judged by the very schemas of site and job files.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "scenario/scenario.hpp"

namespace cox::scenario {

// Reads the file that `site: {from: ...}` names.
using ReadFile = std::function<Result<std::string>(const std::string& path)>;

Result<Scenario> Parse(std::string_view text, const std::string& file, const ReadFile& read_file);

// The JSON Schema text of the format (draft 7).
const char* ScenarioSchema();

}  // namespace cox::scenario
