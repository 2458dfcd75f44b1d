// The time zones that this machine can render. Any thread.
#pragma once

#include <string>
#include <vector>

namespace cox {

// Every name and alias of the system's tz database, sorted. None when it has no database in text
// form (tzdata.zi): then nothing is known, rather than nothing allowed.
std::vector<std::string> SystemTimeZones(const std::string& folder = "/usr/share/zoneinfo");

}  // namespace cox
