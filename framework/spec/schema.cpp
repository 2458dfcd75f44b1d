#include "spec/schema.hpp"

#include <algorithm>
#include <regex>
#include <set>
#include <utility>
#include <valijson/adapters/nlohmann_json_adapter.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validation_results.hpp>
#include <valijson/validator.hpp>
#include <vector>

#include "spec/document.hpp"
#include "spec/text.hpp"

namespace cox::spec {
namespace {

using nlohmann::json;
using Keys = std::vector<std::string>;  // the way down from the root

constexpr size_t kErrorsShown = 20;
constexpr size_t kLongestMatched = 4096;  // std::regex recurses once a character

// ---- the schema, read ----

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

// A reference that leads nowhere, in circles or out of the schema; nullptr if there is none. The
// validator would follow a circle for ever.
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

// The schema of `key` (or of any item) inside of `schema`; nullptr when it says nothing.
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

bool Has(const Keys& words, const char* word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

// ---- before the judgement: text that was written without quotes, and defaults ----

bool WantsText(const json& schema, const json& value) {
  const Keys types = Types(schema);
  if (!Has(types, "string")) return false;
  if (value.is_boolean()) return !Has(types, "boolean");
  return !Has(types, "number") && !(value.is_number_integer() && Has(types, "integer"));
}

bool TooLongToMatch(const json& schema, const json& value) {
  return value.is_string() && schema.contains("pattern") &&
         value.get_ref<const std::string&>().size() > kLongestMatched;
}

// Notes the places that the validator must not even look at in `too_long`.
void Prepare(const json& root, const json& schema, const Place* place, json& value, Keys& trail,
             std::vector<Keys>& too_long) {
  const auto descend = [&](std::string key, const json* inner, const Place* at, json& child) {
    if (!inner) return;
    trail.push_back(std::move(key));
    Prepare(root, *inner, at, child, trail, too_long);
    trail.pop_back();
  };
  if (value.is_object()) {
    if (const json* properties = Member(schema, "properties")) {
      for (const auto& [key, property] : properties->items()) {
        const json* fallback = Member(property, "default");
        // A null default means "nothing": it is documentation, not a value.
        if (fallback && !fallback->is_null() && !value.contains(key)) value[key] = *fallback;
      }
    }
    for (auto& [key, member] : value.items()) {
      descend(key, SchemaOf(root, schema, key, false), place ? Find(*place, {key}) : nullptr,
              member);
    }
  } else if (value.is_array()) {
    for (size_t i = 0; i < value.size(); ++i) {
      const bool placed = place && i < place->items.size();
      descend(std::to_string(i), SchemaOf(root, schema, "", true),
              placed ? &place->items[i] : nullptr, value[i]);
    }
  } else {
    if (place && !place->literal.empty() && WantsText(schema, value)) value = place->literal;
    if (TooLongToMatch(schema, value)) too_long.push_back(trail);
  }
}

// ---- after the judgement: say what is wrong, in words ----

std::string Show(const json& value) {
  if (value.is_string()) return Quote(value.get_ref<const std::string&>());
  if (value.is_object()) return "a map";
  if (value.is_array()) return "a list";
  return value.dump();
}

const char* TypeWord(const std::string& type) {
  if (type == "string") return "text";
  if (type == "integer") return "a whole number of at most 64 bits";
  if (type == "number") return "a number";
  if (type == "boolean") return "true or false";
  if (type == "array") return "a list";
  if (type == "object") return "a map";
  return "null";
}

bool IsA(const json& value, const std::string& type) {
  if (type == "string") return value.is_string();
  if (type == "integer") return value.is_number_integer();
  if (type == "number") return value.is_number();
  if (type == "boolean") return value.is_boolean();
  if (type == "array") return value.is_array();
  if (type == "object") return value.is_object();
  return value.is_null();
}

size_t Characters(const std::string& text) {
  return static_cast<size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

// spec.env[0].value
std::string PathText(const json& root, const Keys& keys) {
  std::string path;
  const json* value = &root;
  for (const std::string& key : keys) {
    const bool item = value && value->is_array();
    if (item) {
      path += "[" + key + "]";
    } else if (key.find_first_of("./[] ") == std::string::npos) {
      path += (path.empty() ? "" : ".") + key;
    } else {
      path += "[" + Quote(key) + "]";
    }
    value = item ? &value->at(std::stoul(key)) : value ? Member(*value, key) : nullptr;
  }
  return path;
}

class Explainer {
 public:
  Explainer(const Document& document, const json& schema) : document_(document), root_(schema) {}

  // `failed` is where the validator found fault; `description` are its own words.
  void Explain(const Keys& failed, const std::string& description) {
    if (!seen_.insert(failed).second) return;
    const json* schema = &Resolve(root_, root_);
    const json* value = &document_.value;
    const Place* place = &document_.place;
    int64_t line = place->line;
    for (const std::string& key : failed) {
      const bool item = value->is_array();
      const size_t index = item ? std::stoul(key) : 0;
      value = item ? &value->at(index) : &value->at(key);
      schema = schema ? SchemaOf(root_, *schema, key, item) : nullptr;
      if (place && item) {
        place = index < place->items.size() ? &place->items[index] : nullptr;
      } else if (place) {
        place = Find(*place, {key});
      }
      if (place) line = place->line;
    }
    const size_t before = errors_.size();
    if (schema) {
      Judge(*schema, *value, failed, line);
      if (value->is_object()) JudgeKeys(*schema, *value, failed, line, place);
    }
    if (errors_.size() == before) unexplained_.push_back({failed, line, description});
  }

  std::string Text() {
    // A parent fails with its child; its own words are wanted only when no child has any.
    for (const Unexplained& u : unexplained_) {
      const auto next = seen_.upper_bound(u.keys);  // the first child, if there is one
      const bool has_child = next != seen_.end() && next->size() > u.keys.size() &&
                             std::equal(u.keys.begin(), u.keys.end(), next->begin());
      if (!has_child) Add(u.line, u.keys, u.description);
    }
    std::stable_sort(errors_.begin(), errors_.end(),
                     [](auto& a, auto& b) { return a.first < b.first; });
    std::string text;
    for (size_t i = 0; i < errors_.size() && i < kErrorsShown; ++i) {
      text += (i == 0 ? "" : "\n") + errors_[i].second;
    }
    if (errors_.size() > kErrorsShown) {
      text += "\n... and " + std::to_string(errors_.size() - kErrorsShown) + " more";
    }
    return text;
  }

 private:
  struct Unexplained {
    Keys keys;
    int64_t line;
    std::string description;
  };

  void Add(int64_t line, const Keys& keys, const std::string& what) {
    const std::string path = PathText(document_.value, keys);
    errors_.emplace_back(line, document_.file + ":" + std::to_string(line) + ": " + path +
                                   (path.empty() ? "" : ": ") + what);
  }

  void Judge(const json& schema, const json& value, const Keys& keys, int64_t line) {
    const Keys types = Types(schema);
    if (!types.empty() &&
        std::none_of(types.begin(), types.end(), [&](auto& type) { return IsA(value, type); })) {
      std::string allowed;
      for (const std::string& type : types)
        allowed += (allowed.empty() ? "" : " or ") + std::string(TypeWord(type));
      return Add(line, keys, Show(value) + " is not " + allowed);
    }
    if (const json* allowed = Member(schema, "enum")) {
      if (std::find(allowed->begin(), allowed->end(), value) == allowed->end()) {
        Keys words;
        for (const json& word : *allowed)
          words.push_back(word.is_string() ? word.get<std::string>() : word.dump());
        const std::string near =
            value.is_string() ? DidYouMean(value.get<std::string>(), words) : "";
        Add(line, keys, Show(value) + " is not one of " + Join(words) + near);
      }
    }
    if (const json* only = Member(schema, "const"); only && *only != value) {
      Add(line, keys, Show(value) + " must be " + only->dump());
    }
    if (value.is_number()) JudgeNumber(schema, value, keys, line);
    if (value.is_string()) JudgeText(schema, value.get_ref<const std::string&>(), keys, line);
    if (value.is_array()) JudgeList(schema, value, keys, line);
  }

  void JudgeNumber(const json& schema, const json& value, const Keys& keys, int64_t line) {
    const json* low = Member(schema, "minimum");
    const json* high = Member(schema, "maximum");
    if (low && value < *low) {
      Add(line, keys, value.dump() + " is below the minimum " + low->dump());
    }
    if (high && value > *high) {
      Add(line, keys, value.dump() + " is above the maximum " + high->dump());
    }
  }

  void JudgeText(const json& schema, const std::string& text, const Keys& keys, int64_t line) {
    const size_t length = Characters(text);
    if (const json* least = Member(schema, "minLength"); least && length < *least) {
      Add(line, keys,
          text.empty() ? "must not be empty" : Quote(text) + " is shorter than " + least->dump());
    }
    if (const json* most = Member(schema, "maxLength"); most && length > *most) {
      Add(line, keys, Quote(text) + " is longer than " + most->dump() + " characters");
    }
    if (TooLongToMatch(schema, text)) {
      Add(line, keys, Quote(text) + " is longer than " + std::to_string(kLongestMatched));
    } else if (const json* pattern = Member(schema, "pattern")) {
      if (!std::regex_search(text, std::regex(pattern->get<std::string>()))) {
        Add(line, keys, Quote(text) + " does not match " + pattern->get<std::string>());
      }
    }
  }

  void JudgeList(const json& schema, const json& list, const Keys& keys, int64_t line) {
    const std::string has = "has " + std::to_string(list.size()) + " items; ";
    if (const json* least = Member(schema, "minItems"); least && list.size() < *least) {
      Add(line, keys, has + "at least " + least->dump() + " needed");
    }
    if (const json* most = Member(schema, "maxItems"); most && list.size() > *most) {
      Add(line, keys, has + "at most " + most->dump() + " allowed");
    }
  }

  void JudgeKeys(const json& schema, const json& object, const Keys& keys, int64_t line,
                 const Place* place) {
    const json* properties = Member(schema, "properties");
    const json* others = Member(schema, "additionalProperties");
    Keys known;
    if (properties) {
      for (const auto& property : properties->items()) known.push_back(property.key());
    }
    Keys child = keys;
    child.emplace_back();
    if (const json* required = Member(schema, "required")) {
      for (const json& key : *required) {
        child.back() = key.get<std::string>();
        if (!object.contains(child.back())) Add(line, child, "is required");
      }
    }
    if (!others || *others != false || schema.contains("patternProperties")) return;
    for (const auto& [key, member] : object.items()) {
      if (Has(known, key.c_str())) continue;
      child.back() = key;
      const Place* at = place ? Find(*place, {key}) : nullptr;
      const std::string near = DidYouMean(key, known);
      Add(at ? at->line : line, child,
          "unknown key" + (near.empty() ? "; known here: " + Join(known) : near));
    }
  }

  const Document& document_;
  const json& root_;
  std::set<Keys> seen_;
  std::vector<std::pair<int64_t, std::string>> errors_;
  std::vector<Unexplained> unexplained_;
};

// valijson names a place {"<root>", "[spec]", "[env]", "[0]"}.
Keys KeysOf(const std::vector<std::string>& context) {
  Keys keys;
  for (size_t i = 1; i < context.size(); ++i) {
    keys.push_back(context[i].substr(1, context[i].size() - 2));
  }
  return keys;
}

}  // namespace

Result<void> ValidateAndDefault(Document& document, std::string_view schema_text) {
  if (document.value.is_null()) return InvalidArgument(document.file + ": the document is empty");
  const json schema = json::parse(schema_text, nullptr, false);
  if (!schema.is_object()) return Internal("the schema is not a JSON object");
  try {
    if (const json* lost = LostReference(schema, schema)) {
      return Internal("the schema is not usable: $ref " + lost->dump() + " leads nowhere");
    }
    valijson::Schema rules;
    valijson::SchemaParser().populateSchema(valijson::adapters::NlohmannJsonAdapter(schema), rules);
    Explainer explainer(document, schema);
    Keys trail;
    std::vector<Keys> too_long;
    Prepare(schema, Resolve(schema, schema), &document.place, document.value, trail, too_long);
    for (const Keys& keys : too_long) explainer.Explain(keys, "");
    if (!too_long.empty()) return InvalidArgument(explainer.Text());

    valijson::ValidationResults results;
    const valijson::adapters::NlohmannJsonAdapter target(document.value);
    if (valijson::Validator().validate(rules, target, &results)) return {};
    for (const auto& error : results) explainer.Explain(KeysOf(error.context), error.description);
    return InvalidArgument(explainer.Text());
  } catch (const std::exception& e) {
    return Internal("the schema is not usable: " + std::string(e.what()));
  }
}

Result<std::string> ValidateAndDefault(std::string_view text, std::string_view position,
                                       std::string_view schema) {
  Result<Document> document = ParseDocument(text, position);
  if (!document) return document.error();
  const Result<void> valid = ValidateAndDefault(*document, schema);
  if (!valid) return valid.error();
  return document->value.dump();
}

}  // namespace cox::spec
