#include "text.hpp"

#include <chrono>
#include <cstdio>

namespace text {

std::string Utc(int64_t ns) {
  using namespace std::chrono;
  const sys_time<nanoseconds> time{nanoseconds(ns)};
  const auto day = floor<days>(time);
  const year_month_day date(day);
  const hh_mm_ss clock(floor<seconds>(time - day));
  char out[64];
  std::snprintf(out, sizeof out, "%04d-%02u-%02uT%02d:%02d:%02dZ", static_cast<int>(date.year()),
                static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                static_cast<int>(clock.hours().count()), static_cast<int>(clock.minutes().count()),
                static_cast<int>(clock.seconds().count()));
  return out;
}

std::string Policy(uint32_t scope, const std::string& id, int64_t expires_ns) {
  constexpr const char* kScope[] = {"the job's own rule", "user policy", "tenant policy",
                                    "exclusion"};
  std::string out = scope <= COX_SCOPE_FAILURE ? kScope[scope] : "policy";
  if (!id.empty()) out += " " + id;
  if (expires_ns != INT64_MAX) out += " until " + Utc(expires_ns);
  return out;
}

std::string Nodes(const cox_nodes& nodes, cox::Span<const uint32_t> rows, size_t shown) {
  std::string out;
  for (size_t i = 0; i < rows.size() && i < shown; ++i)
    out += (i == 0 ? "" : ",") +
           std::string(rows[i] < nodes.count ? cox::Str(nodes.name[rows[i]]) : "?");
  if (rows.size() > shown) out += " and " + std::to_string(rows.size() - shown) + " more";
  return out;
}

}  // namespace text
