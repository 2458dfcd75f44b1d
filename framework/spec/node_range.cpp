#include "spec/node_range.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>

#include "spec/text.hpp"

namespace cox::spec {
namespace {

constexpr size_t kMaxNames = 65536;
constexpr size_t kMaxDigits = 9;
constexpr size_t kMaxNameLength = 253;

std::optional<uint32_t> Bound(std::string_view text) {
  uint32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool all = error == std::errc() && end == text.data() + text.size();
  return all && text.size() <= kMaxDigits ? std::optional(value) : std::nullopt;
}

std::vector<std::string_view> Split(std::string_view text, bool outside_brackets) {
  std::vector<std::string_view> parts;
  int depth = 0;
  size_t begin = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '[') ++depth;
    if (text[i] == ']') --depth;
    if (text[i] == ',' && (!outside_brackets || depth == 0)) {
      parts.push_back(text.substr(begin, i - begin));
      begin = i + 1;
    }
  }
  parts.push_back(text.substr(begin));
  return parts;
}

// "1-3,7" -> 1 2 3 7; nullopt if it is not a list of ranges.
std::optional<std::vector<std::string>> Numbers(std::string_view ranges) {
  std::vector<std::string> numbers;
  for (const std::string_view range : Split(ranges, false)) {
    const size_t dash = range.find('-');
    const std::string_view first = range.substr(0, dash);
    const std::string_view last = dash == std::string_view::npos ? first : range.substr(dash + 1);
    const auto from = Bound(first);
    const auto to = Bound(last);
    if (!from || !to || *from > *to || numbers.size() + (*to - *from) >= kMaxNames) {
      return std::nullopt;
    }
    for (uint32_t n = *from; n <= *to; ++n) {
      std::string digits = std::to_string(n);
      if (digits.size() < first.size()) digits.insert(0, first.size() - digits.size(), '0');
      numbers.push_back(std::move(digits));
    }
  }
  return numbers;
}

// All names of one word such as r[1-2]n[1-2]; nullopt if it is malformed.
std::optional<std::vector<std::string>> Expand(std::string_view word) {
  std::vector<std::string> names = {""};
  while (!word.empty()) {
    const size_t open = word.find('[');
    for (std::string& name : names) name += word.substr(0, open);
    if (open == std::string_view::npos) break;
    const size_t close = word.find(']', open);
    if (close == std::string_view::npos) return std::nullopt;
    const auto numbers = Numbers(word.substr(open + 1, close - open - 1));
    if (!numbers || names.size() * numbers->size() > kMaxNames) return std::nullopt;
    std::vector<std::string> longer;
    longer.reserve(names.size() * numbers->size());
    for (const std::string& name : names) {
      for (const std::string& number : *numbers) longer.push_back(name + number);
    }
    names = std::move(longer);
    word.remove_prefix(close + 1);
  }
  const bool good = std::all_of(names.begin(), names.end(), [](const std::string& name) {
    return IsName(name, kMaxNameLength);
  });
  return good ? std::optional(std::move(names)) : std::nullopt;
}

}  // namespace

Result<std::vector<std::string>> ExpandNodes(std::string_view text) {
  std::vector<std::string> all;
  for (const std::string_view word : Split(text, true)) {
    const auto names = Expand(word);
    if (!names || all.size() + names->size() > kMaxNames) {
      return InvalidArgument(Quote(text) + " is not a list of at most " +
                             std::to_string(kMaxNames) + " nodes such as n1 or n[1-4,7]");
    }
    all.insert(all.end(), names->begin(), names->end());
  }
  return all;
}

}  // namespace cox::spec
