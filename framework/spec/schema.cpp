#include "spec/schema.hpp"

#include <utility>
#include <valijson/adapters/nlohmann_json_adapter.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validation_results.hpp>
#include <valijson/validator.hpp>
#include <vector>

#include "spec/document.hpp"
#include "spec/explain.hpp"
#include "spec/schema_walk.hpp"

namespace cox::spec {
namespace {

using nlohmann::json;

bool WantsText(const json& schema, const json& value) {
  const Keys types = Types(schema);
  if (!Has(types, "string")) return false;
  if (value.is_boolean()) return !Has(types, "boolean");
  return !Has(types, "number") && !(value.is_number_integer() && Has(types, "integer"));
}

// Before the judgement: makes unquoted numbers text where text is wanted, and fills the defaults.
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
        if (!fallback) fallback = Member(Resolve(root, property), "default");
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

// valijson names a place {"<root>", "[spec]", "[env]", "[0]"}.
Keys KeysOf(const std::vector<std::string>& context) {
  Keys keys;
  for (size_t i = 1; i < context.size(); ++i) {
    keys.push_back(context[i].substr(1, context[i].size() - 2));
  }
  return keys;
}

}  // namespace

struct Schema::Compiled {
  json text;
  valijson::Schema rules;
  Result<void> usable;
};

Schema::Schema(std::string_view text) : compiled_(std::make_unique<Compiled>()) {
  compiled_->text = json::parse(text, nullptr, false);
  const json& schema = compiled_->text;
  if (!schema.is_object()) {
    compiled_->usable = Internal("the schema is not a JSON object");
    return;
  }
  try {
    if (const json* lost = LostReference(schema, schema)) {
      compiled_->usable =
          Internal("the schema is not usable: $ref " + lost->dump() + " leads nowhere");
      return;
    }
    valijson::SchemaParser().populateSchema(valijson::adapters::NlohmannJsonAdapter(schema),
                                            compiled_->rules);
  } catch (const std::exception& e) {
    compiled_->usable = Internal("the schema is not usable: " + std::string(e.what()));
  }
}

Schema::~Schema() = default;

Result<void> Schema::ValidateAndDefault(Document& document) const {
  if (document.value.is_null()) return InvalidArgument(document.file + ": the document is empty");
  if (!compiled_->usable) return compiled_->usable;
  const json& schema = compiled_->text;
  try {
    Explainer explainer(document, schema);
    Keys trail;
    std::vector<Keys> too_long;
    Prepare(schema, Resolve(schema, schema), &document.place, document.value, trail, too_long);
    for (const Keys& keys : too_long) explainer.Explain(keys, "");
    if (!too_long.empty()) return InvalidArgument(explainer.Text());

    valijson::ValidationResults results;
    const valijson::adapters::NlohmannJsonAdapter target(document.value);
    if (valijson::Validator().validate(compiled_->rules, target, &results)) return {};
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
  const Result<void> valid = Schema(schema).ValidateAndDefault(*document);
  if (!valid) return valid.error();
  return document->value.dump();
}

}  // namespace cox::spec
