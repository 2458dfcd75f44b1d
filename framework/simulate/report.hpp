// Reports as text: JSON for programs, one HTML page for people. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "simulate/measure.hpp"
#include "simulate/record.hpp"
#include "simulate/workload.hpp"

namespace cox::simulate {

struct Outcome {
  Record record;
  Report report;
};

// Of `cox simulate -o json`: keys keep their names. Without the curves.
std::string ToJson(const Workload& workload, const std::vector<Outcome>& outcomes);

// A page that needs no network. `window`: seconds that the gantt chart shows; none = those around
// the longest queue.
std::string ToHtml(const Workload& workload, const std::vector<Outcome>& outcomes,
                   std::optional<std::pair<int64_t, int64_t>> window);

}  // namespace cox::simulate
