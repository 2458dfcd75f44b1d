#include "slurm/marker.hpp"

#include <algorithm>

namespace cox::slurm {
namespace {

constexpr std::string_view kPrefix = "cox:";
constexpr std::string_view kPeoples = "cox: ";
constexpr std::string_view kWait = "wait";
constexpr std::string_view kAccepted = "accepted";
constexpr std::string_view kCreated = "created";
constexpr std::string_view kHeld = "held";

std::string_view NextWord(std::string_view& text) {
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  const std::string_view word = text.substr(0, text.find(' '));
  text.remove_prefix(word.size());
  return word;
}

bool IsWord(std::string_view word) {
  const size_t equals = word.find('=');
  return equals != word.npos && word.starts_with("X_") && word.find_first_of("{:") > equals;
}

std::string Encode(std::string_view value) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  std::string encoded;
  for (const char c : value) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte > ' ' && byte < 0x7f && c != '%' && c != '{') {
      encoded += c;
    } else {
      encoded += {'%', kDigits[byte >> 4], kDigits[byte & 15]};
    }
  }
  return encoded;
}

// One line: `squeue` prints it as it is.
std::string Told(std::string text, const model::Annotate& shown) {
  text.append(shown.state).append(" ").append(shown.reason);
  if (!shown.message.empty()) text.append(": ").append(shown.message);
  std::replace_if(
      text.begin(), text.end(), [](unsigned char c) { return c < ' '; }, ' ');
  return text;
}

// JSON may write a blank in another way.
std::string WithoutBlanks(const std::string& json) {
  std::string text;
  for (const char c : json) text += c == ' ' ? std::string("\\u0020") : std::string(1, c);
  return text;
}

std::string Start(const std::string& uuid, const std::vector<std::string>& words) {
  std::string text = std::string(kPrefix) + uuid;
  for (const std::string& word : words) text += " " + word;
  return text;
}

}  // namespace

std::optional<Marker> ParseMarker(std::string_view text) {
  if (!text.starts_with(kPrefix)) return std::nullopt;
  text.remove_prefix(kPrefix.size());
  Marker marker;
  marker.uuid = NextWord(text);
  if (marker.uuid.empty()) return std::nullopt;
  for (std::string_view rest = text; !rest.empty(); text = rest) {
    const std::string_view word = NextWord(rest);
    if (word == kWait) {
      marker.kind = Marker::Kind::kWait;
      marker.words.emplace_back(kWait);
    } else if (word == kAccepted) {
      marker.kind = Marker::Kind::kAccepted;
    } else if (word == kCreated) {
      marker.kind = Marker::Kind::kCreated;
    } else if (word == kHeld) {
      marker.held = true;
    } else if (IsWord(word)) {
      marker.words.emplace_back(word);
    } else {
      break;
    }
  }
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  if (text.starts_with('{')) {
    marker.options = text;
  } else if (!text.empty()) {
    marker.kind = Marker::Kind::kTaken;
    const size_t last = text.rfind(' ');
    if (last != text.npos && text.substr(last + 1).starts_with('{'))
      marker.options = text.substr(last + 1);
  }
  return marker;
}

std::string AcceptedComment(const std::string& uuid, const std::vector<std::string>& words,
                            const std::string& options_json) {
  return Start(uuid, words) + " " + std::string(kAccepted) + " " + options_json;
}

std::string CreatedComment(const std::string& uuid, const std::string& options_json) {
  return Start(uuid, {}) + " " + std::string(kCreated) + " " + options_json;
}

std::string StateComment(const Marker& marker, uint64_t version, const model::Annotate& shown) {
  std::string text =
      Told(Start(marker.uuid, marker.words) + " v" + std::to_string(version) + " ", shown);
  if (!marker.options.empty()) text += " " + WithoutBlanks(marker.options);
  return text;
}

std::string PeoplesComment(const model::Annotate& shown) {
  return Told(std::string(kPeoples), shown);
}

bool IsPeoplesComment(std::string_view comment) {
  return comment.starts_with(kPeoples);
}

std::vector<std::string> ContextWords(const std::vector<std::pair<std::string, std::string>>& env) {
  std::vector<std::string> words;
  for (const auto& [name, value] : env)
    if (name.starts_with("X_") && !value.empty()) words.push_back(name + "=" + Encode(value));
  return words;
}

}  // namespace cox::slurm
