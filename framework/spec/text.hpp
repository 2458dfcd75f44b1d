// Small pure functions on text that messages and checks share. For spec/, scenario/ and tools/.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cox::spec {

// The position of the first byte that is NUL or breaks UTF-8; none for good text.
std::optional<size_t> FirstBadByte(std::string_view text);

// In quotes, one line, at most 60 bytes of it: fit for a message.
std::string Quote(std::string_view text);

// "a, b, c"
std::string Join(const std::vector<std::string>& words);

// The word that was probably meant: few typing errors away; "" when none is near.
std::string Nearest(std::string_view word, const std::vector<std::string>& known);

// "; did you mean reserved?" or "".
std::string DidYouMean(std::string_view word, const std::vector<std::string>& known);

// Letters, digits, '-', '.' and '_', a letter or digit at both ends: what Slurm and Kubernetes both
// accept as the name of a node.
bool IsName(std::string_view text, size_t max_length);

}  // namespace cox::spec
