#include "spec/scheduling_matrix.hpp"

#include <algorithm>

namespace cox::spec {
namespace {

using enum CapacityType;

}  // namespace

bool LimitedKey::AllowedFor(CapacityType type) const {
  return std::find(types.begin(), types.end(), type) != types.end();
}

std::span<const LimitedKey> LimitedKeys() {
  static const std::vector<LimitedKey> kKeys = {
      {{"priorityClassName"},
       {kReserved, kOnDemand, kSpot},
       &WrittenKeys::priority,
       [](const Scheduling& s) { return s.priority != Scheduling().priority; },
       "S31"},
      {{"preemptible"},
       {kReserved, kOnDemand, kSpot},
       &WrittenKeys::preemptible,
       [](const Scheduling& s) { return s.preemptible != Scheduling().preemptible; },
       "S31"},
      {{"idle", "accept"},
       {kReserved},
       &WrittenKeys::idle_accept,
       [](const Scheduling& s) { return s.idle.accept; },
       "S27"},
      {{"idle", "prefer"},
       {kReserved},
       &WrittenKeys::idle_prefer,
       [](const Scheduling& s) { return s.idle.prefer; },
       "S27"},
      {{"idle", "minStability"},
       {kReserved, kIdle},
       &WrittenKeys::idle_min_stability,
       [](const Scheduling& s) { return s.idle.min_stability != IdlePolicy().min_stability; },
       "S27"},
  };
  return kKeys;
}

}  // namespace cox::spec
