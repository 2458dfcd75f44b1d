#include "host/loader.hpp"

#include <dlfcn.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <exception>
#include <filesystem>
#include <utility>

#define BOOST_DLL_USE_STD_FS
#include <boost/dll/shared_library.hpp>

#include "host/elf_file.hpp"
#include "host/instance.hpp"

namespace cox::host {
namespace {

constexpr char kEntry[] = "cox_plugin_entry";

Result<void> CheckOwner(const std::string& path, const std::string& shown) {
  struct stat st {};
  if (::stat(path.c_str(), &st) != 0)
    return NotFound(shown + ": " + std::strerror(errno) + "; correct `path`");
  const char* kind = S_ISDIR(st.st_mode) ? "directory " : "";
  if (st.st_uid != 0 && st.st_uid != ::geteuid())
    return Forbidden(shown + ": " + kind + path + " is owned by uid " + std::to_string(st.st_uid) +
                     ", neither root nor uid " + std::to_string(::geteuid()) +
                     "; change its owner");
  if ((st.st_mode & (S_IWGRP | S_IWOTH)) != 0)
    return Forbidden(shown + ": " + kind + path +
                     " is writable by its group or by everybody; chmod go-w " + path);
  return {};
}

}  // namespace

Result<std::string> CheckFile(const std::string& path) {
  if (!path.starts_with('/'))
    return InvalidArgument((path.empty() ? "an empty path" : path) +
                           ": a plugin's path must be absolute");
  std::error_code error;
  const std::string real = std::filesystem::canonical(path, error).string();
  if (error) return NotFound(path + ": " + error.message() + "; correct `path`");
  if (!std::filesystem::is_regular_file(real, error))
    return InvalidArgument(path + ": is no regular file; name the plugin's .so");
  if (auto ok = CheckOwner(real, path); !ok) return ok.error();
  if (auto ok = CheckOwner(std::filesystem::path(real).parent_path(), path); !ok) return ok.error();
  return real;
}

Result<const cox_plugin*> Load(const std::string& path) {
  auto real = CheckFile(path);
  if (!real) return real.error();
  const auto elf = ReadElf(*real);
  if (!elf) return elf.error();
  if (std::ranges::find(elf->exports, kEntry) == elf->exports.end())
    return InvalidArgument(path + ": does not export " + kEntry +
                           "; end its source with COX_PLUGIN(...)");
  if (elf->note && elf->note->abi_major != COX_ABI_MAJOR)  // before any of its code runs
    return WrongMajor(path, elf->note->abi_major, elf->note->abi_minor);
  try {
    // Why NODELETE: see the header. The handle may then go; the mapping stays.
    const auto mode = boost::dll::load_mode::rtld_now | boost::dll::load_mode::rtld_local |
                      static_cast<boost::dll::load_mode::type>(RTLD_NODELETE);
    boost::dll::shared_library library(*real, mode);
    const cox_plugin* table = library.get<const cox_plugin*()>(kEntry)();
    if (auto ok = CheckTable(table, path); !ok) return ok.error();
    return table;
  } catch (const std::exception& x) {
    return InvalidArgument(path + ": cannot be loaded (" + x.what() + ")");
  }
}

Result<Manifest> Inspect(const std::string& path) {
  std::error_code error;
  const std::string real = std::filesystem::canonical(path, error).string();
  if (error) return NotFound(path + ": " + error.message());
  auto elf = ReadElf(real);
  if (!elf) return elf.error();
  if (!elf->note)
    return FailedPrecondition(path +
                              ": carries no Coxswain note, so it cannot be read without "
                              "running it; build it with the SDK's COX_PLUGIN");
  return Manifest{std::move(*elf->note), real, std::move(elf->exports)};
}

Result<Checked> Check(const spec::PluginConfig& config) {
  auto table = Load(config.path);
  if (!table) return table.error();
  const std::string where = config.position.empty() ? "configuration" : config.position;
  auto values = Config::Create((*table)->config_schema, config.config_json, where);
  if (!values) return values.error();
  auto instance = Instance::Create(*table, config, {});
  if (!instance) return instance.error();
  Checked checked{(*table)->id, (*table)->version, {}, values->ToJson()};
  for (int p = 0; p < kPoints; ++p)
    if ((*instance)->Offers(static_cast<Point>(p)))
      checked.points.emplace_back(Name(static_cast<Point>(p)));
  return checked;
}

}  // namespace cox::host
