// How to find one's way in a JSON Schema that is held as JSON. Internal to spec/. Pure.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace cox::spec {

using Keys = std::vector<std::string>;  // the way down from the root of a value

constexpr size_t kLongestMatched = 4096;  // std::regex recurses once a character

// The member, or nullptr; also for what is no object.
const nlohmann::json* Member(const nlohmann::json& object, const std::string& key);

// `schema`, or what its local $ref leads to.
const nlohmann::json& Resolve(const nlohmann::json& root, const nlohmann::json& schema);

// A reference that leads nowhere, in circles or out of the schema; nullptr if there is none. The
// validator would follow a circle for ever.
const nlohmann::json* LostReference(const nlohmann::json& root, const nlohmann::json& schema);

// The schema of `key`, or of any item, inside of `schema`; nullptr when it says nothing.
const nlohmann::json* SchemaOf(const nlohmann::json& root, const nlohmann::json& schema,
                               const std::string& key, bool item);

// The values of "type"; none = any type.
Keys Types(const nlohmann::json& schema);

bool Has(const Keys& words, const std::string& word);

// Must a pattern not be tried on `value`?
bool TooLongToMatch(const nlohmann::json& schema, const nlohmann::json& value);

}  // namespace cox::spec
