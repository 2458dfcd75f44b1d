#include <charconv>
#include <utility>

#include "spec/document.hpp"
#include "spec/job_fields.hpp"
#include "spec/job_json.hpp"
#include "spec/parse.hpp"
#include "spec/scheduling_matrix.hpp"
#include "spec/schema.hpp"
#include "spec/text.hpp"

namespace cox::spec {
namespace {

std::vector<std::string> PathOf(const LimitedKey& key) {
  std::vector<std::string> path = {"spec", "scheduling"};
  path.insert(path.end(), key.keys.begin(), key.keys.end());
  return path;
}

std::optional<int64_t> Integer(const std::string& text) {
  int64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  return error == std::errc() && stop == end ? std::optional(number) : std::nullopt;
}

}  // namespace

Result<TrainingJob> ParseTrainingJob(std::string_view text, std::string_view file) {
  Result<Document> document = ParseDocument(text, file);
  if (!document) return document.error();
  static const Schema schema{TrainingJobSchema()};
  if (auto valid = schema.ValidateAndDefault(*document); !valid) {
    return valid.error();
  }
  TrainingJob job;
  Reader reader(document->value);
  Fields(reader, job);

  for (const LimitedKey& key : LimitedKeys()) {
    job.scheduling.written.*key.written = Find(document->place, PathOf(key)) != nullptr;
  }
  const std::string& members = document->value["spec"]["scheduling"]["gang"]["minMember"];
  if (members != "auto") {
    job.scheduling.gang_min_member = Integer(members);
    if (!job.scheduling.gang_min_member) {
      const Place* place = Find(document->place, {"spec", "scheduling", "gang", "minMember"});
      return InvalidArgument(document->file + ":" + std::to_string(place ? place->line : 1) +
                             ": spec.scheduling.gang.minMember: " + Quote(members) +
                             " is neither auto nor a number");
    }
  }
  return job;
}

std::string ToJson(const TrainingJob& job) {
  Writer::Json json;
  json["apiVersion"] = "coxswain.io/v1alpha1";
  json["kind"] = "TrainingJob";
  TrainingJob copy = job;  // Fields() serves both directions, so it wants to write
  Writer writer(json);
  Fields(writer, copy);

  Writer::Json& scheduling = json["spec"]["scheduling"];
  const auto members = job.scheduling.gang_min_member;
  scheduling["gang"]["minMember"] = members ? std::to_string(*members) : "auto";
  for (const LimitedKey& key : LimitedKeys()) {
    // What the type does not have is only kept as evidence for the validator.
    const bool kept = key.AllowedFor(job.scheduling.capacity_type) ||
                      job.scheduling.written.*key.written || key.differs(job.scheduling);
    Writer::Json& holder = key.keys.size() == 1 ? scheduling : scheduling[key.keys.front()];
    if (!kept) holder.erase(key.keys.back());
  }
  return json.dump(-1, ' ', false, Writer::Json::error_handler_t::replace);
}

}  // namespace cox::spec
