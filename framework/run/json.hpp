// The records of model/ as JSON, in one place: what the store keeps, the recorder writes, replay
// compares and the CLI prints. Canonical: keys sorted, times in nanoseconds of UTC, enumerations in
// the words of the contract; equal values give equal bytes. Internal to run/ and adapters/replay.
//
// Reading fills what is missing with the type's default, so that an older file can be read.
#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "host/plugins.hpp"
#include "model/decision.hpp"
#include "model/event.hpp"
#include "model/snapshot.hpp"
#include "model/task.hpp"
#include "spec/site.hpp"

namespace cox::run {

using Json = nlohmann::json;

// One JSON value, or an error that says where the text is wrong.
Result<Json> ParseJson(std::string_view text, const std::string& what);

// On one line. What is not UTF-8 (a log tail may be anything) becomes U+FFFD.
std::string Dump(const Json& json);

Json ToJson(const model::Task& task);  // all but `candidates`, which follow from job and site
Json ToJson(const model::TaskEvent& event);
Json ToJson(const model::Node& node);
Json ToJson(const model::Explanation& explanation);
Json ToJson(const model::Placement& placement);
Json ToJson(const std::vector<model::Candidate>& candidates);
Json ToJson(const std::vector<model::Nomination>& nominations);
Json ToJson(const model::Decision& decision);
Json ToJson(const model::Snapshot& snapshot);  // all but `site`
Json ToJson(const spec::NodePolicy& policy);
Json ToJson(const host::InstanceStatus& status);

Result<model::Task> TaskFrom(const Json& json);
Result<model::TaskEvent> EventFrom(const Json& json);
Result<std::vector<model::Nomination>> NominationsFrom(const Json& json);
Result<model::Decision> DecisionFrom(const Json& json);
Result<model::Snapshot> SnapshotFrom(const Json& json, std::shared_ptr<const spec::Site> site);
Result<spec::NodePolicy> PolicyFrom(const Json& json);

}  // namespace cox::run
