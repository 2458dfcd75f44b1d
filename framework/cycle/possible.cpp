// Sizes that no wait makes possible: 16 GPUs per replica on nodes of 8, more replicas than all
// nodes of the pool hold, a NodeIn that names no node there is. Who asks for such a thing is told
// so in numbers; it evicts nobody, reserves nothing and hides nobody. A node that is down counts:
// it may come back. So it is not refused at submission either, where the cluster may still grow (D2
// is about quota).
#include <algorithm>

#include "cycle/round.hpp"
#include "cycle/text.hpp"

namespace cox::cycle {
namespace {

using spec::CapacityType;

constexpr const char* kRemedy = "; it waits until there are such nodes, or ask for less";

struct Whole {  // what the suited nodes hold with nothing else on them
  int64_t nodes = 0, seats = 0;
  uint32_t largest = COX_NONE;
};

Whole WholeOf(const Round& round, const Field& field) {
  Whole whole;
  const auto size = [&](uint32_t n) {
    const Resources& r = round.snapshot.nodes[n].capacity;
    return std::tuple(r.gpu_milli, r.cpu_milli, r.mem_mib);
  };
  for (uint32_t n = 0; n < field.suited->size(); ++n) {
    if ((*field.suited)[n] == 0) continue;
    ++whole.nodes;
    whole.seats += HowOften(field.need, round.snapshot.nodes[n].capacity, MostPerNode(field));
    if (whole.largest == COX_NONE || size(n) > size(whole.largest)) whole.largest = n;
  }
  return whole;
}

// Do the many still fit if a single replica of the other field sits where it costs them least?
bool FitTogether(const Round& round, const Field& one, const Field& many) {
  int64_t seats = 0;
  std::optional<int64_t> least_loss;
  for (uint32_t n = 0; n < one.suited->size(); ++n) {
    const Resources& capacity = round.snapshot.nodes[n].capacity;
    int64_t here = 0, beside = 0;
    if ((*many.suited)[n] != 0) {
      here = HowOften(many.need, capacity, MostPerNode(many));
      beside = Beside(one, many, capacity);
    }
    seats += here;
    if ((*one.suited)[n] == 0 || !one.need.FitsIn(capacity)) continue;
    least_loss = std::min(here - beside, least_loss.value_or(here - beside));
  }
  return least_loss && seats - *least_loss >= many.replicas;
}

std::string FlavorOf(const Bid& bid, const Field& field) {
  const auto index = static_cast<uint32_t>(&field - bid.fields.data());
  const auto role = std::ranges::find(bid.field_of_role, index);
  return bid.candidate->roles[static_cast<size_t>(role - bid.field_of_role.begin())].flavor;
}

const char* NoSuchNode(CapacityType source) {
  return source == CapacityType::kSpot   ? "SpotUnavailable"
         : source == CapacityType::kIdle ? "IdleUnavailable"
                                         : "DemandExceedsNodes";
}

// Why this field alone never fits; without text: it would.
model::Blocker Alone(const Round& round, const Bid& bid, const Field& field) {
  model::Blocker blocker;
  blocker.code = "DemandExceedsNodes";
  const Whole whole = WholeOf(round, field);
  if (whole.seats >= field.replicas) return blocker;
  const std::string where = Where(round, bid), flavor = FlavorOf(bid, field);
  if (whole.nodes == 0) {
    blocker.code = NoSuchNode(bid.candidate->source);
    blocker.text = "no node" + where + " serves flavor " + flavor;
  } else if (whole.seats == 0) {
    const model::Node& largest = round.snapshot.nodes[whole.largest];
    blocker.text = "no node" + where + " of flavor " + flavor + " has " + Amount(field.need) +
                   " for one replica: the largest, " + largest.name + ", has " +
                   Amount(largest.capacity);
  } else {
    blocker.text = "needs " + Amount(field.need) + " on one node, " +
                   std::to_string(field.replicas) + " times; " + Count(whole.nodes, "node") +
                   where + " of flavor " + flavor + " could hold " + std::to_string(whole.seats) +
                   " with nothing else on them";
  }
  return blocker;
}

}  // namespace

std::optional<model::Blocker> NeverFits(const Round& round, const Bid& bid) {
  model::Blocker blocker;
  for (const Field& field : bid.fields) {
    if (blocker.text.empty()) blocker = Alone(round, bid, field);
  }
  if (blocker.text.empty() && bid.fields.size() == 2) {
    const size_t single = bid.fields[0].replicas == 1 ? 0 : 1;
    const Field& one = bid.fields[single];
    const Field& many = bid.fields[1 - single];
    if (!FitTogether(round, one, many)) {
      blocker.text = "needs " + Amount(one.need) + " once and " + Amount(many.need) + " " +
                     std::to_string(many.replicas) + " times; the nodes" + Where(round, bid) +
                     " could hold either, but not both at once";
    }
  }
  if (blocker.text.empty()) return std::nullopt;
  blocker.text += kRemedy;
  return blocker;
}

}  // namespace cox::cycle
