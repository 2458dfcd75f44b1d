#include <algorithm>
#include <compare>
#include <functional>
#include <numeric>

#include "cycle/round.hpp"

namespace cox::cycle {
namespace {

bool Allowed(const Field& field, uint32_t node, int32_t lift) {
  if ((*field.usable)[node] == 0) return false;
  if (field.verdicts.empty() || lift == kLiftAll) return true;
  const int32_t verdict = field.verdicts[node];
  return verdict == 0 || verdict == lift;
}

// Of two fields: the one that is a single replica.
uint32_t Single(const Bid& bid) {
  return bid.fields[0].replicas == 1 ? 0 : 1;
}

// What a single replica of `one` on this node costs `many`.
int64_t Loss(const Board& board, const Field& one, const Field& many, uint32_t node, int32_t lift) {
  const int64_t before = FitCount(board, many, node, lift);
  return before - std::min(before, Beside(one, many, board.Room(node)));
}

// Calls visit(node) for all nodes that the bid may be on, and maybe others, until it returns false.
template <class Visit>
void EachNode(const Board& board, const Bid& bid, Visit&& visit) {
  const uint32_t count =
      bid.within ? static_cast<uint32_t>(bid.within->nodes.size()) : board.nodes();
  for (uint32_t i = 0; i < count; ++i) {
    if (!visit(bid.within ? bid.within->nodes[i] : i)) return;
  }
}

// As EachNode, but maybe without those that have too few GPUs free for the field.
template <class Visit>
void EachRoomyNode(const Board& board, const Bid& bid, const Field& field, Visit&& visit) {
  if (bid.within == nullptr) return board.FromFullest(field.need.gpu_milli, visit);
  EachNode(board, bid, visit);
}

// The order in which nodes are taken: what plugins like most, then those that nobody has just
// released from a block, else the fullest, so that big holes
// stay whole; equal ones by name. Why GPUs first: they are what gangs wait for. For the same reason
// a replica without GPUs looks at how many a node has at all: rather none.
struct Pick {
  int64_t dislike, probation, gpu, cpu, mem;
  uint32_t node;
  // NOLINTNEXTLINE(modernize-use-nullptr): clang-tidy 14 takes the 0 of <=> for a pointer
  friend auto operator<=>(const Pick&, const Pick&) = default;
};

// As Board::FromFullest, where that order does not serve.
template <class Visit>
void FromMostLiked(const Board& board, const Bid& bid, const Field& field,
                   std::span<const int32_t> liking, Visit&& visit) {
  const host::Lane& capacity = board.rows().lane(COX_NODE_GPU_MILLI_CAPACITY);
  std::vector<Pick> picks;
  EachRoomyNode(board, bid, field, [&](uint32_t node) {
    if (FitCount(board, field, node) == 0) return true;
    const Resources room = board.Room(node);
    const int64_t gpus = field.need.gpu_milli > 0 ? room.gpu_milli : capacity[node];
    picks.push_back({liking.empty() ? 0 : -int64_t{liking[node]}, board.OnProbation(node) ? 1 : 0,
                     gpus, room.cpu_milli, room.mem_mib, node});
    return true;
  });
  std::ranges::make_heap(picks, std::greater<>{});
  for (; !picks.empty(); picks.pop_back()) {
    std::ranges::pop_heap(picks, std::greater<>{});
    if (!visit(picks.back().node)) return;
  }
}

bool PlaceField(Board& board, const Bid& bid, uint32_t index, std::span<const int32_t> liking,
                Seats& seats) {
  const Field& field = bid.fields[index];
  if (liking.empty()) liking = field.scores;
  int64_t left = field.replicas;
  std::vector<std::pair<uint32_t, int64_t>> taken;  // node, replicas
  const auto take = [&](uint32_t node) {
    if (field.spread && std::ranges::find(seats, node, &Seat::node) != seats.end()) return true;
    const int64_t here = std::min(left, FitCount(board, field, node));
    if (here > 0) taken.emplace_back(node, here);
    left -= here;
    return left > 0;
  };
  if (liking.empty() && field.need.gpu_milli > 0 && bid.within == nullptr) {
    board.FromFullest(field.need.gpu_milli, take);
  } else {
    FromMostLiked(board, bid, field, liking, take);
  }
  for (const auto& [node, count] : taken) {
    board.Use(node, field.need * count);
    seats.insert(seats.end(), static_cast<size_t>(count), Seat{index, node});
  }
  return left == 0;
}

bool PlaceLargestFirst(Board& board, const Bid& bid, std::span<const int32_t> liking,
                       Seats& seats) {
  std::vector<uint32_t> order(bid.fields.size());
  std::iota(order.begin(), order.end(), 0U);
  std::ranges::stable_sort(order, std::greater<>{}, [&](uint32_t f) {
    const Resources& need = bid.fields[f].need;
    return std::tuple(need.gpu_milli, need.cpu_milli, need.mem_mib);
  });
  Trial trial(board);
  for (const uint32_t field : order) {
    if (!PlaceField(board, bid, field, liking, seats)) return false;
  }
  trial.Keep();
  return true;
}

// A single replica goes where it costs the others least: finds a place whenever there is one.
bool PlaceSingleFirst(Board& board, const Bid& bid, uint32_t single,
                      std::span<const int32_t> liking, Seats& seats) {
  const Field& one = bid.fields[single];
  const Field& many = bid.fields[1 - single];
  Trial trial(board);
  uint32_t best = COX_NONE;
  int64_t least = 0;
  EachNode(board, bid, [&](uint32_t node) {
    if (FitCount(board, one, node) == 0) return true;
    const int64_t loss = Loss(board, one, many, node, kLiftNone);
    if (best == COX_NONE || loss < least) {
      best = node;
      least = loss;
    }
    return true;
  });
  if (best == COX_NONE) return false;
  board.Use(best, one.need);
  seats = {{single, best}};
  if (!PlaceField(board, bid, 1 - single, liking, seats)) return false;
  trial.Keep();
  return true;
}

}  // namespace

int64_t HowOften(const Resources& need, const Resources& room, int64_t at_most) {
  if (!need.FitsIn(room)) return 0;
  if (need.cpu_milli > 0) at_most = std::min(at_most, room.cpu_milli / need.cpu_milli);
  if (need.mem_mib > 0) at_most = std::min(at_most, room.mem_mib / need.mem_mib);
  if (need.gpu_milli > 0) at_most = std::min(at_most, room.gpu_milli / need.gpu_milli);
  return at_most;
}

int64_t MostPerNode(const Field& field) {
  return field.spread ? std::min<int64_t>(field.replicas, 1) : field.replicas;
}

int64_t Beside(const Field& one, const Field& many, const Resources& room) {
  return one.spread ? 0 : HowOften(many.need, room - one.need, MostPerNode(many));
}

int64_t FitCount(const Board& board, const Field& field, uint32_t node, int32_t lift) {
  if (!Allowed(field, node, lift)) return 0;
  return HowOften(field.need, board.Room(node), MostPerNode(field));
}

bool Fits(const Board& board, const Bid& bid, int32_t lift) {
  const size_t count = bid.fields.size();
  if (count == 1) {
    const Field& field = bid.fields[0];
    int64_t left = field.replicas;
    EachRoomyNode(board, bid, field, [&](uint32_t node) {
      left -= FitCount(board, field, node, lift);
      return left > 0;
    });
    return left <= 0;
  }
  // The many fit beside the one exactly if some node can take the one and still leave enough.
  const uint32_t single = Single(bid);
  const Field& one = bid.fields[single];
  const Field& many = bid.fields[1 - single];
  int64_t total = 0;
  std::optional<int64_t> least_loss;
  EachNode(board, bid, [&](uint32_t node) {
    total += FitCount(board, many, node, lift);
    if (FitCount(board, one, node, lift) == 0) return true;
    const int64_t loss = Loss(board, one, many, node, lift);
    least_loss = std::min(loss, least_loss.value_or(loss));
    return true;
  });
  return least_loss && total - *least_loss >= many.replicas;
}

std::optional<Seats> Place(Board& board, const Bid& bid, std::span<const int32_t> liking) {
  Seats seats;
  if (PlaceLargestFirst(board, bid, liking, seats)) return seats;
  if (bid.fields.size() == 2 && PlaceSingleFirst(board, bid, Single(bid), liking, seats)) {
    return seats;
  }
  return std::nullopt;
}

model::Placement ToPlacement(const Round& round, const Bid& bid, const Seats& seats) {
  // Ranks follow the names of the nodes, so that neighbours in rank are neighbours in name.
  Seats by_node = seats;
  std::ranges::sort(by_node);
  model::Placement placement{*bid.candidate, {}};
  std::vector<size_t> next(bid.fields.size());
  for (uint32_t f = 0; f < next.size(); ++f) {
    next[f] = static_cast<size_t>(std::ranges::lower_bound(by_node, f, {}, &Seat::field) -
                                  by_node.begin());
  }
  int64_t rank = 0;
  for (uint32_t r = 0; r < bid.candidate->roles.size(); ++r) {
    const model::RoleDemand& role = bid.candidate->roles[r];
    for (int64_t i = 0; i < role.replicas; ++i) {
      const Seat& seat = by_node[next[bid.field_of_role[r]]++];
      placement.replicas.push_back(
          {role.role, rank++, round.snapshot.nodes[seat.node].name, role.resources});
    }
  }
  return placement;
}

}  // namespace cox::cycle
