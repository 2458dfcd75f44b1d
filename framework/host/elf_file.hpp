// What can be known of a library without mapping it as code: its exports, and the note that
// COX_PLUGIN puts into it. Read with <elf.h> alone, because boost::dll::library_info sees neither
// notes nor the exports of a stripped library (decision 0021). Pure but for the file; every offset
// is checked, since the file may be anything.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace cox::host {

struct Note {
  uint16_t abi_major = 0, abi_minor = 0;
  std::string id, version, summary, config_schema;

  friend bool operator==(const Note&, const Note&) = default;
};

struct ElfFile {
  std::vector<std::string> exports;  // defined dynamic symbols, in the order of the file
  std::optional<Note> note;          // none: not built with COX_PLUGIN
};

// `path` is for messages.
Result<ElfFile> ParseElf(std::string_view bytes, const std::string& path);
Result<ElfFile> ReadElf(const std::string& path);

}  // namespace cox::host
