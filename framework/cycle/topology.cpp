// Gangs that want their nodes near each other. A required domain makes a bid of its own for each
// domain of the level, and all steps treat them as they treat candidates; what they say is then
// said once. A preferred one is only tried first: nobody is evicted or made to wait for it.
#include <algorithm>
#include <tuple>
#include <utility>

#include "cycle/round.hpp"

namespace cox::cycle {
namespace {

Round::Level& LevelOf(Round& round, const spec::TopologyLevel& level) {
  const auto [known, fresh] = round.levels.try_emplace(level.level);
  if (!fresh) return known->second;
  for (const spec::TopologyDomain& domain : level.domains) {
    Domain& d = known->second.domains.emplace_back();
    d.level = &level;
    d.domain = &domain;
    d.has.resize(round.board.nodes());
    for (const std::string& name : domain.nodes) {
      const uint32_t node = round.board.rows().NodeRow(name);
      if (node == COX_NONE) continue;
      d.has[node] = 1;
      d.nodes.push_back(node);
    }
    std::ranges::sort(d.nodes);
  }
  return known->second;
}

const std::vector<const Domain*>& FullestFirst(Round& round, const spec::TopologyLevel& level) {
  Round::Level& known = LevelOf(round, level);
  if (known.version == round.board.version()) return known.fullest_first;
  std::vector<std::pair<int64_t, const Domain*>> by_room;
  for (const Domain& domain : known.domains) {
    int64_t free = 0;
    for (const uint32_t node : domain.nodes) free += round.board.Room(node).gpu_milli;
    by_room.emplace_back(free, &domain);
  }
  std::ranges::stable_sort(by_room, {}, [](const auto& d) { return d.first; });
  known.fullest_first.clear();
  for (const auto& [free, domain] : by_room) known.fullest_first.push_back(domain);
  known.version = round.board.version();
  return known.fullest_first;
}

}  // namespace

std::vector<const Domain*> DomainsFor(Round& round, uint32_t row) {
  const spec::Topology& asked = round.snapshot.pending[row].topology;
  const std::vector<spec::TopologyLevel>& levels = round.snapshot.site->topology;
  if (!asked.required.empty()) {
    return FullestFirst(round, *round.snapshot.site->FindTopologyLevel(asked.required));
  }
  std::vector<const Domain*> order;
  if (!asked.preferred.empty()) {
    const auto named = std::ranges::find(levels, asked.preferred, &spec::TopologyLevel::level);
    auto width = named == levels.end() ? 0 : named - levels.begin() + 1;
    while (width-- > 0) {
      const auto& domains = FullestFirst(round, levels[static_cast<size_t>(width)]);
      order.insert(order.end(), domains.begin(), domains.end());
    }
  }
  order.push_back(nullptr);
  return order;
}

void LetOneSpeak(std::vector<Bid>& bids) {
  for (auto first = bids.begin(); first != bids.end();) {
    const auto last =
        std::find_if(first, bids.end(), [&](const Bid& bid) { return bid.index != first->index; });
    const auto rank = [](const Bid& bid) {
      const bool delays = std::ranges::any_of(
          bid.blockers, [](const auto& b) { return b.code == "WouldDelayOther"; });
      return std::tuple(bid.reserves, delays, bid.lacks_room);
    };
    auto speaker = first;
    for (auto bid = first; bid != last; ++bid) {
      if (rank(*bid) >= rank(*speaker)) speaker = bid;
    }
    for (auto bid = first; bid != last; ++bid) {
      if (bid == speaker) continue;
      for (const model::Blocker& blocker : bid->blockers) {
        std::optional<TimePoint>& at = speaker->blockers.back().retry_at;
        if (blocker.retry_at && (!at || *blocker.retry_at < *at)) at = blocker.retry_at;
      }
      bid->blockers.clear();
    }
    if (const auto others = last - first - 1; others > 0 && speaker->admitted) {
      speaker->blockers.back().text +=
          others == 1 ? "; nor does it fit into the other one"
                      : "; nor does it fit into any of the " + std::to_string(others) + " others";
    }
    first = last;
  }
}

}  // namespace cox::cycle
