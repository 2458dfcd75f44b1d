// The manual page in the language of man(7). Pure.
#pragma once

#include <string>

#include "tools/cox/command.hpp"

namespace cox::cli {

// cox(1): a section for each verb, then `epilogue` as it is.
std::string ManPage(const Command& program, const std::string& epilogue);

}  // namespace cox::cli
