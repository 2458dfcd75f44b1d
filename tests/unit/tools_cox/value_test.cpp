#include "tools/cox/value.hpp"

#include <gtest/gtest.h>

namespace cox::cli {
namespace {

Value Parsed(const char* json) {
  auto value = Value::Parse(json);
  return value ? *value : Value("does not parse");
}

TEST(Value, WhatIsNotThereIsEmpty) {
  const Value value = Parsed(R"({"a": {"b": [1]}})");
  EXPECT_EQ(value["a"]["b"].rows().size(), 1U);
  EXPECT_TRUE(value["x"]["y"]["z"].empty());
  EXPECT_TRUE(value["a"]["b"]["not an object"].empty());
  EXPECT_EQ(value["x"].number(), 0);
  EXPECT_EQ(value["x"].text(), "");
  EXPECT_FALSE(value["x"].truth());
}

TEST(Value, ScalarsReadAsPeopleWriteThem) {
  const Value value = Parsed(R"({"i": -4, "t": true, "s": "x y", "n": null, "d": 1.5})");
  EXPECT_EQ(value["i"].text(), "-4");
  EXPECT_EQ(value["t"].text(), "true");
  EXPECT_EQ(value["s"].text(), "x y");
  EXPECT_EQ(value["n"].text(), "");
  EXPECT_EQ(value["d"].text(), "1.5");
}

TEST(Value, ZeroAndFalseAreNotEmpty) {
  const Value value = Parsed(R"({"i": 0, "t": false, "s": "", "l": [], "o": {}})");
  EXPECT_FALSE(value["i"].empty());
  EXPECT_FALSE(value["t"].empty());
  EXPECT_TRUE(value["s"].empty());
  EXPECT_TRUE(value["l"].empty());
  EXPECT_TRUE(value["o"].empty());
}

TEST(Value, KeepsTheOrderOfFieldsAndItsNumbersExactly) {
  const char* text = R"({"z":1,"a":9007199254740993,"m":[true,null,"q\""]})";
  EXPECT_EQ(Parsed(text).ToJson(-1), text);
}

TEST(Value, RefusesWhatIsNoJson) {
  const auto value = Value::Parse("{oops");
  ASSERT_FALSE(value);
  EXPECT_EQ(value.error().text, "not JSON: {oops");
}

TEST(Value, SetReplacesAndAdds) {
  Value value;
  value.Set("a", 1);
  value.Set("b", "x");
  value.Set("a", 2);
  EXPECT_EQ(value.ToJson(-1), R"({"a":2,"b":"x"})");
}

TEST(Value, YamlNestsListsAndObjects) {
  EXPECT_EQ(Parsed(R"({"a": {"b": [1, {"c": "x", "d": [2]}], "e": []}, "f": {}})").ToYaml(),
            "a:\n"
            "  b:\n"
            "    - 1\n"
            "    - c: x\n"
            "      d:\n"
            "        - 2\n"
            "  e: []\n"
            "f: {}\n");
}

TEST(Value, YamlQuotesWhatItWouldReadAsSomethingElse) {
  EXPECT_EQ(
      Parsed(R"(["no", "1e3", "a b", "", "x: y", "llama-1", "true", "/mnt/a", "end:"])").ToYaml(),
      "- \"no\"\n"
      "- \"1e3\"\n"
      "- \"a b\"\n"
      "- \"\"\n"
      "- \"x: y\"\n"
      "- llama-1\n"
      "- \"true\"\n"
      "- \"/mnt/a\"\n"
      "- \"end:\"\n");
}

TEST(Value, BrokenUtf8IsReplacedNotThrown) {
  EXPECT_EQ(Value("a\xff").ToJson(-1), "\"a\xEF\xBF\xBD\"");
}

}  // namespace
}  // namespace cox::cli
