// Says in words why a value is not what its schema wants. Internal to spec/. Lives for one
// document; one thread.
#pragma once

#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "spec/document.hpp"
#include "spec/schema_walk.hpp"

namespace cox::spec {

class Explainer {
 public:
  Explainer(const Document& document, const nlohmann::json& schema)
      : document_(document), root_(schema) {}

  // `failed` is where the validator found fault; `description` are its own words, which are used
  // when we have none.
  void Explain(const Keys& failed, const std::string& description);

  // All explanations, a line each, in the order of the file; the first 20 are written out.
  std::string Text();

 private:
  struct Unexplained {
    Keys keys;
    int64_t line;
    std::string description;
  };

  void Add(int64_t line, const Keys& keys, const std::string& what);
  void Judge(const nlohmann::json& schema, const nlohmann::json& value, const Keys& keys,
             int64_t line);
  void JudgeNumber(const nlohmann::json& schema, const nlohmann::json& value, const Keys& keys,
                   int64_t line);
  void JudgeText(const nlohmann::json& schema, const std::string& text, const Keys& keys,
                 int64_t line);
  void JudgeList(const nlohmann::json& schema, const nlohmann::json& list, const Keys& keys,
                 int64_t line);
  void JudgeKeys(const nlohmann::json& schema, const nlohmann::json& object, const Keys& keys,
                 int64_t line, const Place* place);

  const Document& document_;
  const nlohmann::json& root_;
  std::set<Keys> seen_;
  std::vector<std::pair<int64_t, std::string>> errors_;  // by line
  std::vector<Unexplained> unexplained_;
};

}  // namespace cox::spec
