#include "spec/quantity.hpp"

#include <charconv>
#include <optional>

#include "spec/text.hpp"

namespace cox::spec {
namespace {

// In milli or MiB. Times the most units of a replica and the most replicas it still fits 64 bits.
constexpr int64_t kMost = 1'000'000'000;

std::optional<int64_t> Whole(std::string_view text) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool all = error == std::errc() && end == text.data() + text.size();
  if (!all || text.front() == '-' || value > kMost) return std::nullopt;
  return value;
}

Error Wrong(std::string_view text, const char* allowed) {
  return InvalidArgument(Quote(text) + " is not an amount; write " + allowed);
}

}  // namespace

Result<int64_t> ParseMilli(std::string_view text) {
  const Error wrong = Wrong(text, "16, 0.5 or 500m, at most 1000000");
  if (text.ends_with('m')) {
    const auto milli = Whole(text.substr(0, text.size() - 1));
    return milli ? Result<int64_t>(*milli) : wrong;
  }
  const size_t dot = text.find('.');
  const auto whole = Whole(text.substr(0, dot));
  const std::string_view digits = dot == std::string_view::npos ? "0" : text.substr(dot + 1);
  const auto fraction = Whole(digits);
  if (!whole || !fraction || digits.size() > 3) return wrong;
  int64_t milli = *fraction;
  for (size_t i = digits.size(); i < 3; ++i) milli *= 10;
  milli += *whole * 1000;
  return milli > kMost ? Result<int64_t>(wrong) : milli;
}

Result<int64_t> ParseMebibytes(std::string_view text) {
  const Error wrong = Wrong(text, "512Mi, 64Gi or 2Ti, at most 900Ti");
  if (text.size() < 3 || text.back() != 'i') return wrong;
  const auto amount = Whole(text.substr(0, text.size() - 2));
  const char unit = text[text.size() - 2];
  const int64_t mib = unit == 'M' ? 1 : unit == 'G' ? 1024 : unit == 'T' ? 1024 * 1024 : 0;
  if (!amount || mib == 0 || *amount * mib > kMost) return wrong;
  return *amount * mib;
}

}  // namespace cox::spec
