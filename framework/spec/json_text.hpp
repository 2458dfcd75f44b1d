// JSON text, where it differs from YAML and where we write it. Internal to spec/. Pure.
#pragma once

#include <string>
#include <string_view>

namespace cox::spec {

bool IsJson(std::string_view text);

// JSON is YAML but for two details of yaml-cpp: it wants no tabs between tokens, and no pairs of
// surrogates in escapes. `text` is known to be JSON. Lines stay where they are.
std::string JsonAsYaml(std::string_view text);

}  // namespace cox::spec
