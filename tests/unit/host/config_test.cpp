#include "host/config.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string_view>

namespace cox::host {
namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr char kSchema[] = R"({
  "properties": {
    "limit": {"type": "integer", "minimum": 0, "default": 7},
    "ratio": {"type": "number", "default": 0.5},
    "on": {"type": "boolean", "default": true},
    "name": {"type": "string", "default": "x"},
    "huge": {"type": "integer"},
    "rules": {"type": "array", "default": [], "items": {
      "type": "object",
      "properties": {"codes": {"type": "array", "default": [1, 2]}}}},
    "deep": {"type": "object", "default": {}, "properties": {"a.b": {"type": "integer"},
      "leaf": {"type": "integer", "default": 3}}}
  }})";

cox_str Key(std::string_view key) {
  return {key.data(), key.size()};
}

Config Made(const std::string& json) {
  auto config = Config::Create(kSchema, json, "site.yaml:12");
  EXPECT_TRUE(config) << (config ? "" : config.error().text);
  return std::move(*config);
}

std::string ErrorOf(const std::string& json, const char* schema = kSchema) {
  const auto config = Config::Create(schema, json, "site.yaml:12");
  return config ? "" : config.error().text;
}

TEST(Config, ServesValuesByDottedPathAndType) {
  const Config config = Made(R"({"limit": 3, "rules": [{"codes": [5, 126]}, {}], "name": "q"})");
  int64_t i = 0;
  EXPECT_EQ(config.Int(Key("limit"), &i), COX_OK);
  EXPECT_EQ(i, 3);
  EXPECT_EQ(config.Int(Key("rules.0.codes.1"), &i), COX_OK);
  EXPECT_EQ(i, 126);
  cox_str s{};
  EXPECT_EQ(config.Str(Key("name"), &s), COX_OK);
  EXPECT_EQ(std::string_view(s.ptr, s.len), "q");
  uint32_t n = 0;
  EXPECT_EQ(config.Len(Key("rules"), &n), COX_OK);
  EXPECT_EQ(n, 2U);
}

TEST(Config, FillsDefaultsAlsoInsideOfObjectsAndItems) {
  const Config config = Made(R"({"rules": [{}]})");
  int64_t i = 0;
  EXPECT_EQ(config.Int(Key("limit"), &i), COX_OK);
  EXPECT_EQ(i, 7);
  EXPECT_EQ(config.Int(Key("deep.leaf"), &i), COX_OK);
  EXPECT_EQ(i, 3);
  EXPECT_EQ(config.Int(Key("rules.0.codes.0"), &i), COX_OK);
  EXPECT_EQ(i, 1);
  double d = 0;
  EXPECT_EQ(config.Double(Key("ratio"), &d), COX_OK);
  EXPECT_EQ(d, 0.5);
  EXPECT_EQ(config.Double(Key("limit"), &d), COX_OK) << "an integer is a number";
  EXPECT_THAT(config.ToJson(), HasSubstr("\"limit\": 7"));
}

TEST(Config, ABooleanIsAnIntegerOfZeroOrOne) {
  int64_t i = 9;
  EXPECT_EQ(Made("{}").Int(Key("on"), &i), COX_OK);
  EXPECT_EQ(i, 1);
  EXPECT_EQ(Made(R"({"on": false})").Int(Key("on"), &i), COX_OK);
  EXPECT_EQ(i, 0);
}

TEST(Config, AMissingKeyOrAnotherTypeIsInvalid) {
  const Config config = Made(R"({"rules": [{}]})");
  int64_t i = 42;
  double d = 0;
  cox_str s{};
  uint32_t n = 0;
  for (const char* key : {"nope", "name", "ratio", "rules", "rules.1", "rules.x", "rules.-1", "",
                          ".", "limit.0", "rules..codes", "rules.00000000001", "deep.a.b"})
    EXPECT_EQ(config.Int(Key(key), &i), COX_INVALID_ARGUMENT) << key;
  EXPECT_EQ(i, 42) << "untouched";
  EXPECT_EQ(config.Double(Key("name"), &d), COX_INVALID_ARGUMENT);
  EXPECT_EQ(config.Str(Key("limit"), &s), COX_INVALID_ARGUMENT);
  EXPECT_EQ(config.Len(Key("limit"), &n), COX_INVALID_ARGUMENT);
}

TEST(Config, WhatDoesNotFitAnInt64IsRefused) {
  int64_t i = 0;
  const auto config = Config::Create(kSchema, R"({"huge": 18446744073709551615})", "here");
  EXPECT_TRUE(!config || config->Int(Key("huge"), &i) == COX_INVALID_ARGUMENT);
}

TEST(Config, ErrorsNameThePlaceTheValueAndTheBound) {
  EXPECT_THAT(ErrorOf(R"({"limit": -4})"),
              AllOf(HasSubstr("site.yaml:12"), HasSubstr("limit"), HasSubstr("-4")));
}

TEST(Config, AnUnknownKeyIsAnErrorEvenIfTheSchemaForgotToSaySo) {
  EXPECT_THAT(ErrorOf(R"({"limits": 4})"), AllOf(HasSubstr("site.yaml:12"), HasSubstr("limits")));
}

TEST(Config, AConfigurationThatIsNoObjectIsRefused) {
  EXPECT_NE(ErrorOf("[1]"), "");
  EXPECT_NE(ErrorOf("{"), "");
}

TEST(Config, ASchemaThatIsNoObjectIsThePluginsFault) {
  EXPECT_THAT(ErrorOf("{}", "nonsense"), HasSubstr("config_schema is no JSON object"));
  EXPECT_THAT(ErrorOf("{}", "[]"), HasSubstr("config_schema is no JSON object"));
}

}  // namespace
}  // namespace cox::host
