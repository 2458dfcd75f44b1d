// Scripts that make a shell complete verbs, options and their values. Pure.
#pragma once

#include <string>

#include "tools/cox/command.hpp"

namespace cox::cli {

// `shell` is bash (source it) or zsh (a file _cox in its fpath, or source it).
std::string CompletionScript(const Command& program, const std::string& shell);

}  // namespace cox::cli
