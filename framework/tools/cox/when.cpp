#include "tools/cox/when.hpp"

#include <cstdlib>
#include <ctime>
#include <optional>

namespace cox::cli {

std::string When(TimePoint at, const std::string& zone) {
  std::optional<std::string> own;
  if (!zone.empty()) {
    if (const char* value = std::getenv("TZ")) own = value;
    setenv("TZ", zone.c_str(), 1);
  }
  tzset();
  const time_t seconds = ToSeconds(at);
  tm local{};
  localtime_r(&seconds, &local);
  char text[32];
  char offset[8];
  std::strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S", &local);
  std::strftime(offset, sizeof offset, "%z", &local);
  if (!zone.empty()) {
    if (own) {
      setenv("TZ", own->c_str(), 1);
    } else {
      unsetenv("TZ");
    }
    tzset();
  }
  const std::string digits = offset;  // "+0800"
  return std::string(text) + " " + digits.substr(0, 3) + ":" + digits.substr(3);
}

std::string Span(Duration span) {
  const int64_t s = std::chrono::floor<std::chrono::seconds>(span).count();
  if (s < 0) return "0s";
  const auto two = [](int64_t big, const char* unit, int64_t small, const char* small_unit) {
    return std::to_string(big) + unit + (small != 0 ? std::to_string(small) + small_unit : "");
  };
  if (s < 60) return std::to_string(s) + "s";
  if (s < 3600) return two(s / 60, "m", s % 60, "s");
  if (s < 86400) return two(s / 3600, "h", s % 3600 / 60, "m");
  return two(s / 86400, "d", s % 86400 / 3600, "h");
}

}  // namespace cox::cli
