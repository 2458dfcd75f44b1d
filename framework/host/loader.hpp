// From a path in the site file to a plugin's table. Each refusal is one line that names the path,
// what is wrong and what to do. Only absolute paths from the configuration, never a search path; a
// library once loaded stays mapped until exit, since a pointer into it may be anywhere.
// Thread: [load], no cycle running. No state.
#pragma once

#include <cox/plugin.h>

#include <string>
#include <vector>

#include "base/result.hpp"
#include "host/elf_file.hpp"
#include "spec/site.hpp"

namespace cox::host {

// May this file be loaded at all? Absolute, there, a regular file; it and its directory are owned
// by root or by us and writable by nobody else. Returns the real path behind symbolic links.
Result<std::string> CheckFile(const std::string& path);

// Checks the file, its exports and its ABI note, and only then loads it and runs cox_plugin_entry.
Result<const cox_plugin*> Load(const std::string& path);

// What a library says about itself in its ELF note. Runs none of its code.
struct Manifest : Note {
  std::string path;  // behind symbolic links
  std::vector<std::string> exports;
};
Result<Manifest> Inspect(const std::string& path);

// `cox plugin check`: loads the plugin, judges `config_json` by its schema and creates one
// instance.
struct Checked {
  std::string id, version;
  std::vector<std::string> points;  // "quota", "filter", ...
  std::string config_json;          // complete, with defaults
};
Result<Checked> Check(const spec::PluginConfig& config);

}  // namespace cox::host
