// A scenario from text, played.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "scenario/compare.hpp"
#include "scenario/parse.hpp"
#include "scenario/simulate.hpp"

namespace cox::scenario::test {

inline Result<std::string> NoFile(const std::string& path) {
  return NotFound(path + ": no such file");
}

inline std::string ErrorOf(const std::string& text) {
  const auto scenario = Parse(text, "s.yaml", NoFile);
  return scenario ? "" : scenario.error().text;
}

inline Scenario Parsed(const std::string& text) {
  auto scenario = Parse(text, "s.yaml", NoFile);
  if (!scenario) {
    ADD_FAILURE() << scenario.error().text;
    std::abort();
  }
  return *std::move(scenario);
}

inline host::Options Options() {
  host::Options options;
  options.plugin_directory = COX_PLUGIN_DIR;
  return options;
}

inline Verdict Played(const std::string& text) {
  auto verdict = Judge(Parsed(text), Options());
  if (!verdict) {
    ADD_FAILURE() << verdict.error().text;
    std::abort();
  }
  return *std::move(verdict);
}

// The differences, a line each: "3: A.start: expected 5, got 0".
inline std::string Differences(const std::string& text) {
  std::string all;
  for (const Difference& d : Played(text).differences) {
    all += std::to_string(d.line) + ": " + d.what + ": expected " + d.expected + ", got " + d.got +
           "\n";
  }
  return all;
}

inline std::string Lines(std::initializer_list<const char*> lines) {
  std::string text;
  for (const char* line : lines) text += std::string(line) + "\n";
  return text;
}

}  // namespace cox::scenario::test
