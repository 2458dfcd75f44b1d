#include "host/note.hpp"

#include <elf.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>

namespace cox::host {
namespace {

constexpr std::string_view kOwner("Coxswain", 9);  // with its NUL
constexpr uint32_t kType = 1;

// Reads a T at `offset`; false: outside.
template <class T>
bool Read(std::string_view bytes, uint64_t offset, T& out) {
  if (offset > bytes.size() || bytes.size() - offset < sizeof out) return false;
  std::memcpy(&out, bytes.data() + offset, sizeof out);
  return true;
}

bool TakeString(std::string_view& rest, std::string& out) {
  const size_t end = rest.find('\0');
  if (end == std::string_view::npos) return false;
  out = rest.substr(0, end);
  rest.remove_prefix(end + 1);
  return true;
}

Result<std::optional<Note>> Broken(const std::string& path) {
  return InvalidArgument(path + ": its Coxswain note is cut short; rebuild it with the SDK");
}

Result<std::optional<Note>> ParseContent(std::string_view content, const std::string& path) {
  Note note;
  if (!Read(content, 0, note.abi_major) || !Read(content, 2, note.abi_minor)) return Broken(path);
  content.remove_prefix(4);
  for (std::string* field : {&note.id, &note.version, &note.summary, &note.config_schema})
    if (!TakeString(content, *field)) return Broken(path);
  return std::optional<Note>(std::move(note));
}

constexpr uint64_t RoundUp4(uint64_t n) {
  return (n + 3) & ~uint64_t{3};
}

}  // namespace

Result<std::optional<Note>> ParseNote(std::string_view elf, const std::string& path) {
  Elf64_Ehdr header;
  if (!Read(elf, 0, header) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
      header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB)
    return InvalidArgument(path + ": is no 64-bit little-endian ELF file");
  for (uint64_t i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment;
    if (!Read(elf, header.e_phoff + i * sizeof segment, segment))
      return InvalidArgument(path + ": its ELF program headers are cut short");
    if (segment.p_type != PT_NOTE || segment.p_align == 8) continue;
    if (segment.p_offset > elf.size() || elf.size() - segment.p_offset < segment.p_filesz)
      return Broken(path);
    std::string_view notes = elf.substr(segment.p_offset, segment.p_filesz);
    Elf64_Nhdr note;
    while (Read(notes, 0, note)) {
      notes.remove_prefix(sizeof note);
      const uint64_t owner = RoundUp4(note.n_namesz), content = RoundUp4(note.n_descsz);
      if (notes.size() < owner + note.n_descsz) return Broken(path);
      if (note.n_type == kType && notes.substr(0, note.n_namesz) == kOwner)
        return ParseContent(notes.substr(owner, note.n_descsz), path);
      notes.remove_prefix(std::min<uint64_t>(notes.size(), owner + content));
    }
  }
  return std::optional<Note>();
}

Result<std::optional<Note>> ReadNote(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  if (!file) return NotFound(path + ": cannot be read");
  return ParseNote(bytes, path);
}

}  // namespace cox::host
