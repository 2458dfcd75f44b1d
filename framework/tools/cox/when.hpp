// Times for people. Single thread: a zone other than the process's own goes through TZ, since our
// standard library has no time zone database.
#pragma once

#include <cstdint>
#include <string>

#include "base/time.hpp"

namespace cox::cli {

// "2026-12-01 18:05:09 +08:00" in `zone` (IANA name; "" = the process's own).
std::string When(TimePoint at, const std::string& zone = "");

// "45s", "12m", "3h20m", "5d": the two units that matter.
std::string Span(Duration span);

}  // namespace cox::cli
