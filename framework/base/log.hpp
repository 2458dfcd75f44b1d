// Structured log lines for run/ and the adapters: a constant message and named values.
//   log.Info("placed", {{"job", id}, {"nodes", names}});
// Never used in cycle/, lifecycle/ or policies/: they return explanations instead.
// error = a person must act; warn = degraded; info = once per change; debug = once per cycle.
// Thread-safe. A line that repeats (same level and message) more than ten times within ten seconds
// is held back; the next one that passes carries `suppressed=<count>`.
#pragma once

#include <concepts>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>

namespace cox {

class LogField {
 public:
  LogField(std::string_view key, std::string_view value) : key_(key), value_(value) {}
  LogField(std::string_view key, const char* value) : key_(key), value_(value) {}
  LogField(std::string_view key, const std::string& value) : key_(key), value_(value) {}
  template <std::integral T>
  LogField(std::string_view key, T value) : key_(key), value_(std::to_string(value)) {}

  std::string_view key() const { return key_; }
  std::string_view value() const { return value_; }

 private:
  std::string_view key_;
  std::string value_;
};

class Log {
 public:
  enum class Level { kError, kWarn, kInfo, kDebug };
  using Fields = std::initializer_list<LogField>;

  // To stderr, lines of this level and above. `program` names the process in each line.
  explicit Log(std::string_view program, Level level = Level::kInfo);
  // Appends to a file; on failure to open it, to stderr with a line that says so.
  Log(std::string_view program, Level level, const std::string& file);
  ~Log();
  Log(const Log&) = delete;
  Log& operator=(const Log&) = delete;

  void Error(std::string_view message, Fields fields = {}) {
    Write(Level::kError, message, fields);
  }
  void Warn(std::string_view message, Fields fields = {}) { Write(Level::kWarn, message, fields); }
  void Info(std::string_view message, Fields fields = {}) { Write(Level::kInfo, message, fields); }
  void Debug(std::string_view message, Fields fields = {}) {
    Write(Level::kDebug, message, fields);
  }

 private:
  struct State;
  void Write(Level level, std::string_view message, Fields fields);
  std::unique_ptr<State> state_;
};

}  // namespace cox
