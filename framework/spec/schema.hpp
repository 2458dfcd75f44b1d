// Is a document what its JSON Schema (draft 7) says? If so, every default of the schema is filled
// in. The site file, jobs, plugin configurations and adapter blocks are all judged here, so that a
// mistake reads the same everywhere:
//   site.yaml:12: plugins[0].config.limit: -4 is below the minimum 0
// Pure and reentrant. Understands local $ref; defaults are found through properties,
// additionalProperties, items and $ref, not inside of anyOf and its like.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace cox::spec {

struct Document;

// For other folders: YAML or JSON text in, complete JSON text out. `position` as for
// ParseDocument: "site.yaml:47" when the text began there.
Result<std::string> ValidateAndDefault(std::string_view text, std::string_view position,
                                       std::string_view schema);

// A schema that is read once and judges many documents. Immutable once built: const calls may come
// from any thread. A text that is no usable schema is told by every judgement.
class Schema {
 public:
  explicit Schema(std::string_view text);
  ~Schema();

  // In place. All errors are in one text, a line each, in the order of the file; the first 20 are
  // written out.
  Result<void> ValidateAndDefault(Document& document) const;

 private:
  struct Compiled;
  std::unique_ptr<Compiled> compiled_;
};

}  // namespace cox::spec
