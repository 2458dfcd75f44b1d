// Preemption (2.6): the core decides who is a lawful victim and who goes; no plugin can widen it.
// A plan is made on the board as it will be once all leaving jobs are gone; nobody is evicted
// unless the whole gang then fits on nodes that it may use.
#include <algorithm>
#include <compare>
#include <numeric>

#include "cycle/round.hpp"
#include "cycle/text.hpp"
#include "cycle/victims.hpp"

namespace cox::cycle {
namespace {

using spec::CapacityType;

class LookingAhead {
 public:
  explicit LookingAhead(Board& board) : board_(board) { board_.LookAhead(true); }
  ~LookingAhead() { board_.LookAhead(false); }
  LookingAhead(const LookingAhead&) = delete;
  LookingAhead& operator=(const LookingAhead&) = delete;

 private:
  Board& board_;
};

// "best n1: 4 GPU, ... after preempting all preemptible": the board shows them gone.
std::string BestNode(const Round& round, const Bid& bid) {
  const Field& largest = *std::ranges::max_element(
      bid.fields, {}, [](const Field& f) { return std::pair(f.need.gpu_milli, f.need.cpu_milli); });
  uint32_t best = COX_NONE;
  const auto room = [&](uint32_t n) {
    const Resources r = round.board.Room(n);
    return std::tuple(r.gpu_milli, r.cpu_milli, r.mem_mib);
  };
  for (uint32_t n = 0; n < round.board.nodes(); ++n) {
    if ((*largest.usable)[n] == 0) continue;
    if (best == COX_NONE || room(n) > room(best)) best = n;
  }
  if (best == COX_NONE) return "";
  return "; best " + round.snapshot.nodes[best].name + ": " + Amount(round.board.Room(best)) +
         " after preempting all preemptible";
}

// When the next running job has run long enough to be preempted.
std::optional<TimePoint> NextLawful(const Round& round, const model::PendingJob& job) {
  TimePoint next = kNever;
  for (const model::RunningJob& victim : round.snapshot.running) {
    const TimePoint from = victim.leaving ? kNever : LawfulFrom(round, victim, job);
    if (from > round.snapshot.now) next = std::min(next, from);
  }
  return next == kNever ? std::nullopt : std::optional(next);
}

void Evict(Round& round, const Bid& bid, const Victims& victims) {
  const model::PendingJob& job = round.job(bid);
  // What these leave may be what others keep nodes for: then less of the free room is kept.
  round.again |= !round.nominees.empty();
  for (const uint32_t v : victims) {
    const model::RunningJob& victim = round.snapshot.running[v];
    round.board.Leave(victim);
    round.evicted.insert(v);
    // S53; to be read by the victim's owner, who knows only his own tasks by name (S5).
    std::string message = "task " + victim.name + " was preempted by another task";
    if (victim.owner.user == job.owner.user) message += " " + job.name;
    round.decision.evictions.push_back({victim.id, victim.attempt, job.id, std::move(message),
                                        victim.capacity == CapacityType::kSpot});
  }
}

// The nodes stay kept until those who leave are gone.
model::Blocker WaitForNodes(Round& round, const Bid& bid, const Victims& victims,
                            const std::optional<model::Nomination>& before) {
  Seats seats;
  {
    Trial trial(round.board);  // the gang does not use the room yet, it only keeps it
    seats = *Place(round.board, bid);
  }
  Nominate(round, bid, seats, before);
  const model::Nomination& nomination = round.nominees.at(round.job(bid).id.value);
  std::set<std::string> nodes;
  for (const auto& replica : nomination.placement.replicas) nodes.insert(replica.node);
  std::string names;
  for (const std::string& node : nodes) names += (names.empty() ? "" : ", ") + node;
  TasksFor going(round.job(bid).owner.user);
  for (const uint32_t v : victims) {
    going.Add(round.snapshot.running[v].owner.user, round.snapshot.running[v].name);
  }
  model::Blocker blocker;
  blocker.code = "WaitingForPreemption";
  blocker.text = (victims.empty() ? "" : "preempts " + going.Text() + "; ") + names +
                 " kept for it until the leaving tasks are gone, at most until " +
                 Utc(nomination.expires_at);
  blocker.candidate = bid.index;
  blocker.retry_at = nomination.expires_at;
  return blocker;
}

// What holds for all of the bid's shape is what hardware says: another may use other nodes.
void Despair(Round& round, Bid& bid) {
  const model::PendingJob& job = round.job(bid);
  const Victims everybody = LawfulVictims(round, bid, kLiftAll);
  Trial all_gone(round.board);
  for (const uint32_t v : everybody) round.board.Leave(round.snapshot.running[v]);
  if (Fits(round.board, bid, kLiftAll)) return;  // only node policies are in its way
  const Hopeless hopeless = {everybody.empty() ? "" : BestNode(round, bid), NextLawful(round, job)};
  bid.blockers.back().text += hopeless.why;
  bid.blockers.back().retry_at = hopeless.retry_at;
  round.hopeless.emplace(std::tuple(ShapeOf(bid), job.priority, job.guaranteed), hopeless);
}

struct Clearing {
  const Bid* bid;
  Victims victims;
};

// The bids of one candidate differ by their domain: whichever costs least. None: none helps.
std::optional<Clearing> Cheapest(Round& round, std::span<Bid* const> bids) {
  std::optional<Clearing> best;
  for (Bid* bid : bids) {
    auto victims = ChooseVictims(round, *bid, LawfulVictims(round, *bid));
    if (!victims) {
      Despair(round, *bid);
    } else if (!best || IsCheaper(round, *victims, best->victims)) {
      best = Clearing{bid, *std::move(victims)};
    }
  }
  return best;
}

}  // namespace

// Only who has quota and lacks nothing but room may preempt, and only for capacity that is his.
bool MayPreempt(const Bid& bid) {
  return bid.lacks_room && (bid.candidate->source == CapacityType::kReserved ||
                            bid.candidate->source == CapacityType::kOnDemand);
}

void Preempt(Round& round, std::span<Bid> bids, const std::optional<model::Nomination>& before,
             std::vector<model::Blocker>& blockers) {
  std::vector<Bid*> able;
  for (Bid& bid : bids) {
    if (!MayPreempt(bid)) continue;
    const model::PendingJob& job = round.job(bid);
    const auto known = round.hopeless.find({ShapeOf(bid), job.priority, job.guaranteed});
    if (known == round.hopeless.end()) {
      able.push_back(&bid);
    } else {
      bid.blockers.back().text += known->second.why;
      bid.blockers.back().retry_at = known->second.retry_at;
    }
  }
  if (able.empty()) return;

  round.board.Respect(round.board.InTheWay(kNever));  // it starts later: nobody knows its end
  const LookingAhead looking_ahead(round.board);
  for (Bid* bid : able) {
    if (bid->fields.front().verdicts.empty()) JudgeNodes(round, *bid);
    // Who leaves anyway may leave room enough: then nobody else has to go.
    if (Fits(round.board, *bid)) {
      blockers.push_back(WaitForNodes(round, *bid, {}, before));
      return;
    }
  }
  for (auto first = able.begin(); first != able.end();) {
    const auto last = std::find_if(first, able.end(),
                                   [&](const Bid* bid) { return bid->index != (*first)->index; });
    if (const auto clearing = Cheapest(round, {first, last})) {
      Evict(round, *clearing->bid, clearing->victims);
      blockers.push_back(WaitForNodes(round, *clearing->bid, clearing->victims, before));
      return;
    }
    first = last;
  }
}

}  // namespace cox::cycle
