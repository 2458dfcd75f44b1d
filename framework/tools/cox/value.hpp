// A JSON document as a tree that never throws: what the daemon answers, what `-o json|yaml` prints.
// Looking up a key or row that is not there gives the empty value, so that rendering code needs no
// checks and an older daemon's answer still prints. Plain data; any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/result.hpp"

namespace cox::cli {

class Value {
 public:
  using List = std::vector<Value>;
  using Fields = std::vector<std::pair<std::string, Value>>;  // in the order of the text

  Value() = default;
  Value(bool v);         // NOLINT(*-explicit-*)
  Value(int v);          // NOLINT(*-explicit-*)
  Value(int64_t v);      // NOLINT(*-explicit-*)
  Value(double v);       // NOLINT(*-explicit-*)
  Value(std::string v);  // NOLINT(*-explicit-*)
  Value(const char* v);  // NOLINT(*-explicit-*)
  Value(List v);         // NOLINT(*-explicit-*)
  Value(Fields v);       // NOLINT(*-explicit-*)

  static Result<Value> Parse(std::string_view json);

  const Value& operator[](std::string_view key) const;
  const List& rows() const;
  const Fields& fields() const;

  bool empty() const;  // nothing there, null, "", [] or {}
  bool is_text() const { return std::holds_alternative<std::string>(data_); }
  bool truth() const;        // only for true
  int64_t number() const;    // 0 for anything but a number
  double real() const;       // likewise
  std::string text() const;  // scalars as people read them; "" for null, lists and objects

  void Set(std::string key, Value value);  // adds or replaces; makes an object of anything else

  std::string ToJson(int indent = 2) const;  // indent -1: one line
  std::string ToYaml() const;

 private:
  void WriteYaml(std::string& out, int depth) const;

  std::variant<std::monostate, bool, int64_t, double, std::string, List, Fields> data_;
};

// "a,b": the scalars of a list.
std::string CommaList(const Value& list);

}  // namespace cox::cli
