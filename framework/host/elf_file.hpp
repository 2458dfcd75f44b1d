// The ELF note that COX_PLUGIN puts into a library: what the plugin is, as plain data that can be
// read without mapping the file as code. Read with <elf.h> alone (decision 0021): Boost.DLL lists
// symbols, not contents. Pure but for the file; bounds-checked, since the file may be anything.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace cox::host {

struct Note {
  uint16_t abi_major = 0, abi_minor = 0;
  std::string id, version, summary, config_schema;

  friend bool operator==(const Note&, const Note&) = default;
};

// none: an ELF file without such a note. Error: no ELF file, or a broken note.
Result<std::optional<Note>> ReadNote(const std::string& path);
Result<std::optional<Note>> ParseNote(std::string_view elf, const std::string& path);

}  // namespace cox::host
