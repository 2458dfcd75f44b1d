// Where `cox` finds plugins when it runs a scheduler of its own.
#pragma once

#include "host/plugins.hpp"
#include "tools/cox/arguments.hpp"

namespace cox::cli {

// --plugin-dir, else `folder`, else the built-in plugins beside this program: of the installation,
// or of the build tree.
host::Options PluginOptions(const Arguments& args, const std::string& folder = "");

}  // namespace cox::cli
