#include "spec/explain.hpp"

#include <algorithm>
#include <regex>

#include "spec/text.hpp"

namespace cox::spec {
namespace {

using nlohmann::json;

constexpr size_t kErrorsShown = 20;

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

// spec.env[0].value; `path` is where `root` itself stands.
std::string PathText(std::string path, const json& root, const Keys& keys) {
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

}  // namespace

void Explainer::Explain(const Keys& failed, const std::string& description) {
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

std::string Explainer::Text() {
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

void Explainer::Add(int64_t line, const Keys& keys, const std::string& what) {
  const std::string path = PathText(document_.path, document_.value, keys);
  errors_.emplace_back(line, document_.file + ":" + std::to_string(line) + ": " + path +
                                 (path.empty() ? "" : ": ") + what);
}

void Explainer::Judge(const json& schema, const json& value, const Keys& keys, int64_t line) {
  const Keys types = Types(schema);
  if (!types.empty() &&
      std::none_of(types.begin(), types.end(), [&](auto& type) { return IsA(value, type); })) {
    std::string allowed;
    for (const std::string& type : types) {
      allowed += (allowed.empty() ? "" : " or ") + std::string(TypeWord(type));
    }
    return Add(line, keys, Show(value) + " is not " + allowed);
  }
  if (const json* allowed = Member(schema, "enum")) {
    if (std::find(allowed->begin(), allowed->end(), value) == allowed->end()) {
      Keys words;
      for (const json& word : *allowed) {
        words.push_back(word.is_string() ? word.get<std::string>() : word.dump());
      }
      const std::string near = value.is_string() ? DidYouMean(value.get<std::string>(), words) : "";
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

void Explainer::JudgeNumber(const json& schema, const json& value, const Keys& keys, int64_t line) {
  const json* low = Member(schema, "minimum");
  const json* high = Member(schema, "maximum");
  if (low && value < *low) {
    Add(line, keys, value.dump() + " is below the minimum " + low->dump());
  }
  if (high && value > *high) {
    Add(line, keys, value.dump() + " is above the maximum " + high->dump());
  }
}

void Explainer::JudgeText(const json& schema, const std::string& text, const Keys& keys,
                          int64_t line) {
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

void Explainer::JudgeList(const json& schema, const json& list, const Keys& keys, int64_t line) {
  const std::string has = "has " + std::to_string(list.size()) + " items; ";
  if (const json* least = Member(schema, "minItems"); least && list.size() < *least) {
    Add(line, keys, has + "at least " + least->dump() + " needed");
  }
  if (const json* most = Member(schema, "maxItems"); most && list.size() > *most) {
    Add(line, keys, has + "at most " + most->dump() + " allowed");
  }
}

void Explainer::JudgeKeys(const json& schema, const json& object, const Keys& keys, int64_t line,
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
    if (Has(known, key)) continue;
    child.back() = key;
    const Place* at = place ? Find(*place, {key}) : nullptr;
    const std::string near = DidYouMean(key, known);
    Add(at ? at->line : line, child,
        "unknown key" + (near.empty() ? "; known here: " + Join(known) : near));
  }
}

}  // namespace cox::spec
