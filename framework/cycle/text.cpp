#include "cycle/text.hpp"

#include <algorithm>

namespace cox::cycle {
namespace {

// Thousandths as a decimal: 1500 -> "1.5".
std::string Thousandths(int64_t n) {
  std::string text = std::to_string(n / 1000);
  if (n % 1000 == 0) return text;
  std::string rest = std::to_string(1000 + n % 1000).substr(1);
  while (rest.back() == '0') rest.pop_back();
  return text + "." + rest;
}

std::string TwoDigits(unsigned n) {
  return {static_cast<char>('0' + n / 10 % 10), static_cast<char>('0' + n % 10)};
}

}  // namespace

std::string Amount(const Resources& r) {
  std::string text;
  if (r.gpu_milli != 0) text += Gpus(r.gpu_milli) + ", ";
  text += Thousandths(r.cpu_milli) + " CPU, ";
  return text + (r.mem_mib % 1024 == 0 ? std::to_string(r.mem_mib / 1024) + " GiB"
                                       : std::to_string(r.mem_mib) + " MiB");
}

std::string Names(const std::vector<std::string>& names) {
  constexpr size_t kShown = 3;
  std::string text;
  for (size_t i = 0; i < std::min(names.size(), kShown); ++i) {
    text += (i == 0 ? "" : ", ") + names[i];
  }
  if (names.size() > kShown) text += " and " + std::to_string(names.size() - kShown) + " more";
  return text;
}

std::string Gpus(int64_t milli) {
  return Thousandths(milli) + " GPU";
}

std::string Utc(TimePoint t) {
  const auto day = std::chrono::floor<std::chrono::days>(t);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss time(std::chrono::floor<std::chrono::seconds>(t - day));
  return std::to_string(static_cast<int>(date.year())) + "-" +
         TwoDigits(static_cast<unsigned>(date.month())) + "-" +
         TwoDigits(static_cast<unsigned>(date.day())) + "T" +
         TwoDigits(static_cast<unsigned>(time.hours().count())) + ":" +
         TwoDigits(static_cast<unsigned>(time.minutes().count())) + ":" +
         TwoDigits(static_cast<unsigned>(time.seconds().count())) + "Z";
}

std::string Count(int64_t n, const std::string& noun) {
  return std::to_string(n) + " " + noun + (n == 1 ? "" : "s");
}

std::string TaskFor(const std::string& reader, const std::string& user, const std::string& name) {
  return user == reader ? "task " + name : "a task of another user";
}

void TasksFor::Add(const std::string& user, const std::string& name) {
  if (user == reader_) {
    own_.push_back(name);
  } else {
    ++others_;
  }
}

std::string TasksFor::Text() const {
  if (others_ == 0) return Names(own_);
  return (own_.empty() ? "" : Names(own_) + " and ") + Count(others_, "task") + " of others";
}

}  // namespace cox::cycle
