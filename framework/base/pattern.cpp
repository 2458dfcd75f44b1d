#include "base/pattern.hpp"

#include <re2/re2.h>

namespace cox {
namespace {

constexpr int64_t kMostMemory = 1 << 20;

re2::StringPiece Piece(std::string_view text) {
  return {text.data(), text.size()};
}

}  // namespace

Result<Pattern> Pattern::Compile(std::string_view expression) {
  RE2::Options options;
  options.set_encoding(RE2::Options::EncodingLatin1);
  options.set_log_errors(false);
  options.set_max_mem(kMostMemory);
  auto compiled = std::make_shared<const RE2>(Piece(expression), options);
  if (!compiled->ok()) return InvalidArgument(compiled->error());
  return Pattern(std::move(compiled));
}

bool Pattern::IsIn(std::string_view text) const {
  return RE2::PartialMatch(Piece(text), *compiled_);
}

}  // namespace cox
