#include "spec/json_text.hpp"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "spec/document.hpp"

namespace cox::spec {
namespace {

using nlohmann::json;

uint32_t HexDigits(std::string_view text) {
  uint32_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value, 16);
  return value;
}

void WriteText(const json& value, const Place& place, int64_t& line, std::string& out) {
  if (value.is_object()) {
    std::vector<std::pair<const std::string*, const Place*>> members;
    for (const auto& [key, member] : place.members) members.emplace_back(&key, &member);
    std::stable_sort(members.begin(), members.end(),
                     [](auto& a, auto& b) { return a.second->line < b.second->line; });
    out += '{';
    for (const auto& [key, member] : members) {
      if (out.back() != '{') out += ", ";
      for (; line < member->line; ++line) out += '\n';
      out += json(*key).dump() + ": ";
      WriteText(value.at(*key), *member, line, out);
    }
    out += '}';
  } else if (value.is_array()) {
    out += '[';
    for (size_t i = 0; i < value.size(); ++i) {
      if (i > 0) out += ", ";
      for (; line < place.items[i].line; ++line) out += '\n';
      WriteText(value[i], place.items[i], line, out);
    }
    out += ']';
  } else {
    out += place.literal.empty() ? value.dump() : place.literal;
  }
}

}  // namespace

std::string JsonAsYaml(std::string_view text) {
  std::string yaml;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '\t') {
      yaml += ' ';
    } else if (c != '\\') {
      yaml += c;
    } else if (const uint32_t high = text[i + 1] == 'u' ? HexDigits(text.substr(i + 2, 4)) : 0;
               high >= 0xD800 && high < 0xDC00) {
      const uint32_t low = HexDigits(text.substr(i + 8, 4));
      const uint32_t code = 0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00);
      char digits[9];
      std::snprintf(digits, sizeof digits, "%08x", code);
      yaml.append("\\U").append(digits);
      i += 11;
    } else {
      yaml += c;
      yaml += text[++i];
    }
  }
  return yaml;
}

bool IsJson(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t\r\n");
  return first != std::string_view::npos && text[first] == '{' && json::accept(text);
}

std::string TextOf(const json& value, const Place& place) {
  std::string text;
  int64_t line = place.line;
  WriteText(value, place, line, text);
  return text;
}

}  // namespace cox::spec
