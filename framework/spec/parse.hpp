// From text to checked objects. YAML or JSON in, positions in every error:
//   job.yaml:12: spec.scheduling.capacityType: "reservd" is not one of reserved, on-demand, spot,
//   idle; did you mean reserved?
// Unknown keys are refused with the nearest known key. Every default stands in the schema.
// Reentrant; no state.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "spec/site.hpp"
#include "spec/training_job.hpp"

namespace cox::spec {

// `file` is the name used in messages ("<stdin>" for none). All errors of the text are in one
// Error, a line each.
Result<TrainingJob> ParseTrainingJob(std::string_view text, std::string_view file);
Result<Site> ParseSite(std::string_view text, std::string_view file);

// The canonical JSON of a job: what the store keeps and `cox get -o json` prints. Parsing it gives
// the same job again. Hidden values stay in it; mask before you show it to a person.
std::string ToJson(const TrainingJob& job);

// The JSON Schema texts that the two parsers use (draft 7).
const char* TrainingJobSchema();
const char* SiteSchema();

}  // namespace cox::spec
