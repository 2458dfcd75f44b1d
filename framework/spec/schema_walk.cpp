#include "spec/schema_walk.hpp"

#include <algorithm>

namespace cox::spec {

using nlohmann::json;

const json& Resolve(const json& root, const json& schema) {
  const json* at = &schema;
  for (int hops = 0; hops < 16 && at->is_object() && at->contains("$ref"); ++hops) {
    const json& ref = (*at)["$ref"];
    if (!ref.is_string() || !ref.get_ref<const std::string&>().starts_with('#')) break;
    const json::json_pointer target(ref.get<std::string>().substr(1));
    if (!root.contains(target)) break;
    at = &root.at(target);
  }
  return *at;
}

const json* LostReference(const json& root, const json& schema) {
  if (schema.is_object() && schema.contains("$ref") && schema["$ref"].is_string() &&
      Resolve(root, schema).contains("$ref")) {
    return &schema["$ref"];
  }
  if (!schema.is_structured()) return nullptr;
  for (const json& inner : schema) {
    if (const json* lost = LostReference(root, inner)) return lost;
  }
  return nullptr;
}

const json* Member(const json& object, const std::string& key) {
  if (!object.is_object()) return nullptr;
  const auto it = object.find(key);
  return it == object.end() ? nullptr : &*it;
}

const json* SchemaOf(const json& root, const json& schema, const std::string& key, bool item) {
  const json* found = nullptr;
  if (item) {
    found = Member(schema, "items");
  } else if (const json* properties = Member(schema, "properties")) {
    found = Member(*properties, key);
  }
  if (!found && !item) found = Member(schema, "additionalProperties");
  return found && found->is_object() ? &Resolve(root, *found) : nullptr;
}

Keys Types(const json& schema) {
  const json* type = Member(schema, "type");
  if (!type) return {};
  return type->is_array() ? type->get<Keys>() : Keys{type->get<std::string>()};
}

bool Has(const Keys& words, const std::string& word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

bool TooLongToMatch(const json& schema, const json& value) {
  return value.is_string() && schema.contains("pattern") &&
         value.get_ref<const std::string&>().size() > kLongestMatched;
}

}  // namespace cox::spec
