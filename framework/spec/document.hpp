// YAML or JSON text as a value that remembers where each part stood and how it was written.
// For spec/ and scenario/ only. Plain data, owned by the caller; no thread of its own.
//
// What it promises about types, because YAML's own rules surprise people:
//   - quoted text is text; so are yes, on, 010, 0x10, 1_000, .5 and True;
//   - unquoted null, true, false and JSON numbers that fit 64 bits are what they look like, but
//     their literal is kept, so that the schema can still make them text (LR: 1e-4 stays "1e-4").
// Refused: more than 1 MiB, 100000 values or 64 levels, NUL, text that is not UTF-8, a key written
// twice, anchors, aliases and tags, and a second document.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace cox::spec {

struct Place {
  int64_t line = 0;
  std::string literal;  // as written, if it is a number or a boolean
  std::map<std::string, Place> members;
  std::vector<Place> items;
};

struct Document {
  std::string file;
  std::string path;  // of the whole value inside of the file; "" = it is the file
  nlohmann::json value;
  Place place;  // same shape as `value` was when it was read; defaults have no place
};

// `position` is the name used in messages; "site.yaml:47: plugins[1].config" means that the first
// line of the text is line 47 of site.yaml and what stands in it is the value of that key; without
// the key the text is a file of its own. Text without any value is null.
Result<Document> ParseDocument(std::string_view text, std::string_view position);

// nullptr where nothing was written.
const Place* Find(const Place& root, const std::vector<std::string>& keys);

// A part of a document as JSON text. Each value stands on the line it has in the source, counted
// from `place`, and keeps its literal: reading it again loses nothing.
std::string TextOf(const nlohmann::json& value, const Place& place);

}  // namespace cox::spec
