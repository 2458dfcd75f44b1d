#include "spec/document.hpp"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <sstream>
#include <utility>

#include "spec/json_text.hpp"
#include "spec/text.hpp"

namespace cox::spec {
namespace {

using nlohmann::json;

constexpr size_t kMaxBytes = 1 << 20;
constexpr size_t kMaxDepth = 64;
constexpr size_t kMaxValues = 100'000;

std::string_view Digits(std::string_view& text) {
  size_t n = 0;
  while (n < text.size() && text[n] >= '0' && text[n] <= '9') ++n;
  const std::string_view digits = text.substr(0, n);
  text.remove_prefix(n);
  return digits;
}

// JSON's grammar of numbers; nullopt for everything else and for what 64 bits cannot hold.
std::optional<json> Number(std::string_view text) {
  std::string_view rest = text;
  if (rest.starts_with('-')) rest.remove_prefix(1);
  const std::string_view whole = Digits(rest);
  if (whole.empty() || (whole.size() > 1 && whole[0] == '0')) return std::nullopt;
  if (rest.empty()) {
    int64_t integer = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), integer);
    if (error != std::errc()) return std::nullopt;
    return json(integer);
  }
  if (rest.starts_with('.')) {
    rest.remove_prefix(1);
    if (Digits(rest).empty()) return std::nullopt;
  }
  if (rest.starts_with('e') || rest.starts_with('E')) {
    rest.remove_prefix(1);
    if (rest.starts_with('+') || rest.starts_with('-')) rest.remove_prefix(1);
    if (Digits(rest).empty()) return std::nullopt;
  }
  if (!rest.empty()) return std::nullopt;
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || !std::isfinite(number)) return std::nullopt;
  return json(number);
}

// Builds the value from the parser's events. After the first error it ignores all others: the
// parser has no other way to be stopped than an exception.
class Builder final : public YAML::EventHandler {
 public:
  explicit Builder(int64_t first_line) : first_line_(first_line) {}

  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    if (!Begin(mark, anchor, "")) return;
    if (ExpectsKey()) return Fail(mark, "a key is missing before ':'");
    Add(json(nullptr), {Line(mark), {}, {}, {}});
  }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override {
    Fail(mark, "aliases (*name) are not supported; write the value out");
  }

  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& text) override {
    if (!Begin(mark, anchor, tag)) return;
    if (text.find('\0') != std::string::npos) return Fail(mark, "the value contains a NUL");
    if (ExpectsKey()) return TakeKey(mark, text);
    Place place{Line(mark), {}, {}, {}};
    if (tag == "!") return Add(json(text), std::move(place));  // quoted
    std::optional<json> value = Number(text);
    if (text == "true" || text == "false") value = json(text == "true");
    if (value) {
      place.literal = text;
      return Add(std::move(*value), std::move(place));
    }
    Add(text == "null" || text == "~" ? json(nullptr) : json(text), std::move(place));
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    Open(mark, tag, anchor, json::array());
  }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    Open(mark, tag, anchor, json::object());
  }
  void OnSequenceEnd() override { Close(); }
  void OnMapEnd() override { Close(); }

  // Empty text when all is well; else "12: what".
  const std::string& error() const { return error_; }
  json& value() { return root_; }
  Place& place() { return root_place_; }

 private:
  struct Frame {  // a map or list that is still open
    json value;
    Place place;
    std::optional<std::string> key;  // of the member that comes next
    int64_t key_line = 0;
  };

  int64_t Line(const YAML::Mark& mark) const { return first_line_ + std::max(mark.line, 0); }

  void Fail(const YAML::Mark& mark, const std::string& what) {
    if (error_.empty()) error_ = std::to_string(Line(mark)) + ": " + what;
  }

  bool Begin(const YAML::Mark& mark, YAML::anchor_t anchor, const std::string& tag) {
    if (done_) Fail(mark, "a second document begins here; one file holds one document");
    if (anchor != YAML::NullAnchor) Fail(mark, "anchors (&name) are not supported");
    if (!tag.empty() && tag != "?" && tag != "!") Fail(mark, "tags (!type) are not supported");
    if (++values_ > kMaxValues) {
      Fail(mark, "more than " + std::to_string(kMaxValues) + " values in one document");
    }
    return error_.empty();
  }

  bool ExpectsKey() const {
    return !open_.empty() && open_.back().value.is_object() && !open_.back().key;
  }

  void TakeKey(const YAML::Mark& mark, const std::string& text) {
    Frame& frame = open_.back();
    const auto before = frame.place.members.find(text);
    if (before != frame.place.members.end()) {
      return Fail(mark, "key " + Quote(text) + " is written twice; first on line " +
                            std::to_string(before->second.line));
    }
    frame.key = text;
    frame.key_line = Line(mark);
  }

  void Open(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor, json value) {
    if (!Begin(mark, anchor, tag)) return;
    if (ExpectsKey()) return Fail(mark, "a key must be plain text");
    if (open_.size() == kMaxDepth) {
      return Fail(mark, "nested deeper than " + std::to_string(kMaxDepth) + " levels");
    }
    open_.push_back({std::move(value), {Line(mark), {}, {}, {}}, {}, 0});
  }

  void Close() {
    if (!error_.empty()) return;
    Frame frame = std::move(open_.back());
    open_.pop_back();
    Add(std::move(frame.value), std::move(frame.place));
  }

  void Add(json value, Place place) {
    if (open_.empty()) {
      root_ = std::move(value);
      root_place_ = std::move(place);
      done_ = true;
      return;
    }
    Frame& frame = open_.back();
    if (frame.value.is_array()) {
      frame.value.push_back(std::move(value));
      frame.place.items.push_back(std::move(place));
      return;
    }
    place.line = frame.key_line;
    frame.value.emplace(*frame.key, std::move(value));
    frame.place.members.emplace(*frame.key, std::move(place));
    frame.key.reset();
  }

  const int64_t first_line_;
  std::vector<Frame> open_;
  size_t values_ = 0;
  bool done_ = false;
  std::string error_;
  json root_;
  Place root_place_;
};

