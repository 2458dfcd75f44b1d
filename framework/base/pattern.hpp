// A regular expression that a user wrote, for text that a user wrote: the time of a match grows
// with the text's length alone, memory is bounded, nothing recurses (decision 0003). So neither can
// hold the decision thread. RE2's syntax: Perl's without back-references and look-around. Bytes
// are matched, since a log need not be UTF-8. Immutable; any thread.
#pragma once

#include <memory>
#include <string_view>

#include "base/result.hpp"

namespace re2 {
class RE2;
}

namespace cox {

class Pattern {
 public:
  // The error is RE2's text, without the expression.
  static Result<Pattern> Compile(std::string_view expression);

  bool IsIn(std::string_view text) const;

 private:
  explicit Pattern(std::shared_ptr<const re2::RE2> compiled) : compiled_(std::move(compiled)) {}

  std::shared_ptr<const re2::RE2> compiled_;
};

}  // namespace cox
