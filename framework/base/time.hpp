// Time as data. The core never reads a clock: `now` is an argument. Only run/ and the adapters
// hold a Clock.
#pragma once

#include <chrono>

namespace cox {

using Duration = std::chrono::nanoseconds;
using TimePoint = std::chrono::sys_time<Duration>;  // UTC; 1970 = zero

constexpr TimePoint kNever = TimePoint::max();

constexpr TimePoint FromNanos(int64_t ns) {
  return TimePoint(Duration(ns));
}
constexpr int64_t ToNanos(TimePoint t) {
  return t.time_since_epoch().count();
}
constexpr TimePoint FromSeconds(int64_t s) {
  return TimePoint(std::chrono::seconds(s));
}
constexpr int64_t ToSeconds(TimePoint t) {
  return std::chrono::floor<std::chrono::seconds>(t).time_since_epoch().count();
}

class Clock {
 public:
  virtual ~Clock() = default;
  virtual TimePoint Now() const = 0;
};

// The wall clock. Timers in the product are deadlines in wall time, because they must survive a
// restart (a node policy that ends at noon ends at noon).
class SystemClock final : public Clock {
 public:
  TimePoint Now() const override {
    return std::chrono::time_point_cast<Duration>(std::chrono::system_clock::now());
  }
};

}  // namespace cox
