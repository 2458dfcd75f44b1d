#include "host/elf_file.hpp"

#include <elf.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>
#include <utility>

namespace cox::host {
namespace {

constexpr std::string_view kOwner("Coxswain", 9);  // with its NUL
constexpr uint32_t kType = 1;

// A T at `offset`; false: (partly) outside.
template <class T>
bool Read(std::string_view bytes, uint64_t offset, T& out) {
  if (offset > bytes.size() || bytes.size() - offset < sizeof out) return false;
  std::memcpy(&out, bytes.data() + offset, sizeof out);
  return true;
}

std::optional<std::string_view> Slice(std::string_view bytes, uint64_t offset, uint64_t size) {
  if (offset > bytes.size() || bytes.size() - offset < size) return std::nullopt;
  return bytes.substr(offset, size);
}

// Up to the NUL; false: there is none.
bool TakeString(std::string_view& rest, std::string& out) {
  const size_t end = rest.find('\0');
  if (end == std::string_view::npos) return false;
  out = rest.substr(0, end);
  rest.remove_prefix(end + 1);
  return true;
}

Error CutShort(const std::string& path, const char* what) {
  return InvalidArgument(path + ": its " + what + " is cut short; copy or build it again");
}

Result<Note> ParseContent(std::string_view content, const std::string& path) {
  Note note;
  if (!Read(content, 0, note.abi_major) || !Read(content, 2, note.abi_minor))
    return CutShort(path, "Coxswain note");
  content.remove_prefix(4);
  for (std::string* field : {&note.id, &note.version, &note.summary, &note.config_schema})
    if (!TakeString(content, *field)) return CutShort(path, "Coxswain note");
  return note;
}

// The notes of one segment; ours goes into `out`.
Result<void> ParseNotes(std::string_view notes, const std::string& path, std::optional<Note>& out) {
  const auto padded = [](uint64_t n) { return (n + 3) & ~uint64_t{3}; };
  Elf64_Nhdr header;
  while (Read(notes, 0, header)) {
    notes.remove_prefix(sizeof header);
    const auto owner = Slice(notes, 0, header.n_namesz);
    const auto content = Slice(notes, padded(header.n_namesz), header.n_descsz);
    if (!owner || !content) return CutShort(path, "note segment");
    if (header.n_type == kType && *owner == kOwner) {
      auto note = ParseContent(*content, path);
      if (!note) return note.error();
      out = std::move(*note);
    }
    const uint64_t whole = padded(header.n_namesz) + padded(header.n_descsz);
    notes.remove_prefix(std::min<uint64_t>(notes.size(), whole));
  }
  return {};
}

// The defined symbols of one dynamic symbol table.
Result<void> ParseSymbols(std::string_view symbols, std::string_view names, const std::string& path,
                          std::vector<std::string>& out) {
  Elf64_Sym symbol;
  for (uint64_t at = 0; Read(symbols, at, symbol); at += sizeof symbol) {
    if (symbol.st_shndx == SHN_UNDEF || ELF64_ST_BIND(symbol.st_info) == STB_LOCAL) continue;
    std::string name;
    std::string_view rest = names.substr(std::min<uint64_t>(symbol.st_name, names.size()));
    if (!TakeString(rest, name)) return CutShort(path, "table of symbol names");
    out.push_back(std::move(name));
  }
  return {};
}

}  // namespace

Result<ElfFile> ParseElf(std::string_view bytes, const std::string& path) {
  Elf64_Ehdr header;
  if (!Read(bytes, 0, header) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0)
    return InvalidArgument(path + ": is no shared library (no ELF file)");
  if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB)
    return InvalidArgument(path + ": is a library for another kind of machine");
  ElfFile file;
  for (uint64_t i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment;
    if (!Read(bytes, header.e_phoff + i * sizeof segment, segment))
      return CutShort(path, "table of segments");
    if (segment.p_type != PT_NOTE || segment.p_align == 8) continue;  // 8: GNU properties
    const auto notes = Slice(bytes, segment.p_offset, segment.p_filesz);
    if (!notes) return CutShort(path, "note segment");
    if (auto ok = ParseNotes(*notes, path, file.note); !ok) return ok.error();
  }
  const auto section = [&](uint64_t i, Elf64_Shdr& out) {
    return i < header.e_shnum && Read(bytes, header.e_shoff + i * sizeof out, out);
  };
  for (uint64_t i = 0; i < header.e_shnum; ++i) {
    Elf64_Shdr table, strings;
    if (!section(i, table)) return CutShort(path, "table of sections");
    if (table.sh_type != SHT_DYNSYM) continue;
    if (!section(table.sh_link, strings)) return CutShort(path, "table of sections");
    const auto symbols = Slice(bytes, table.sh_offset, table.sh_size);
    const auto names = Slice(bytes, strings.sh_offset, strings.sh_size);
    if (!symbols || !names) return CutShort(path, "table of symbols");
    if (auto ok = ParseSymbols(*symbols, *names, path, file.exports); !ok) return ok.error();
  }
  return file;
}

Result<ElfFile> ReadElf(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  if (!file) return NotFound(path + ": cannot be read");
  return ParseElf(bytes, path);
}

}  // namespace cox::host
