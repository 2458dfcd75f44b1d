// Amounts as people write them, in the integers of base/resources.hpp. Internal to spec/. Pure.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/result.hpp"

namespace cox::spec {

// "16" -> 16000, "500m" -> 500, "0.5" -> 500. For CPUs and for GPUs.
Result<int64_t> ParseMilli(std::string_view text);

// "512Mi", "64Gi", "2Ti" -> MiB. The unit is required: nobody should have to guess it.
Result<int64_t> ParseMebibytes(std::string_view text);

}  // namespace cox::spec
