// cox/harness/json.hpp -- just enough JSON for a test: reads a text, fills the defaults that a
// schema states, answers dotted paths. Validates nothing; the scheduler does that.
#pragma once

#include <cstdlib>
#include <cstring>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace cox::harness {

struct Json {
  enum class Kind { kNull, kBool, kNumber, kString, kArray, kObject } kind = Kind::kNull;
  std::string text;  // a string, or a number, true or false as written
  std::vector<Json> items;
  std::map<std::string, Json> members;

  const Json* Member(const std::string& key) const {
    const auto it = members.find(key);
    return it == members.end() ? nullptr : &it->second;
  }

  // "rules.0.exit_codes"; nullptr: no such key.
  const Json* At(std::string_view path) const {
    const Json* at = this;
    while (at != nullptr) {
      const size_t dot = path.find('.');
      const std::string key(path.substr(0, dot));
      if (at->kind == Kind::kArray) {
        const size_t i = std::strtoul(key.c_str(), nullptr, 10);
        at = i < at->items.size() ? &at->items[i] : nullptr;
      } else {
        at = at->Member(key);
      }
      if (dot == std::string_view::npos) break;
      path.remove_prefix(dot + 1);
    }
    return at;
  }
};

namespace detail {

class JsonReader {
 public:
  explicit JsonReader(std::string_view text) : text_(text) {}

  Json Document() {
    Json value = Value();
    Blank();
    if (at_ != text_.size()) Fail("something after the end");
    return value;
  }

 private:
  [[noreturn]] void Fail(const char* what) const {
    throw std::invalid_argument("JSON, character " + std::to_string(at_) + ": " + what);
  }
  void Blank() {
    while (at_ < text_.size() && std::strchr(" \t\r\n", text_[at_]) != nullptr) ++at_;
  }
  char Peek() {
    Blank();
    if (at_ == text_.size()) Fail("ends too early");
    return text_[at_];
  }
  bool Take(char c) {
    if (Peek() != c) return false;
    ++at_;
    return true;
  }
  void Need(char c) {
    if (!Take(c)) Fail("another character expected here");
  }

  Json Value() {
    Json value;
    const char c = Peek();
    if (c == '{') {
      value.kind = Json::Kind::kObject;
      for (++at_; !Take('}');) {
        std::string key = String();
        Need(':');
        value.members[key] = Value();
        if (Peek() != '}') Need(',');
      }
    } else if (c == '[') {
      value.kind = Json::Kind::kArray;
      for (++at_; !Take(']');) {
        value.items.push_back(Value());
        if (Peek() != ']') Need(',');
      }
    } else if (c == '"') {
      value.kind = Json::Kind::kString;
      value.text = String();
    } else {
      while (at_ < text_.size() && std::strchr(",]} \t\r\n", text_[at_]) == nullptr)
        value.text += text_[at_++];
      value.kind = value.text == "null"                            ? Json::Kind::kNull
                   : value.text == "true" || value.text == "false" ? Json::Kind::kBool
                                                                   : Json::Kind::kNumber;
      char* end = nullptr;
      (void)std::strtod(value.text.c_str(), &end);
      if (value.kind == Json::Kind::kNumber && (value.text.empty() || *end != '\0'))
        Fail("no JSON value");
    }
    return value;
  }

  std::string String() {
    Need('"');
    std::string out;
    while (true) {
      if (at_ == text_.size()) Fail("a string without an end");
      const char c = text_[at_++];
      if (c == '"') return out;
      if (c != '\\') {
        out += c;
        continue;
      }
      if (at_ == text_.size()) Fail("a string without an end");
      const char escaped = text_[at_++];
      if (escaped == 'u')
        Unicode(out);
      else if (const char* found = std::strchr("\"\"\\\\//b\bf\fn\nr\rt\t", escaped))
        out += found[1];
      else
        Fail("an unknown escape");
    }
  }

  void Unicode(std::string& out) {
    if (text_.size() - at_ < 4) Fail("\\u needs four digits");
    const auto code =
        static_cast<unsigned>(std::strtoul(std::string(text_.substr(at_, 4)).c_str(), nullptr, 16));
    at_ += 4;
    if (code < 0x80) {
      out += static_cast<char>(code);
    } else if (code < 0x800) {
      out += static_cast<char>(0xc0U | code >> 6U);
      out += static_cast<char>(0x80U | (code & 0x3fU));
    } else {
      out += static_cast<char>(0xe0U | code >> 12U);
      out += static_cast<char>(0x80U | (code >> 6U & 0x3fU));
      out += static_cast<char>(0x80U | (code & 0x3fU));
    }
  }

  std::string_view text_;
  size_t at_ = 0;
};

}  // namespace detail

inline Json ParseJson(std::string_view text) {
  return detail::JsonReader(text).Document();
}

// Fills what `value` lacks and the schema's `properties` and `items` give a default for.
inline void FillDefaults(Json& value, const Json& schema) {
  if (const Json* items = schema.Member("items"))
    for (Json& item : value.items) FillDefaults(item, *items);
  const Json* properties = schema.Member("properties");
  if (properties == nullptr || value.kind != Json::Kind::kObject) return;
  for (const auto& [key, rule] : properties->members) {
    auto it = value.members.find(key);
    if (it == value.members.end()) {
      const Json* fallback = rule.Member("default");
      if (fallback == nullptr) continue;
      it = value.members.emplace(key, *fallback).first;
    }
    FillDefaults(it->second, rule);
  }
}

}  // namespace cox::harness
