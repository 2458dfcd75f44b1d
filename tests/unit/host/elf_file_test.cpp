#include "host/elf_file.hpp"

#include <elf.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cox/plugin.hpp>
#include <cstring>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <string_view>

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

TEST(ElfFile, ReadsBackWhatTheSdkWrote) {
  const auto file = ParseElf(Elf(Ours()), "x.so");
  ASSERT_TRUE(file && file->note);
  EXPECT_EQ(*file->note, (Note{COX_ABI_MAJOR, COX_ABI_MINOR, "org.x", "1.2", "does x", "{}"}));
}

TEST(ElfFile, IsFoundBehindNotesOfOthers) {
  const auto file = ParseElf(Elf(Foreign() + Ours()), "x.so");
  ASSERT_TRUE(file && file->note);
  EXPECT_EQ(file->note->id, "org.x");
}

TEST(ElfFile, AnElfFileMayHaveNone) {
  const auto file = ParseElf(Elf(Foreign()), "x.so");
  ASSERT_TRUE(file);
  EXPECT_FALSE(file->note);
}

TEST(ElfFile, EveryShorterFileIsAnErrorOrHasNoneButNeverCrashes) {
  const std::string whole = Elf(Foreign() + Ours());
  for (size_t n = 0; n < whole.size() - 3; ++n) {  // the last bytes may be padding
    const auto file = ParseElf(std::string_view(whole).substr(0, n), "x.so");
    EXPECT_TRUE(!file || !file->note) << n;
  }
}

TEST(ElfFile, AStringWithoutItsEndIsRefused) {
  std::string notes = Ours();
  const size_t content = sizeof(Elf64_Nhdr) + 12 + 4;
  for (size_t i = content; i < notes.size(); ++i)
    if (notes[i] == '\0') notes[i] = 'x';
  const auto file = ParseElf(Elf(notes), "x.so");
  ASSERT_FALSE(file);
  EXPECT_THAT(file.error().text, HasSubstr("x.so: its Coxswain note is cut short"));
}

TEST(ElfFile, WhatIsNoElfFileIsSaidToBeNone) {
  EXPECT_EQ(ParseElf("#!/bin/sh\n", "x.so").error().text,
            "x.so: is no shared library (no ELF file)");
  std::string other = Elf("");
  other[EI_CLASS] = ELFCLASS32;
  EXPECT_EQ(ParseElf(other, "x.so").error().text, "x.so: is a library for another kind of machine");
  EXPECT_EQ(ReadElf("/nonexistent/x.so").error().code, Code::kNotFound);
}

TEST(ElfFile, NoDamageToARealLibraryIsReadBeyondItsEnd) {  // asan watches
  std::ifstream in(COX_SOURCE_DIR "/tests/abi/old/plugin_1_0.so", std::ios::binary);
  const std::string whole((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  ASSERT_GT(whole.size(), sizeof(Elf64_Ehdr));
  const auto intact = ParseElf(whole, "x.so");
  ASSERT_TRUE(intact);
  EXPECT_THAT(intact->exports, testing::ElementsAre("cox_plugin_entry"));
  std::mt19937_64 rng(17);
  for (int round = 0; round < 20'000; ++round) {
    std::string damaged = whole.substr(0, round % 2 == 0 ? whole.size() : rng() % whole.size());
    for (int hits = 0; hits < 4 && !damaged.empty(); ++hits)
      damaged[rng() % std::min<size_t>(damaged.size(), round % 3 == 0 ? 64 : damaged.size())] =
          static_cast<char>(rng());
    (void)ParseElf(damaged, "x.so").has_value();
  }
}

}  // namespace
}  // namespace cox::host
