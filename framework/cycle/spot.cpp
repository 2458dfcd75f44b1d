// Spot capacity is what is free beyond a headroom (S50): others who come find some room without an
// eviction, and the more the cluster is used, the less of it is offered.
#include <algorithm>

#include "cycle/round.hpp"
#include "cycle/text.hpp"

namespace cox::cycle {

std::optional<model::Blocker> SpotShortage(Round& round, const Bid& bid) {
  if (bid.candidate->source != spec::CapacityType::kSpot) return std::nullopt;
  const int64_t percent = round.snapshot.site->spot_headroom_percent;
  if (percent == 0) return std::nullopt;
  round.board.Respect(0);
  for (const Field& field : bid.fields) {
    int64_t free = 0, capacity = 0;
    for (uint32_t node = 0; node < round.board.nodes(); ++node) {
      if ((*field.usable)[node] == 0) continue;
      free += round.board.Room(node).gpu_milli;
      capacity += round.board.rows().lane(COX_NODE_GPU_MILLI_CAPACITY)[node];
    }
    const int64_t headroom = capacity * percent / 100;
    if (field.need.gpu_milli * field.replicas <= std::max<int64_t>(free - headroom, 0)) continue;
    model::Blocker blocker;
    blocker.code = "SpotUnavailable";
    blocker.text = "needs " + Amount(field.need * field.replicas) + "; " + Gpus(free) + " of " +
                   Gpus(capacity) + " are free, and spot jobs leave " + Gpus(headroom) +
                   " of them to others (" + std::to_string(percent) + " %)";
    blocker.candidate = bid.index;
    return blocker;
  }
  return std::nullopt;
}

}  // namespace cox::cycle
