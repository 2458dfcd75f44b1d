// The check that plugins and adapters rely on, with schemas as their authors would write them.
#include "spec/schema.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "spec/parse.hpp"

namespace cox::spec {
namespace {

using nlohmann::json;

constexpr const char* kSchema = R"({
  "type": "object",
  "additionalProperties": false,
  "properties": {
    "cooldown_s": {"type": "integer", "minimum": 0, "maximum": 3600, "default": 600},
    "mode": {"enum": ["fast", "safe", 3], "default": "safe"},
    "version": {"type": "string", "minLength": 1, "maxLength": 8},
    "share": {"type": "number", "default": 0.5},
    "either": {"type": ["integer", "string"]},
    "fixed": {"const": 7},
    "name": {"type": "string", "pattern": "^[a-z]+$"},
    "odd": {"anyOf": [{"type": "integer"}, {"type": "boolean"}]},
    "limits": {
      "type": "object", "default": {},
      "additionalProperties": {"$ref": "#/definitions/limit"}
    },
    "steps": {"type": "array", "minItems": 1, "maxItems": 2, "items": {"$ref": "#/definitions/limit"}}
  },
  "definitions": {
    "limit": {
      "type": "object",
      "required": ["gpu"],
      "properties": {"gpu": {"type": "integer"}, "soft": {"type": "boolean", "default": true}}
    }
  }
})";

json Checked(const std::string& text, const std::string& schema = kSchema) {
  const auto result = ValidateAndDefault(text, "site.yaml:10", schema);
  EXPECT_TRUE(result) << result.error().text;
  return result ? json::parse(*result) : json();
}

std::string SchemaErrorOf(const std::string& text, const std::string& schema = kSchema) {
  const auto result = ValidateAndDefault(text, "site.yaml:10", schema);
  return result ? "accepted: " + *result : result.error().text;
}

TEST(Schema, DefaultsAreFilledAtEveryLevel) {
  EXPECT_EQ(Checked("limits: {a: {gpu: 1}}\nsteps: [{gpu: 2}, {gpu: 3, soft: false}]"),
            json::parse(R"({"cooldown_s": 600, "mode": "safe", "share": 0.5,
                            "limits": {"a": {"gpu": 1, "soft": true}},
                            "steps": [{"gpu": 2, "soft": true}, {"gpu": 3, "soft": false}]})"));
}

TEST(Schema, AnEmptyMapIsAllDefaults) {
  EXPECT_EQ(Checked("{}"), json::parse(R"({"cooldown_s": 600, "mode": "safe", "share": 0.5,
                                           "limits": {}})"));
}

TEST(Schema, ADefaultBehindAReferenceIsFilledAndTheNearerOneWins) {
  const std::string schema = R"({
    "properties": {"a": {"$ref": "#/definitions/n"}, "b": {"$ref": "#/definitions/n", "default": 2}},
    "definitions": {"n": {"type": "integer", "default": 1}}})";
  EXPECT_EQ(Checked("{}", schema), json({{"a", 1}, {"b", 2}}));
}

TEST(Schema, UnquotedNumbersBecomeTextWhereTextIsWanted) {
  EXPECT_EQ(Checked("version: 1.10")["version"], "1.10");
  EXPECT_EQ(Checked("version: true")["version"], "true");
  EXPECT_EQ(Checked("version: 010")["version"], "010");
  EXPECT_EQ(Checked("{\"version\": 1.10}")["version"], "1.10");
}

TEST(Schema, WhereBothAreAllowedANumberStaysANumber) {
  EXPECT_EQ(Checked("either: 7")["either"], 7);
  EXPECT_EQ(Checked("either: '7'")["either"], "7");
  EXPECT_EQ(Checked("either: 7.50")["either"], "7.50");
}

TEST(Schema, AWholeNumberIsANumber) {
  EXPECT_EQ(Checked("share: 2")["share"], 2);
}

TEST(Schema, ErrorsNameTheTrueLine) {
  EXPECT_EQ(SchemaErrorOf("limits:\n  a:\n    gpu: many\n"),
            "site.yaml:12: limits.a.gpu: \"many\" is not a whole number of at most 64 bits");
}

TEST(Schema, BoundsAreNamed) {
  EXPECT_EQ(SchemaErrorOf("cooldown_s: -4"), "site.yaml:10: cooldown_s: -4 is below the minimum 0");
  EXPECT_EQ(SchemaErrorOf("cooldown_s: 3601"),
            "site.yaml:10: cooldown_s: 3601 is above the maximum 3600");
  EXPECT_EQ(SchemaErrorOf("version: ''"), "site.yaml:10: version: must not be empty");
  EXPECT_EQ(SchemaErrorOf("version: ééééééééé"),
            "site.yaml:10: version: \"ééééééééé\" is longer than 8 characters");
  EXPECT_EQ(SchemaErrorOf("steps: []"), "site.yaml:10: steps: has 0 items; at least 1 needed");
  EXPECT_EQ(SchemaErrorOf("steps: [{gpu: 1}, {gpu: 1}, {gpu: 1}]"),
            "site.yaml:10: steps: has 3 items; at most 2 allowed");
}

