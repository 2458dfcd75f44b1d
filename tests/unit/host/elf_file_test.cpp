#include "host/note.hpp"

#include <elf.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cox/plugin.hpp>
#include <cstring>
#include <string>

namespace cox::host {
namespace {

using testing::HasSubstr;

constexpr auto kNote = cox::detail::Note("org.x", "1.2", "does x", "{}");

// An ELF file of nothing but a header, one note segment, and `notes`.
std::string Elf(const std::string& notes) {
  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_phoff = sizeof header;
  header.e_phnum = 1;
  Elf64_Phdr segment{};
  segment.p_type = PT_NOTE;
  segment.p_align = 4;
  segment.p_offset = sizeof header + sizeof segment;
  segment.p_filesz = notes.size();
  std::string out(sizeof header + sizeof segment, '\0');
  std::memcpy(out.data(), &header, sizeof header);
  std::memcpy(out.data() + sizeof header, &segment, sizeof segment);
  return out + notes;
}

std::string Ours() {
  return std::string(reinterpret_cast<const char*>(&kNote), sizeof kNote);
}

std::string Foreign() {  // a note of another owner, 5 bytes that are padded to 8
  const Elf64_Nhdr header{4, 5, 1};
  return std::string(reinterpret_cast<const char*>(&header), sizeof header) +
         std::string("GNU\0abcde\0\0\0", 12);
}

TEST(Note, ReadsBackWhatTheSdkWrote) {
  const auto note = ParseNote(Elf(Ours()), "x.so");
  ASSERT_TRUE(note && *note);
  EXPECT_EQ(**note, (Note{COX_ABI_MAJOR, COX_ABI_MINOR, "org.x", "1.2", "does x", "{}"}));
}

TEST(Note, IsFoundBehindNotesOfOthers) {
  const auto note = ParseNote(Elf(Foreign() + Ours()), "x.so");
  ASSERT_TRUE(note && *note);
  EXPECT_EQ((*note)->id, "org.x");
}

TEST(Note, AnElfFileMayHaveNone) {
  const auto note = ParseNote(Elf(Foreign()), "x.so");
  ASSERT_TRUE(note);
  EXPECT_FALSE(*note);
}

TEST(Note, EveryShorterFileIsAnErrorOrHasNoneButNeverCrashes) {
  const std::string whole = Elf(Foreign() + Ours());
  for (size_t n = 0; n < whole.size() - 3; ++n) {  // the last bytes may be padding
    const auto note = ParseNote(std::string_view(whole).substr(0, n), "x.so");
    EXPECT_TRUE(!note || !*note) << n;
  }
}

TEST(Note, AStringWithoutItsEndIsRefused) {
  std::string notes = Ours();
  const size_t content = sizeof(Elf64_Nhdr) + 12 + 4;
  for (size_t i = content; i < notes.size(); ++i)
    if (notes[i] == '\0') notes[i] = 'x';
  const auto note = ParseNote(Elf(notes), "x.so");
  ASSERT_FALSE(note);
  EXPECT_THAT(note.error().text, HasSubstr("x.so: its Coxswain note is cut short"));
}

TEST(Note, WhatIsNoElfFileIsSaidToBeNone) {
  EXPECT_THAT(ParseNote("#!/bin/sh\n", "x.so").error().text, HasSubstr("is no 64-bit"));
  EXPECT_EQ(ReadNote("/nonexistent/x.so").error().code, Code::kNotFound);
}

}  // namespace
}  // namespace cox::host
