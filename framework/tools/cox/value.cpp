#include "tools/cox/value.hpp"

#include <algorithm>
#include <cctype>
#include <nlohmann/json.hpp>

namespace cox::cli {
namespace {

using Json = nlohmann::ordered_json;

Value FromJson(const Json& json) {
  switch (json.type()) {
    case Json::value_t::boolean:
      return json.get<bool>();
    case Json::value_t::number_integer:
    case Json::value_t::number_unsigned:
      return json.get<int64_t>();
    case Json::value_t::number_float:
      return json.get<double>();
    case Json::value_t::string:
      return json.get<std::string>();
    case Json::value_t::array: {
      Value::List rows;
      for (const Json& row : json) rows.push_back(FromJson(row));
      return rows;
    }
    case Json::value_t::object: {
      Value::Fields fields;
      for (const auto& [key, field] : json.items()) fields.emplace_back(key, FromJson(field));
      return fields;
    }
    default:
      return {};
  }
}

std::string Quoted(const std::string& text) {
  return Json(text).dump(-1, ' ', false, Json::error_handler_t::replace);
}

// Every JSON string is a YAML string; only words that YAML reads as themselves go without quotes.
std::string YamlScalar(const std::string& text) {
  static constexpr std::string_view kPlain = "-_./:";  // inside a word
  const auto plain = [](unsigned char c) {
    return std::isalnum(c) != 0 || kPlain.find(static_cast<char>(c)) != std::string_view::npos;
  };
  static constexpr std::string_view kMeaning[] = {"true", "false", "null", "yes", "no",
                                                  "on",   "off",   "y",    "n"};
  std::string lower = text;
  std::ranges::transform(lower, lower.begin(), [](unsigned char c) { return std::tolower(c); });
  const bool safe = !text.empty() && std::ranges::all_of(text, plain) &&
                    std::isalpha(static_cast<unsigned char>(text[0])) != 0 && text.back() != ':' &&
                    std::ranges::find(kMeaning, lower) == std::end(kMeaning);
  return safe ? text : Quoted(text);
}

}  // namespace

// Out of line: inlined, g++ 12 at -O3 sees writes into vectors of Values that are not there.
Value::Value(bool v) : data_(v) {}
Value::Value(int v) : data_(int64_t{v}) {}
Value::Value(int64_t v) : data_(v) {}
Value::Value(double v) : data_(v) {}
Value::Value(std::string v) : data_(std::move(v)) {}
Value::Value(const char* v) : data_(std::string(v)) {}
Value::Value(List v) : data_(std::move(v)) {}
Value::Value(Fields v) : data_(std::move(v)) {}

Result<Value> Value::Parse(std::string_view json) {
  const Json parsed = Json::parse(json, nullptr, false);
  if (parsed.is_discarded()) return Internal("not JSON: " + std::string(json.substr(0, 200)));
  return FromJson(parsed);
}

const Value& Value::operator[](std::string_view key) const {
  static const Value kNothing;
  for (const auto& [name, value] : fields()) {
    if (name == key) return value;
  }
  return kNothing;
}

const Value::List& Value::rows() const {
  static const List kNone;
  const auto* rows = std::get_if<List>(&data_);
  return rows != nullptr ? *rows : kNone;
}

const Value::Fields& Value::fields() const {
  static const Fields kNone;
  const auto* fields = std::get_if<Fields>(&data_);
  return fields != nullptr ? *fields : kNone;
}

bool Value::empty() const {
  if (const auto* text = std::get_if<std::string>(&data_)) return text->empty();
  const bool scalar = !std::holds_alternative<std::monostate>(data_) &&
                      !std::holds_alternative<List>(data_) &&
                      !std::holds_alternative<Fields>(data_);
  return !scalar && rows().empty() && fields().empty();
}

bool Value::truth() const {
  const auto* truth = std::get_if<bool>(&data_);
  return truth != nullptr && *truth;
}

int64_t Value::number() const {
  if (const auto* real = std::get_if<double>(&data_)) return static_cast<int64_t>(*real);
  const auto* number = std::get_if<int64_t>(&data_);
  return number != nullptr ? *number : 0;
}

double Value::real() const {
  const auto* real = std::get_if<double>(&data_);
  return real != nullptr ? *real : static_cast<double>(number());
}

std::string Value::text() const {
  if (const auto* text = std::get_if<std::string>(&data_)) return *text;
  if (!rows().empty() || !fields().empty() || empty()) return "";
  return ToJson(-1);
}

void Value::Set(std::string key, Value value) {
  if (!std::holds_alternative<Fields>(data_)) data_ = Fields{};
  auto& fields = std::get<Fields>(data_);
  const auto it = std::ranges::find(fields, key, &Fields::value_type::first);
  if (it != fields.end()) {
    it->second = std::move(value);
  } else {
    fields.emplace_back(std::move(key), std::move(value));
  }
}

std::string Value::ToJson(int indent) const {
  const auto tree = [](const auto& self, const Value& value) -> Json {
    return std::visit(
        [&](const auto& data) -> Json {
          using T = std::decay_t<decltype(data)>;
          if constexpr (std::is_same_v<T, std::monostate>) {
            return nullptr;
          } else if constexpr (std::is_same_v<T, List>) {
            Json out = Json::array();
            for (const Value& row : data) out.push_back(self(self, row));
            return out;
          } else if constexpr (std::is_same_v<T, Fields>) {
            Json out = Json::object();
            for (const auto& [key, field] : data) out[key] = self(self, field);
            return out;
          } else {
            return data;
          }
        },
        value.data_);
  };
  return tree(tree, *this).dump(indent, ' ', false, Json::error_handler_t::replace);
}

std::string Value::ToYaml() const {
  std::string out;
  WriteYaml(out, 0);
  return out;
}

void Value::WriteYaml(std::string& out, int depth) const {
  const std::string pad(static_cast<size_t>(depth) * 2, ' ');
  // A scalar or an empty container stands on its key's line, everything else on lines below.
  const auto is_inline = [](const Value& v) { return v.rows().empty() && v.fields().empty(); };
  const auto scalar = [](const Value& v) {
    return v.is_text() ? YamlScalar(v.text()) : v.ToJson(-1);
  };
  if (is_inline(*this)) {
    out += scalar(*this) + "\n";
  }
  for (const Value& row : rows()) {
    if (is_inline(row)) {
      out += pad + "- " + scalar(row) + "\n";
    } else {
      std::string nested;
      row.WriteYaml(nested, depth + 1);
      out += pad + "- " + nested.substr(pad.size() + 2);  // the first key stands beside the dash
    }
  }
  for (const auto& [key, value] : fields()) {
    out += pad + YamlScalar(key) + ":";
    if (is_inline(value)) {
      out += " " + scalar(value) + "\n";
    } else {
      out += "\n";
      value.WriteYaml(out, depth + 1);
    }
  }
}

std::string CommaList(const Value& list) {
  std::string out;
  for (const Value& item : list.rows()) out += (out.empty() ? "" : ",") + item.text();
  return out;
}

}  // namespace cox::cli