TEST(Schema, TypesAreNamed) {
  EXPECT_EQ(SchemaErrorOf("cooldown_s: yes"),
            "site.yaml:10: cooldown_s: \"yes\" is not a whole number of at most 64 bits");
  EXPECT_EQ(
      SchemaErrorOf("cooldown_s: 99999999999999999999"),
      "site.yaml:10: cooldown_s: \"99999999999999999999\" is not a whole number of at most 64 "
      "bits");
  EXPECT_EQ(SchemaErrorOf("limits: []"), "site.yaml:10: limits: a list is not a map");
  EXPECT_EQ(SchemaErrorOf("limits: {a: {gpu: 1, soft: on}}"),
            "site.yaml:10: limits.a.soft: \"on\" is not true or false");
  EXPECT_EQ(SchemaErrorOf("either: []"),
            "site.yaml:10: either: a list is not a whole number of at most 64 bits or text");
  EXPECT_EQ(SchemaErrorOf("version:"), "site.yaml:10: version: null is not text");
  EXPECT_EQ(SchemaErrorOf("share: much"), "site.yaml:10: share: \"much\" is not a number");
  EXPECT_EQ(SchemaErrorOf("[]"), "site.yaml:10: a list is not a map");
}

TEST(Schema, ChoicesAreNamed) {
  EXPECT_EQ(SchemaErrorOf("mode: save"),
            "site.yaml:10: mode: \"save\" is not one of fast, safe, 3; did you mean safe?");
  EXPECT_EQ(SchemaErrorOf("mode: 4"), "site.yaml:10: mode: 4 is not one of fast, safe, 3");
  EXPECT_EQ(SchemaErrorOf("fixed: 8"), "site.yaml:10: fixed: 8 must be 7");
  EXPECT_EQ(SchemaErrorOf("name: A1"), "site.yaml:10: name: \"A1\" does not match ^[a-z]+$");
}

TEST(Schema, UnknownAndMissingKeysAreNamed) {
  EXPECT_EQ(SchemaErrorOf("cooldown: 4"),
            "site.yaml:10: cooldown: unknown key; did you mean cooldown_s?");
  EXPECT_EQ(SchemaErrorOf("x.y: 4"),
            "site.yaml:10: [\"x.y\"]: unknown key; known here: cooldown_s, either, fixed, limits, "
            "mode, name, odd, share, steps, version");
  EXPECT_EQ(SchemaErrorOf("limits: {a: {}}"), "site.yaml:10: limits.a.gpu: is required");
}

TEST(Schema, WhatWeHaveNoWordsForIsStillRefused) {
  EXPECT_EQ(SchemaErrorOf("odd: x").substr(0, 18), "site.yaml:10: odd:");
}

TEST(Schema, NothingIsRefusedAsEmpty) {
  EXPECT_EQ(SchemaErrorOf(""), "site.yaml: the document is empty");
}

TEST(Schema, ManyErrorsAreCutShort) {
  std::string text = "limits:\n";
  for (int i = 0; i < 30; ++i) text += "  k" + std::to_string(i) + ": 1\n";
  const std::string error = SchemaErrorOf(text);
  EXPECT_EQ(std::count(error.begin(), error.end(), '\n'), 20);
  EXPECT_TRUE(error.ends_with("\n... and 10 more")) << error;
}

TEST(Regress, ALongTextDoesNotOverflowTheStackOfAPattern) {
  EXPECT_EQ(SchemaErrorOf("name: " + std::string(500'000, 'a')),
            "site.yaml:10: name: \"" + std::string(60, 'a') + "...\" is longer than 4096");
  EXPECT_EQ(Checked("name: " + std::string(4096, 'a'))["name"], std::string(4096, 'a'));
}

TEST(Schema, ASchemaThatIsNoneIsOurFaultNotTheUsers) {
  for (const char* schema : {"", "[]", "{\"type\": 5}", "{\"type\": \"thing\"}",
                             "{\"properties\": {\"a\": {\"$ref\": \"#/definitions/none\"}}}",
                             "{\"properties\": {\"a\": {\"pattern\": \"(\"}}}"}) {
    const auto result = ValidateAndDefault("a: x", "f", schema);
    ASSERT_FALSE(result) << schema;
    EXPECT_EQ(result.error().code, Code::kInternal) << schema << result.error().text;
  }
}

TEST(Regress, AReferenceInACircleDoesNotOverflowTheStack) {
  const std::string circle = R"({"$ref": "#/definitions/a", "definitions": {
      "a": {"$ref": "#/definitions/b"}, "b": {"$ref": "#/definitions/a"}}})";
  EXPECT_EQ(SchemaErrorOf("a: x", circle),
            "the schema is not usable: $ref \"#/definitions/a\" leads nowhere");
  EXPECT_EQ(SchemaErrorOf("a: x", R"({"$ref": "#"})"),
            "the schema is not usable: $ref \"#\" leads nowhere");
}

TEST(Schema, ARecursiveSchemaIsUnderstood) {
  const std::string tree = R"({
    "type": "object", "additionalProperties": false,
    "properties": {"n": {"type": "integer", "default": 1}, "child": {"$ref": "#"}}})";
  EXPECT_EQ(Checked("child: {child: {n: 2}}", tree),
            json::parse(R"({"n": 1, "child": {"n": 1, "child": {"n": 2}}})"));
  EXPECT_EQ(SchemaErrorOf("child: {child: {m: 2}}", tree),
            "site.yaml:10: child.child.m: unknown key; known here: child, n");
}

}  // namespace
}  // namespace cox::spec
