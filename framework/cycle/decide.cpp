#include "cycle/decide.hpp"

#include <algorithm>
#include <utility>

#include "cycle/round.hpp"

namespace cox::cycle {
namespace {

using model::Snapshot;

// The same rows in another order are the same snapshot.
Snapshot Sorted(Snapshot s) {
  std::ranges::sort(s.nodes, {}, &model::Node::name);
  std::ranges::sort(s.pending, {}, &model::PendingJob::id);
  std::ranges::sort(s.running, {}, &model::RunningJob::id);
  std::ranges::sort(s.nominations, {}, &model::Nomination::task);
  std::ranges::stable_sort(s.policies, {}, [](const auto& p) { return std::pair(p.scope, p.id); });
  return s;
}
bool IsSorted(const Snapshot& s) {
  return std::ranges::is_sorted(s.nodes, {}, &model::Node::name) &&
         std::ranges::is_sorted(s.pending, {}, &model::PendingJob::id) &&
         std::ranges::is_sorted(s.running, {}, &model::RunningJob::id) &&
         std::ranges::is_sorted(s.nominations, {}, &model::Nomination::task) &&
         std::ranges::is_sorted(s.policies, {},
                                [](const auto& p) { return std::pair(p.scope, p.id); });
}

// None: the gang fits, as far as hardware and reservations go. Who found no room before finds none
// now.
const Shortage* Full(Round& round, const Bid& bid) {
  Board& board = round.board;
  const uint64_t reserved = board.InTheWay(round.end);
  const Shape shape = ShapeOf(bid);
  for (const uint64_t seen : {uint64_t{0}, reserved}) {
    const auto known = round.no_room.find({seen, shape});
    if (known != round.no_room.end()) return &known->second;
  }
  board.Respect(reserved);
  if (Fits(board, bid)) return nullptr;
  board.Respect(0);
  const bool delays = reserved != 0 && Fits(board, bid);
  const Shortage why = delays ? WouldDelay(round, reserved) : NoRoom(round, bid);
  return &round.no_room.insert_or_assign({delays ? reserved : 0, shape}, why).first->second;
}

// Quota, nodes and room for one candidate. When it may start its seats are taken on the board;
// otherwise bid.blockers says why not.
std::optional<Seats> Try(Round& round, Bid& bid) {
  Admit(round, bid);
  if (!bid.admitted) return std::nullopt;
  Select(round, bid);
  auto shortage = IdleShortage(round, bid);
  if (!shortage) shortage = SpotShortage(round, bid);
  if (shortage) {
    bid.blockers.push_back(std::move(*shortage));
    return std::nullopt;
  }
  const Shortage* full = Full(round, bid);
  bid.lacks_room = full == nullptr || !full->for_ever;
  if (full != nullptr) {
    bid.blockers.push_back(ForOwner(round, bid, *full));
    return std::nullopt;
  }
  JudgeNodes(round, bid);
  Board& board = round.board;
  if (auto seats = Place(board, bid)) return seats;
  ExplainNodes(round, bid);
  const uint64_t reserved = board.InTheWay(round.end);
  board.Respect(0);
  if (reserved != 0 && Fits(board, bid)) {  // to each of the two reasons there is a way out
    bid.blockers.push_back(ForOwner(round, bid, WouldDelay(round, reserved)));
  }
  board.Respect(reserved);
  return std::nullopt;
}

void Start(Round& round, const Bid& bid, const Seats& seats) {
  const model::PendingJob& job = round.job(bid);
  for (const Seat& seat : seats) {
    round.board.EndsAt(seat.node, bid.fields[seat.field].need, round.end);
  }
  ChargeBid(round, bid);
  round.decision.starts.push_back({job.id, job.attempt, ToPlacement(round, bid, seats)});
}

// One candidate in each domain that its owner requires or prefers; without a wish, anywhere. True:
// it starts. Adds the bids that may still get room by an eviction or at a date.
bool TryEverywhere(Round& round, uint32_t row, int64_t index, std::vector<Bid>& bids) {
  const model::PendingJob& job = round.snapshot.pending[row];
  for (const Domain* within : DomainsFor(round, row)) {
    Bid bid;
    bid.job = row;
    bid.index = index;
    bid.candidate = &job.candidates[static_cast<size_t>(index)];
    bid.within = within;
    if (const auto seats = Try(round, bid)) {
      Start(round, bid, *seats);
      return true;
    }
    const bool only_preferred = within != nullptr && job.topology.required.empty();
    if (!only_preferred) bids.push_back(std::move(bid));
  }
  return false;
}

// All candidates of one job, in its owner's order: the first that fits is taken (S38). If none
// does, others may have to make room; where the site prefers the order, for each before the next.
void Look(Round& round) {
  const uint32_t row = round.order[round.at];
  const model::PendingJob& job = round.snapshot.pending[row];
  model::Explanation& waiting = round.decision.waiting[row];
  waiting.task = job.id;
  if (auto blocker = NotNow(round, row)) {
    waiting.blockers.push_back(std::move(*blocker));
    return;
  }
  round.end = EndOf(job, round.snapshot.now);
  const std::optional<model::Nomination> nominated = LetGo(round, row);
  const bool in_order = round.snapshot.site && round.snapshot.site->prefer_flavor_order;
  std::vector<Bid> bids;
  for (int64_t c = 0; c < std::ssize(job.candidates); ++c) {
    const size_t before = bids.size();
    if (TryEverywhere(round, row, c, bids)) {
      round.again |= nominated && nominated->placement != round.decision.starts.back().placement;
      return;
    }
    if (!in_order) continue;
    Preempt(round, std::span(bids).subspan(before), nominated, waiting.blockers);
    if (round.nominees.contains(job.id.value)) break;
  }
  if (!in_order) Preempt(round, bids, nominated, waiting.blockers);
  if (!round.nominees.contains(job.id.value)) Reserve(round, bids);
  round.again |= nominated && !round.nominees.contains(job.id.value);
  LetOneSpeak(bids);
  for (Bid& bid : bids) std::ranges::move(bid.blockers, std::back_inserter(waiting.blockers));
}

void Earlier(std::optional<TimePoint>& first, std::optional<TimePoint> t) {
  if (t && (!first || *t < *first)) first = t;
}

// Everything that time alone can change: then it is worth to decide again.
std::optional<TimePoint> WakeAt(const Round& round) {
  const Snapshot& s = round.snapshot;
  std::optional<TimePoint> wake;
  if (round.decision.waiting.empty()) return wake;
  if (round.again) return s.now;
  const auto timer = [&](TimePoint t) {
    if (t > s.now && t != kNever) Earlier(wake, t);
  };
  for (const auto& policy : s.policies) timer(policy.expires_at);
  for (const auto& nomination : round.decision.nominations) timer(nomination.expires_at);
  for (const auto& waiting : round.decision.waiting) {
    if (waiting.earliest) timer(*waiting.earliest);
  }
  return wake;
}

model::Decision DecideSorted(const Snapshot& snapshot, host::Plugins& plugins) {
  Round round(snapshot, plugins);
  round.decision.generation = snapshot.generation;
  round.decision.waiting.resize(snapshot.pending.size());
  KeepNominations(round);
  Order(round);
  CollectAsks(round);
  FindPins(round);
  for (; round.at < round.order.size(); ++round.at) Look(round);

  model::Decision& decision = round.decision;
  std::erase_if(decision.waiting, [](const auto& e) { return e.blockers.empty(); });  // started
  for (auto& [task, nomination] : round.nominees) decision.nominations.push_back(nomination);
  for (model::Explanation& e : decision.waiting) {
    for (const model::Blocker& blocker : e.blockers) Earlier(e.earliest, blocker.retry_at);
  }
  RankQueue(round);
  decision.wake_at = WakeAt(round);
  return std::move(decision);
}

}  // namespace

model::Decision Decide(const Snapshot& snapshot, host::Plugins& plugins) {
  if (IsSorted(snapshot)) return DecideSorted(snapshot, plugins);
  return DecideSorted(Sorted(snapshot), plugins);
}

}  // namespace cox::cycle
