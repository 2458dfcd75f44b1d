#include "base/log.hpp"

#include <spdlog/sinks/basic_file_sink.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <chrono>
#include <map>
#include <mutex>

namespace cox {
namespace {

spdlog::level::level_enum ToSpdlog(Log::Level level) {
  switch (level) {
    case Log::Level::kError:
      return spdlog::level::err;
    case Log::Level::kWarn:
      return spdlog::level::warn;
    case Log::Level::kInfo:
      return spdlog::level::info;
    case Log::Level::kDebug:
      return spdlog::level::debug;
  }
  return spdlog::level::info;
}

// One record is one line, so a value that holds spaces, quotes or line breaks is quoted.
void AppendValue(std::string& line, std::string_view value) {
  if (!value.empty() && value.find_first_of(" \"\\\n\r\t=") == std::string_view::npos) {
    line += value;
    return;
  }
  line += '"';
  for (const char c : value) {
    switch (c) {
      case '"':
        line += "\\\"";
        break;
      case '\\':
        line += "\\\\";
        break;
      case '\n':
        line += "\\n";
        break;
      case '\r':
        line += "\\r";
        break;
      case '\t':
        line += "\\t";
        break;
      default:
        line += c;
    }
  }
  line += '"';
}

constexpr auto kWindow = std::chrono::seconds(10);
constexpr int kLinesPerWindow = 10;

}  // namespace

struct Log::State {
  struct Repeat {
    std::chrono::steady_clock::time_point window_start{};
    int passed = 0;
    int64_t suppressed = 0;
  };

  std::shared_ptr<spdlog::logger> logger;
  std::mutex mutex;  // guards repeats
  std::map<std::pair<Level, std::string>, Repeat, std::less<>> repeats;

  State(std::string_view program, Level level, spdlog::sink_ptr sink)
      : logger(std::make_shared<spdlog::logger>(std::string(program), std::move(sink))) {
    logger->set_level(ToSpdlog(level));
    logger->set_pattern("%Y-%m-%dT%H:%M:%S.%e%z %n %l %v");
    logger->flush_on(spdlog::level::info);
  }
};

Log::Log(std::string_view program, Level level)
    : state_(std::make_unique<State>(program, level,
                                     std::make_shared<spdlog::sinks::stderr_sink_mt>())) {}

Log::Log(std::string_view program, Level level, const std::string& file) {
  try {
    state_ = std::make_unique<State>(program, level,
                                     std::make_shared<spdlog::sinks::basic_file_sink_mt>(file));
  } catch (const spdlog::spdlog_ex& e) {
    state_ =
        std::make_unique<State>(program, level, std::make_shared<spdlog::sinks::stderr_sink_mt>());
    Error("cannot open the log file; logging to stderr", {{"file", file}, {"error", e.what()}});
  }
}

Log::~Log() = default;

void Log::Write(Level level, std::string_view message, Fields fields) {
  if (!state_->logger->should_log(ToSpdlog(level))) return;
  int64_t suppressed = 0;
  {
    const std::scoped_lock lock(state_->mutex);
    State::Repeat& repeat = state_->repeats[{level, std::string(message)}];
    const auto now = std::chrono::steady_clock::now();
    if (now - repeat.window_start > kWindow) {
      suppressed = std::exchange(repeat.suppressed, 0);
      repeat.window_start = now;
      repeat.passed = 0;
    }
    if (++repeat.passed > kLinesPerWindow) {
      ++repeat.suppressed;
      return;
    }
  }
  std::string line(message);
  for (const LogField& field : fields) {
    line += ' ';
    line += field.key();
    line += '=';
    AppendValue(line, field.value());
  }
  if (suppressed > 0) line += " suppressed=" + std::to_string(suppressed);
  state_->logger->log(ToSpdlog(level), "{}", line);
}

}  // namespace cox
