#include "spec/text.hpp"

#include <algorithm>
#include <cstdint>
#include <numeric>

namespace cox::spec {
namespace {

constexpr size_t kQuoted = 60;
constexpr size_t kLongestWord = 64;  // nobody mistypes a longer one; bounds the work, too

bool IsAlnum(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

// Length of the UTF-8 sequence at the front of `text`; 0 if it is not one.
size_t SequenceLength(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<uint8_t>(text[i]); };
  const uint8_t lead = byte(0);
  if (lead < 0x80) return lead == 0 ? 0 : 1;
  const size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || text.size() < length) return 0;
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return 0;
  }
  const uint8_t second = byte(1);
  const bool overlong = (lead == 0xE0 && second < 0xA0) || (lead == 0xF0 && second < 0x90);
  const bool surrogate = lead == 0xED && second > 0x9F;
  const bool too_large = lead == 0xF4 && second > 0x8F;
  return overlong || surrogate || too_large ? 0 : length;
}

// Insertions, deletions, replacements and swaps of neighbours (optimal string alignment).
size_t EditDistance(std::string_view a, std::string_view b) {
  std::vector<size_t> before(b.size() + 1), above(b.size() + 1), row(b.size() + 1);
  std::iota(above.begin(), above.end(), size_t{0});
  for (size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, above[j - 1] + (a[i - 1] != b[j - 1])});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        row[j] = std::min(row[j], before[j - 2] + 1);
      }
    }
    std::swap(before, above);
    std::swap(above, row);
  }
  return above[b.size()];
}

std::string Lower(std::string_view text) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return lower;
}

}  // namespace

std::optional<size_t> FirstBadByte(std::string_view text) {
  size_t at = 0;
  while (at < text.size()) {
    const size_t length = SequenceLength(text.substr(at));
    if (length == 0) return at;
    at += length;
  }
  return std::nullopt;
}

std::string Quote(std::string_view text) {
  static constexpr char kHex[] = "0123456789abcdef";
  std::string quoted = "\"";
  size_t at = 0;
  while (at < text.size() && quoted.size() <= kQuoted) {
    const size_t length = std::max<size_t>(SequenceLength(text.substr(at)), 1);
    const auto byte = static_cast<uint8_t>(text[at]);
    if (text[at] == '\n') {
      quoted += "\\n";
    } else if (text[at] == '"' || text[at] == '\\') {
      quoted += {'\\', text[at]};
    } else if (byte < 0x20 || byte == 0x7F || (byte >= 0x80 && length == 1)) {
      quoted += {'\\', 'x', kHex[byte >> 4], kHex[byte & 15]};
    } else {
      quoted += text.substr(at, length);
    }
    at += length;
  }
  return quoted + (at < text.size() ? "...\"" : "\"");
}

std::string Join(const std::vector<std::string>& words) {
  std::string joined;
  for (const std::string& word : words) joined += (joined.empty() ? "" : ", ") + word;
  return joined;
}

std::string Nearest(std::string_view word, const std::vector<std::string>& known) {
  if (word.empty() || word.size() > kLongestWord) return "";
  const std::string lower = Lower(word);
  size_t best_distance = std::max<size_t>(2, word.size() / 3) + 1;
  std::string best;
  for (const std::string& candidate : known) {
    if (candidate.size() > kLongestWord) continue;
    const size_t distance = EditDistance(lower, Lower(candidate));
    // A short word is not "near" another one when nothing of it is left.
    if (distance < best_distance && distance < std::min(word.size(), candidate.size())) {
      best_distance = distance;
      best = candidate;
    }
  }
  return best;
}

std::string DidYouMean(std::string_view word, const std::vector<std::string>& known) {
  const std::string nearest = Nearest(word, known);
  return nearest.empty() ? "" : "; did you mean " + nearest + "?";
}

bool IsName(std::string_view text, size_t max_length) {
  if (text.empty() || text.size() > max_length) return false;
  if (!IsAlnum(text.front()) || !IsAlnum(text.back())) return false;
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return IsAlnum(c) || c == '-' || c == '.' || c == '_'; });
}

}  // namespace cox::spec
