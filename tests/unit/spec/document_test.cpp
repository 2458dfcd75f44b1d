#include "spec/document.hpp"

#include <gmock/gmock.h>

#include "spec/text.hpp"

namespace cox::spec {
namespace {

using nlohmann::json;

Document Parse(std::string_view text, std::string_view position = "f.yaml") {
  auto document = ParseDocument(text, position);
  EXPECT_TRUE(document) << document.error().text;
  return document ? std::move(*document) : Document();
}

std::string ErrorOf(std::string_view text, std::string_view position = "f.yaml") {
  const auto document = ParseDocument(text, position);
  return document ? "accepted" : document.error().text;
}

json ValueOf(const std::string& scalar) {
  return Parse("v: " + scalar).value["v"];
}

std::string LiteralOf(const std::string& scalar) {
  return Parse("v: " + scalar).place.members.at("v").literal;
}

TEST(Document, JsonsOwnNumbersAreNumbers) {
  EXPECT_EQ(ValueOf("12"), json(12));
  EXPECT_EQ(ValueOf("-7"), json(-7));
  EXPECT_EQ(ValueOf("0"), json(0));
  EXPECT_EQ(ValueOf("0.5"), json(0.5));
  EXPECT_EQ(ValueOf("1e-4"), json(1e-4));
  EXPECT_EQ(ValueOf("9223372036854775807"), json(INT64_MAX));
  EXPECT_EQ(ValueOf("true"), json(true));
  EXPECT_EQ(ValueOf("null"), json(nullptr));
  EXPECT_EQ(ValueOf("~"), json(nullptr));
  EXPECT_EQ(ValueOf(""), json(nullptr));
}

TEST(Document, EverythingThatYamlVersionsDisputeIsText) {
  for (const char* text : {"yes", "no", "on", "off", "True", "010", "0x10", "0o10", "1_000", ".5",
                           "1.", "+1", "1:30", ".inf", ".nan", "2001-01-01", "1e", "--1"}) {
    EXPECT_EQ(ValueOf(text), json(text));
  }
}

TEST(Document, NumbersThatDoNotFitAreText) {
  EXPECT_EQ(ValueOf("9223372036854775808"), json("9223372036854775808"));
  EXPECT_EQ(ValueOf("1e999"), json("1e999"));
  EXPECT_EQ(ValueOf(std::string(5000, '9')), json(std::string(5000, '9')));
}

TEST(Document, QuotedTextIsText) {
  EXPECT_EQ(ValueOf("\"12\""), json("12"));
  EXPECT_EQ(ValueOf("'true'"), json("true"));
  EXPECT_EQ(ValueOf("\"\""), json(""));
  EXPECT_EQ(ValueOf("'null'"), json("null"));
  EXPECT_EQ(LiteralOf("'12'"), "");
}

TEST(Document, UnquotedNumbersKeepTheirLiteral) {
  EXPECT_EQ(LiteralOf("1e-4"), "1e-4");
  EXPECT_EQ(LiteralOf("1.10"), "1.10");
  EXPECT_EQ(LiteralOf("true"), "true");
  EXPECT_EQ(LiteralOf("abc"), "");
}

TEST(Document, BlocksKeepNewlinesQuotesAndCommas) {
  EXPECT_EQ(Parse("v: |\n  a, \"b\"\n  'c'\n").value["v"], json("a, \"b\"\n'c'\n"));
}

TEST(Document, EachPartKnowsItsLine) {
  const Document d = Parse("a: 1\n\nb:\n  - x\n  - c: 2\n    d: 3\n");
  EXPECT_EQ(d.place.members.at("a").line, 1);
  EXPECT_EQ(d.place.members.at("b").line, 3);
  EXPECT_EQ(d.place.members.at("b").items[0].line, 4);
  EXPECT_EQ(d.place.members.at("b").items[1].members.at("d").line, 6);
}

TEST(Document, APositionShiftsTheLines) {
  const Document d = Parse("a: 1\nb: 2\n", "site.yaml:47");
  EXPECT_EQ(d.file, "site.yaml");
  EXPECT_EQ(d.place.members.at("b").line, 48);
  EXPECT_EQ(ErrorOf("a: [", "site.yaml:47").substr(0, 13), "site.yaml:47:");
}

TEST(Document, JsonIsRead) {
  const Document d = Parse("{\t\"a\": \"x\\ty\\/\\u00e9\",\n\t\"b\": [1, 2.5, null, true, {}]}");
  EXPECT_EQ(d.value, json::parse(R"({"a": "x\ty/é", "b": [1, 2.5, null, true, {}]})"));
  EXPECT_EQ(d.place.members.at("b").line, 2);
}

TEST(Document, JsonEscapesOfPairsAreRead) {
  EXPECT_EQ(Parse(R"({"a": "\ud83d\ude00", "b": "\\ud83d"})").value,
            json({{"a", "\U0001F600"}, {"b", "\\ud83d"}}));
}

TEST(Document, WhateverJsonWritesIsReadBack) {
  const json value = {{"text", "line\nquote\" back\\slash, tab\t \x01 \x7f \u2028 é"},
                      {"", "empty key"},
                      {"a: b", "# no comment"},
                      {"list", {-1, 0.1, 1e300, false, nullptr, json::array(), json::object()}}};
  EXPECT_EQ(Parse(value.dump()).value, value);
  EXPECT_EQ(Parse(value.dump(2)).value, value);
}

TEST(Document, AByteOrderMarkAndWindowsLinesAreFine) {
  EXPECT_EQ(Parse("\xEF\xBB\xBF"
                  "a: 1\r\nb: x\r\n")
                .value,
            json({{"a", 1}, {"b", "x"}}));
}

TEST(Document, NothingIsNull) {
  EXPECT_EQ(Parse("").value, json(nullptr));
  EXPECT_EQ(Parse("# only a comment\n").value, json(nullptr));
}

TEST(Document, AKeyWrittenTwiceIsRefused) {
  EXPECT_EQ(ErrorOf("a: 1\nb: 2\na: 3\n"), "f.yaml:3: key \"a\" is written twice; first on line 1");
}

TEST(Document, AliasesAnchorsAndTagsAreRefused) {
  EXPECT_EQ(ErrorOf("a: &x 1\nb: 2\n"), "f.yaml:1: anchors (&name) are not supported");
  EXPECT_EQ(ErrorOf("a: 1\nb: *x\n").substr(0, 9), "f.yaml:2:");
  EXPECT_EQ(ErrorOf("a: !!python/object:os.system x\n"),
            "f.yaml:1: tags (!type) are not supported");
}

TEST(Document, ABombOfAliasesIsRefusedAtItsFirstAnchor) {
  std::string bomb = "a0: &a0 [x, x]\n";
  for (int i = 1; i < 40; ++i) {
    const std::string n = std::to_string(i), before = std::to_string(i - 1);
    bomb += "a" + n + ": &a" + n + " [*a" + before + ", *a" + before + "]\n";
  }
  EXPECT_EQ(ErrorOf(bomb), "f.yaml:1: anchors (&name) are not supported");
}

TEST(Document, ASecondDocumentIsRefused) {
  EXPECT_EQ(ErrorOf("a: 1\n---\nb: 2\n"),
            "f.yaml:3: a second document begins here; one file holds one document");
}

TEST(Document, KeysMustBeText) {
  EXPECT_EQ(ErrorOf("? [a, b]\n: 1\n"), "f.yaml:1: a key must be plain text");
  EXPECT_EQ(ErrorOf("? {a: b}\n: 1\n"), "f.yaml:1: a key must be plain text");
  EXPECT_EQ(ErrorOf("~: 1\n"), "f.yaml:1: a key is missing before ':'");
}

TEST(Document, BytesThatAreNotTextAreRefusedWithTheirLine) {
  EXPECT_EQ(ErrorOf(std::string_view("a: 1\nb: \0\n", 10)),
            "f.yaml:2: byte 8 is NUL; this is not a text file");
  EXPECT_EQ(ErrorOf("a: \xFF\n"), "f.yaml:1: byte 3 is not UTF-8; save the file as UTF-8");
  EXPECT_EQ(ErrorOf("a: \"\\0\"\n"), "f.yaml:1: the value contains a NUL");
}

TEST(Document, BrokenTextIsRefusedWithItsLine) {
  EXPECT_EQ(ErrorOf("a: 1\nb: [1, 2\n"), "f.yaml:3: not YAML: end of sequence flow not found");
  EXPECT_EQ(ErrorOf("a:\n\t- b\n").substr(0, 9), "f.yaml:2:");
}

TEST(Regress, AQuoteThatNeverEndsIsRefusedWithAndWithoutALastNewline) {
  for (const char* text : {"a: \"open\n", "a: \"open", "a: 'open\n", "a: \"x\n  b: 1\nc: 2\n"}) {
    EXPECT_NE(ErrorOf(text), "accepted") << text;
  }
}

TEST(Document, TheEndOfABlockIsAsWritten) {
  EXPECT_EQ(Parse("v: |\n  x\n").value["v"], json("x\n"));
  EXPECT_EQ(Parse("v: |\n  x").value["v"], json("x"));
  EXPECT_EQ(Parse("v: |+\n  x\n\n").value["v"], json("x\n\n"));
  EXPECT_EQ(Parse("v: |-\n  x\n").value["v"], json("x"));
  EXPECT_EQ(Parse("---\nv: x\n...\n").value["v"], json("x"));
}

TEST(Document, TextOverTheLimitsIsRefused) {
  EXPECT_EQ(ErrorOf(std::string((1 << 20) + 1, 'a')),
            "f.yaml: 1048577 bytes are too many; at most 1048576");
  std::string deep, many = "a: [0";
  for (int i = 0; i < 65; ++i) deep += "[";
  for (int i = 0; i < 65; ++i) deep += "]";
  EXPECT_EQ(ErrorOf(deep), "f.yaml:1: nested deeper than 64 levels");
  EXPECT_TRUE(ParseDocument(std::string_view(deep).substr(1, 128), "f"));
  for (int i = 0; i < 100'000; ++i) many += ",0";
  EXPECT_EQ(ErrorOf(many + "]"), "f.yaml:1: more than 100000 values in one document");
}

TEST(Document, ItsTextKeepsLinesAndLiterals) {
  const Document d = Parse("x: 1\nconfig:\n  b: 1.10\n\n  a: [1e-4,\n    'q\"']\n");
  const std::string text = TextOf(d.value["config"], d.place.members.at("config"));
  EXPECT_EQ(text, "{\n\"b\": 1.10, \n\n\"a\": [1e-4, \n\"q\\\"\"]}");
  const Document again = Parse(text, "f.yaml:2");
  EXPECT_EQ(again.value, d.value["config"]);
  EXPECT_EQ(again.place.members.at("b").line, 3);
  EXPECT_EQ(again.place.members.at("b").literal, "1.10");
  EXPECT_EQ(again.place.members.at("a").items[1].line, 6);
}

TEST(Text, Utf8IsTold) {
  EXPECT_EQ(FirstBadByte("aé€\U0001F600"), std::nullopt);
  for (const char* bad : {"\x80", "\xC3", "\xC0\x80", "\xE0\x80\x80", "\xED\xA0\x80",
                          "\xF0\x80\x80\x80", "\xF4\x90\x80\x80", "\xF8\x88\x80\x80", "\xE2\x82"}) {
    EXPECT_EQ(FirstBadByte("ab" + std::string(bad)), 2u) << bad;
  }
}

TEST(Text, QuotesAreShortAndOnOneLine) {
  EXPECT_EQ(Quote("a\n\"b\"\\\x01\xFF"), "\"a\\n\\\"b\\\"\\\\\\x01\\xff\"");
  EXPECT_EQ(Quote(std::string(100, 'x')), "\"" + std::string(60, 'x') + "...\"");
  EXPECT_EQ(Quote(std::string(60, 'x')), "\"" + std::string(60, 'x') + "\"");
}

TEST(Text, TheNearestWordIsFewErrorsAway) {
  const std::vector<std::string> words = {"reserved", "on-demand", "spot", "idle"};
  EXPECT_EQ(Nearest("reservd", words), "reserved");
  EXPECT_EQ(Nearest("RESERVED", words), "reserved");
  EXPECT_EQ(Nearest("ondemand", words), "on-demand");
  EXPECT_EQ(Nearest("sopt", words), "spot");
  EXPECT_EQ(Nearest("preemptible", words), "");
  EXPECT_EQ(Nearest("", words), "");
  EXPECT_EQ(Nearest("x", words), "");
  EXPECT_EQ(Nearest(std::string(1'000'000, 'x'), words), "");
}

}  // namespace
}  // namespace cox::spec
