#include "cycle/victims.hpp"

#include <algorithm>
#include <compare>
#include <functional>
#include <numeric>

namespace cox::cycle {
namespace {

using spec::CapacityType;

// Node visits that an exact search may cost; about 20 ms.
constexpr size_t kExactVisits = 5'000'000;

int64_t Gpus(const model::RunningJob& job) {
  int64_t milli = 0;
  for (const auto& replica : job.placement.replicas) milli += replica.resources.gpu_milli;
  return milli;
}

struct Cost {
  size_t jobs = 0;
  std::vector<int> bands;  // highest first
  int64_t gpus = 0, gpu_seconds = 0;
  std::vector<int64_t> starts;  // negative: the latest start is the cheapest
  std::vector<uint64_t> ids;
  // NOLINTNEXTLINE(modernize-use-nullptr): clang-tidy 14 takes the 0 of <=> for a pointer
  friend auto operator<=>(const Cost&, const Cost&) = default;
};

Cost CostOf(const Round& round, const Victims& victims) {
  Cost cost;
  cost.jobs = victims.size();
  for (const uint32_t v : victims) {
    const model::RunningJob& job = round.snapshot.running[v];
    const int64_t gpus = Gpus(job);
    cost.bands.push_back(Band(job));
    cost.gpus += gpus;
    cost.gpu_seconds += gpus * (ToSeconds(round.snapshot.now) - ToSeconds(job.started_at));
    cost.starts.push_back(-ToNanos(job.started_at));
    cost.ids.push_back(job.id.value);
  }
  std::ranges::sort(cost.bands, std::greater<>{});
  std::ranges::sort(cost.starts);
  std::ranges::sort(cost.ids);
  return cost;
}

bool FitsWithout(Round& round, const Bid& bid, const Victims& victims) {
  Trial trial(round.board);
  for (const uint32_t v : victims) round.board.Leave(round.snapshot.running[v]);
  return Fits(round.board, bid);
}

// Calls visit(set) for every set of k of `from`.
void EachSet(const Victims& from, size_t k, const std::function<void(const Victims&)>& visit) {
  std::vector<size_t> at(k);
  std::iota(at.begin(), at.end(), size_t{0});
  Victims set(k);
  while (true) {
    std::ranges::transform(at, set.begin(), [&](size_t i) { return from[i]; });
    visit(set);
    size_t i = k;
    while (i > 0 && at[i - 1] == from.size() - k + i - 1) --i;
    if (i == 0) return;
    ++at[i - 1];
    for (; i < k; ++i) at[i] = at[i - 1] + 1;
  }
}

// The best set of the smallest size that helps; none when the search would cost too much.
std::optional<Victims> Exact(Round& round, const Bid& bid, const Victims& from) {
  size_t visits = 0;
  size_t sets = 1;  // C(n, k)
  for (size_t k = 1; k <= from.size(); ++k) {
    sets = sets * (from.size() - k + 1) / k;
    visits += sets * std::max<size_t>(round.board.nodes(), 16);
    if (visits > kExactVisits) return std::nullopt;
    std::optional<std::pair<Cost, Victims>> best;
    EachSet(from, k, [&](const Victims& set) {
      if (!FitsWithout(round, bid, set)) return;
      std::pair found(CostOf(round, set), set);
      if (!best || found < *best) best = std::move(found);
    });
    if (best) return best->second;
  }
  return std::nullopt;
}

// Takes the nodes with the fewest victims, then spares everybody who can be spared, dearest first.
Victims Greedy(Round& round, const Bid& bid, const Victims& from) {
  const host::View& rows = round.board.rows();
  std::vector<int32_t> liking(round.board.view().nodes->stride);
  std::vector<std::vector<uint32_t>> on_node(round.board.nodes());
  for (const uint32_t v : from) {
    for (const auto& replica : round.snapshot.running[v].placement.replicas) {
      const uint32_t node = rows.NodeRow(replica.node);
      if (node == COX_NONE) continue;
      if (on_node[node].empty() || on_node[node].back() != v) {
        on_node[node].push_back(v);
        --liking[node];
      }
    }
  }
  Victims chosen;
  {
    Trial trial(round.board);
    for (const uint32_t v : from) round.board.Leave(round.snapshot.running[v]);
    const std::optional<Seats> seats = Place(round.board, bid, liking);
    for (const Seat& seat : *seats) {
      chosen.insert(chosen.end(), on_node[seat.node].begin(), on_node[seat.node].end());
    }
  }
  std::ranges::sort(chosen, [&](uint32_t a, uint32_t b) {
    const Cost x = CostOf(round, {a});
    const Cost y = CostOf(round, {b});
    return x != y ? x > y : a < b;
  });
  chosen.erase(std::unique(chosen.begin(), chosen.end()), chosen.end());
  for (size_t i = 0; i < chosen.size();) {
    Victims fewer = chosen;
    fewer.erase(fewer.begin() + static_cast<ptrdiff_t>(i));
    if (FitsWithout(round, bid, fewer)) {
      chosen = std::move(fewer);
    } else {
      ++i;
    }
  }
  return chosen;
}

}  // namespace

bool IsLawful(const model::RunningJob& victim, const model::PendingJob& preemptor) {
  // D3: a guarantee holds neither on idle nor against the reclaim of spot.
  if (victim.capacity == CapacityType::kIdle || victim.capacity == CapacityType::kSpot) return true;
  if (victim.guaranteed) return false;
  if (victim.priority == preemptor.priority) return preemptor.guaranteed;  // D24
  return victim.priority < preemptor.priority;
}

TimePoint LawfulFrom(const Round& round, const model::RunningJob& victim,
                     const model::PendingJob& preemptor) {
  if (!IsLawful(victim, preemptor)) return kNever;
  const TimePoint now = round.snapshot.now;
  const TimePoint started = victim.started_at == TimePoint{} ? now : victim.started_at;
  return std::max(now, started + std::chrono::seconds(round.snapshot.site->min_run_seconds));
}

int Band(const model::RunningJob& victim) {
  if (victim.capacity == CapacityType::kIdle) return static_cast<int>(victim.stability);
  if (victim.capacity == CapacityType::kSpot) return 3;
  return 4 + static_cast<int>(victim.priority);
}

bool IsCheaper(const Round& round, const Victims& one, const Victims& other) {
  const Cost a = CostOf(round, one);
  const Cost b = CostOf(round, other);
  return a.bands.front() != b.bands.front() ? a.bands.front() < b.bands.front() : a < b;
}

Victims LawfulVictims(const Round& round, const Bid& bid, int32_t lift) {
  Victims lawful;
  for (uint32_t r = 0; r < round.snapshot.running.size(); ++r) {
    const model::RunningJob& job = round.snapshot.running[r];
    if (job.leaving || round.evicted.contains(r)) continue;
    if (LawfulFrom(round, job, round.job(bid)) > round.snapshot.now) continue;
    const bool helps = std::ranges::any_of(job.placement.replicas, [&](const auto& replica) {
      const uint32_t node = round.board.rows().NodeRow(replica.node);
      return node != COX_NONE && std::ranges::any_of(bid.fields, [&](const Field& field) {
               return (*field.usable)[node] != 0 &&
                      (lift == kLiftAll || field.verdicts.empty() || field.verdicts[node] == 0);
             });
    });
    if (helps) lawful.push_back(r);
  }
  std::vector<std::pair<Cost, uint32_t>> by_cost;
  for (const uint32_t v : lawful) by_cost.emplace_back(CostOf(round, {v}), v);
  std::ranges::sort(by_cost);
  std::ranges::transform(by_cost, lawful.begin(), [](const auto& c) { return c.second; });
  return lawful;
}

std::optional<Victims> ChooseVictims(Round& round, const Bid& bid, const Victims& lawful) {
  // Bands open from below; by_cost puts the lower band first.
  for (size_t n = 1; n <= lawful.size(); ++n) {
    const bool band_ends = n == lawful.size() || Band(round.snapshot.running[lawful[n]]) !=
                                                     Band(round.snapshot.running[lawful[n - 1]]);
    if (!band_ends) continue;
    const Victims open(lawful.begin(), lawful.begin() + static_cast<ptrdiff_t>(n));
    if (!FitsWithout(round, bid, open)) continue;
    if (auto exact = Exact(round, bid, open)) return exact;
    return Greedy(round, bid, open);
  }
  return std::nullopt;
}

}  // namespace cox::cycle
