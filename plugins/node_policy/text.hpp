// How node policies are put into words.
#pragma once

#include <cox/plugin.hpp>

#include <cstdint>
#include <string>

namespace text {

// "2026-12-01T10:00:00Z"; pure: no time zone, no locale.
std::string Utc(int64_t ns);

// "user policy np-3 until 2026-12-01T10:00:00Z"
std::string Policy(uint32_t scope, const std::string& id, int64_t expires_ns);

// "n1,n2", or "n1,n2 and 98 more" beyond `shown`.
std::string Nodes(const cox_nodes& nodes, cox::Span<const uint32_t> rows, size_t shown);

}  // namespace text
