// Matrix 3.2, field by capacity type: the keys of spec.scheduling that some types do not have.
// Internal to spec/. S27, S30, S31.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "spec/training_job.hpp"

namespace cox::spec {

struct LimitedKey {
  std::vector<std::string> keys;    // below spec.scheduling
  std::vector<CapacityType> types;  // that have it
  bool WrittenKeys::*written;
  bool (*differs)(const Scheduling&);  // from the default
  const char* rule;

  bool AllowedFor(CapacityType type) const;
};

std::span<const LimitedKey> LimitedKeys();

}  // namespace cox::spec
