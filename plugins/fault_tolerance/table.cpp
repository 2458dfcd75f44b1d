#include "table.hpp"

#include <algorithm>
#include <array>
#include <string>

namespace {

using cox::policies::FailureClass;
using cox::policies::FailureRow;

constexpr std::array<std::string_view, 11> kCauses = {
    "exit",    "oom",  "node",       "image",     "setup",       "launch",
    "runtime", "hang", "time_limit", "preempted", "spot_evicted"};
static_assert(kCauses.size() == COX_CAUSE_SPOT_EVICTED + 1);
constexpr std::array<std::string_view, 5> kClasses = {"Preempted", "NonRetryable", "Infra", "Hang",
                                                      "App"};
static_assert(kClasses.size() == COX_CLASS_APP + 1);

template <size_t N>
int64_t IndexOf(const std::array<std::string_view, N>& words, std::string_view word) {
  const auto it = std::ranges::find(words, word);
  if (it == words.end())
    throw std::invalid_argument("classification: unknown word \"" + std::string(word) + "\"");
  return it - words.begin();
}

}  // namespace

ClassTable::ClassTable(const cox::Config& config) {
  const uint32_t count = config.Len("classification");
  for (uint32_t i = 0; i < count; ++i) {
    const cox::Config in = config.At("classification", i);
    FailureRow row;
    row.reason = in.Str("reason");
    row.failure_class = static_cast<FailureClass>(IndexOf(kClasses, in.Str("class")));
    for (uint32_t k = 0; k < in.Len("causes"); ++k)
      row.causes.push_back(IndexOf(kCauses, in.Str(cox::Config::Item("causes", k))));
    for (uint32_t k = 0; k < in.Len("exit_codes"); ++k)
      row.exit_codes.push_back(in.Int(cox::Config::Item("exit_codes", k)));
    for (uint32_t k = 0; k < in.Len("signals"); ++k)
      row.signals.push_back(in.Int(cox::Config::Item("signals", k)));
    if (const std::string log(in.Str("log")); !log.empty()) {
      auto pattern = cox::policies::LogPattern(log);
      if (!pattern)
        throw std::invalid_argument("classification." + std::to_string(i) + " (" + row.reason +
                                    "): log \"" + log +
                                    "\" is no regular expression: " + pattern.error().text);
      row.log = *std::move(pattern);
    }
    rows_.push_back(std::move(row));
  }
}

const FailureRow* ClassTable::Find(const cox_failure& failure) const {
  const size_t row = cox::policies::Classify(
      rows_, {failure.cause, failure.exit_code, failure.signal, cox::Str(failure.log_tail)});
  return row < rows_.size() ? &rows_[row] : nullptr;
}
