// One walk through the time of a record: what was in use, who waited, and how much of the free room
// was in pieces that are too small. Internal to simulate/.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "simulate/measure.hpp"
#include "simulate/record.hpp"

namespace cox::simulate {

double UnitsOf(const Resources& amount, const std::string& unit);
double UnitsOf(const JobRecord& job, const std::string& unit);  // of all replicas
// After it nothing was left to decide; the end, when nothing ever started late.
int64_t LastStart(const Record& record);

class Sweep {
 public:
  Sweep(const Record& record, const std::string& unit);

  struct Means {  // shares of capacity, of capacity, of what was free
    double used = 0, used_while_queued = 0, fragmented = 0;
  };
  Means Until(int64_t second) const;
  Curves curves() const;

 private:
  struct Stretch {  // of time in which nothing changed
    int64_t from = 0, to = 0;
    double used = 0, free = 0, fragmented = 0;
    int64_t queued = 0;
    double queued_units = 0;
  };
  void Walk();

  const Record& record_;
  const std::string unit_;
  double capacity_ = 0;
  std::vector<Stretch> stretches_;
};

}  // namespace cox::simulate
