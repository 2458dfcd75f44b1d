#include "tools/cox/plugin_options.hpp"

#include <filesystem>

namespace cox::cli {
namespace {

std::string BuiltInPlugins() {
  namespace fs = std::filesystem;
  std::error_code none;
  const fs::path root = fs::read_symlink("/proc/self/exe", none).parent_path().parent_path();
  for (const char* folder : {"lib/cox/plugins", "plugins"}) {
    if (fs::exists(root / folder / "quota_tree.so", none)) return root / folder;
  }
  return "";
}

}  // namespace

host::Options PluginOptions(const Arguments& args, const std::string& folder) {
  host::Options options;
  options.plugin_directory = !args.plugin_directory.empty() ? args.plugin_directory
                             : !folder.empty()              ? folder
                                                            : BuiltInPlugins();
  std::error_code none;
  options.plugin_directory = std::filesystem::absolute(options.plugin_directory, none).string();
  return options;
}

}  // namespace cox::cli