struct Position {
  std::string file;
  int64_t line = 1;
  std::string path;
};

// "site.yaml:47" -> {"site.yaml", 47, ""}
Position FileAndLine(std::string_view position) {
  const size_t colon = position.rfind(':');
  int64_t line = 0;
  if (colon != std::string_view::npos) {
    const char* const end = position.data() + position.size();
    const auto [stop, error] = std::from_chars(position.data() + colon + 1, end, line);
    if (error == std::errc() && stop == end && line > 0) {
      return {std::string(position.substr(0, colon)), line, ""};
    }
  }
  return {std::string(position), 1, ""};
}

// "site.yaml:47: plugins[1].config" -> {"site.yaml", 47, "plugins[1].config"}
Position Split(std::string_view position) {
  const size_t end = position.rfind(": ");
  if (end == std::string_view::npos) return FileAndLine(position);
  Position split = FileAndLine(position.substr(0, end));
  if (split.file.size() == end) return {std::string(position), 1, ""};  // that was no line
  split.path = position.substr(end + 2);
  return split;
}

}  // namespace

Result<Document> ParseDocument(std::string_view text, std::string_view position) {
  const auto [file, first_line, path] = Split(position);
  const std::string prefix = file + ":";
  if (text.size() > kMaxBytes) {
    return InvalidArgument(prefix + " " + std::to_string(text.size()) +
                           " bytes are too many; at most " + std::to_string(kMaxBytes));
  }
  if (const auto bad = FirstBadByte(text)) {
    const auto lines = std::count(text.begin(), text.begin() + *bad, '\n');
    return InvalidArgument(prefix + std::to_string(first_line + lines) + ": byte " +
                           std::to_string(*bad) +
                           (text[*bad] == 0 ? " is NUL; this is not a text file"
                                            : " is not UTF-8; save the file as UTF-8"));
  }
  Builder builder(first_line);
  try {
    std::string yaml = IsJson(text) ? JsonAsYaml(text) : std::string(text);
    // Without an end mark the parser takes an open quote before the last newline for closed.
    if (yaml.ends_with('\n')) yaml += "...\n";
    std::istringstream stream(yaml);
    YAML::Parser parser(stream);
    while (builder.error().empty() && parser.HandleNextDocument(builder)) {
    }
  } catch (const YAML::Exception& e) {
    const int64_t line = first_line + std::max(e.mark.line, 0);
    if (builder.error().empty()) {
      return InvalidArgument(prefix + std::to_string(line) + ": not YAML: " + e.msg);
    }
  } catch (const std::exception& e) {
    return InvalidArgument(prefix + " not YAML: " + e.what());
  }
  if (!builder.error().empty()) return InvalidArgument(prefix + builder.error());
  return Document{file, path, std::move(builder.value()), std::move(builder.place())};
}

const Place* Find(const Place& root, const std::vector<std::string>& keys) {
  const Place* place = &root;
  for (const std::string& key : keys) {
    const auto member = place->members.find(key);
    if (member == place->members.end()) return nullptr;
    place = &member->second;
  }
  return place;
}

}  // namespace cox::spec
