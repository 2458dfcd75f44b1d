// Nobody overtakes for ever. The first job in line that waits for room gets a date: when, by the
// wall times that are known, its gang fits. Later jobs may fill the room until then, or room that
// is left over even then (EASY backfill), but never delay it by a second. Where no date is known a
// job that has waited longer than the site's bound gets its nodes kept, until those who run there
// have ended.
//
// "In line" is counted apart for jobs that share no node. What a date depends on is in the
// snapshot: each cycle finds it anew, so an early end moves it.
#include <algorithm>

#include "cycle/round.hpp"
#include "cycle/text.hpp"
#include "cycle/victims.hpp"

namespace cox::cycle {
namespace {

// Looking for a date costs some visits of every node; that many jobs may try in a cycle.
constexpr int64_t kMostLooks = 16;

struct Guest {    // on a node that the bid could use
  TimePoint end;  // the earliest moment at which its room may be there for the bid
  TaskId task;
  const std::string *name = nullptr, *user = nullptr;
  const model::Placement* placement = nullptr;
};
using Guests = std::span<const Guest>;

struct Plan {
  TimePoint from;  // kNever: nobody knows
  Seats seats;
  std::vector<Guest> gone;  // who has ended by then
};

bool Shares(const Board& board, const Bid& bid, const model::Placement& placement) {
  return std::ranges::any_of(placement.replicas, [&](const model::Replica& replica) {
    const uint32_t node = board.rows().NodeRow(replica.node);
    return node != COX_NONE && std::ranges::any_of(bid.fields, [&](const Field& field) {
             return (*field.usable)[node] != 0;
           });
  });
}

TimePoint EndFor(const Round& round, const Bid& bid, const model::RunningJob& job) {
  const TimePoint now = round.snapshot.now;
  if (job.leaving) return kNever;  // it should have gone long ago
  const TimePoint evicted = MayPreempt(bid) ? LawfulFrom(round, job, round.job(bid)) : kNever;
  if (job.ends_by == kNever || now >= job.ends_by + kLeaveMargin) return evicted;
  return std::min(evicted, std::max(job.ends_by, now));
}

// The first to end first. Who leaves anyway is room already; who starts in this cycle is a guest,
// too. `all`: those whose end nobody knows as well, at the end.
std::vector<Guest> FindGuests(const Round& round, const Bid& bid, bool all) {
  std::vector<Guest> guests;
  const model::Snapshot& s = round.snapshot;
  for (uint32_t row = 0; row < s.running.size(); ++row) {
    const model::RunningJob& job = s.running[row];
    if (round.evicted.contains(row) || ComesBackSoon(job, s.now)) continue;
    guests.push_back({EndFor(round, bid, job), job.id, &job.name, &job.owner.user, &job.placement});
  }
  for (const model::Start& start : round.decision.starts) {
    const auto job = std::ranges::lower_bound(s.pending, start.task, {}, &model::PendingJob::id);
    guests.push_back({EndOf(*job, s.now), job->id, &job->name, &job->owner.user, &start.placement});
  }
  std::erase_if(guests, [&](const Guest& guest) {
    return (guest.end == kNever && !all) || !Shares(round.board, bid, *guest.placement);
  });
  std::ranges::sort(guests, {}, [](const Guest& g) { return std::pair(g.end, g.task); });
  return guests;
}

// Does it fit once these have ended, too? If not, they stay away from the board.
bool HelpsOrGo(Round& round, const Bid& bid, Guests guests) {
  Trial trial(round.board);
  for (const Guest& guest : guests) round.board.Leave(guest.task, *guest.placement);
  const bool fits = Fits(round.board, bid);
  if (!fits) trial.Keep();
  return fits;
}

// How many of them must end, in their order, so that the bid fits? None: not even all help.
std::optional<size_t> HowMany(Round& round, const Bid& bid, Guests guests) {
  Trial trial(round.board);
  if (Fits(round.board, bid)) return 0;
  if (!HelpsOrGo(round, bid, guests)) return std::nullopt;
  size_t few = 0, enough = guests.size();  // the board shows `few` of them gone
  while (enough - few > 1) {
    const size_t half = few + (enough - few) / 2;
    if (HelpsOrGo(round, bid, guests.subspan(few, half - few))) {
      enough = half;
    } else {
      few = half;
    }
  }
  return enough;
}

// Where it would sit once they are gone; `prefer_busy`: rather where little is free now, so that
// what is free stays free for others.
std::optional<Seats> SeatsWithout(Round& round, const Bid& bid, Guests gone, bool prefer_busy) {
  std::vector<int32_t> liking(round.board.view().nodes->stride);
  for (uint32_t node = 0; node < round.board.nodes(); ++node) {
    const auto free = static_cast<int32_t>(round.board.Room(node).gpu_milli);
    liking[node] = prefer_busy ? -free : free;
  }
  Trial trial(round.board);
  for (const Guest& guest : gone) round.board.Leave(guest.task, *guest.placement);
  return Place(round.board, bid, liking);
}

Duration Bound(const Round& round) {
  return std::chrono::seconds(round.snapshot.site->starvation_bound_seconds);
}

TimePoint WaitsSince(const Round& round, const Bid& bid) {
  const model::PendingJob& job = round.job(bid);
  return std::max({job.submitted_at, job.waiting_since, job.not_before});
}

bool HasWaitedTooLong(const Round& round, const Bid& bid) {
  return Bound(round) > Duration::zero() &&
         round.snapshot.now >= WaitsSince(round, bid) + Bound(round);
}

bool SomebodyLeaves(const Round& round) {
  return !round.evicted.empty() || std::ranges::any_of(round.snapshot.running, [&](const auto& j) {
    return ComesBackSoon(j, round.snapshot.now);
  });
}

std::optional<Plan> MakePlan(Round& round, Bid& bid) {
  const bool overdue = HasWaitedTooLong(round, bid);
  const std::vector<Guest> guests = FindGuests(round, bid, overdue);
  if (guests.empty() && !SomebodyLeaves(round)) return std::nullopt;
  if (bid.fields.front().verdicts.empty()) JudgeNodes(round, bid);
  const auto unknown = std::ranges::find(guests, kNever, &Guest::end);
  Plan plan{kNever, {}, {}};
  std::optional<Seats> seats;
  round.board.LookAhead(true);
  if (const auto count = HowMany(round, bid, Guests(guests.begin(), unknown))) {
    plan.from = *count == 0 ? round.snapshot.now : guests[*count - 1].end;
  }
  const bool dated = plan.from != kNever;
  if (dated || overdue) {
    for (const Guest& guest : guests) {
      if (!dated || guest.end <= plan.from) plan.gone.push_back(guest);
    }
    seats = SeatsWithout(round, bid, plan.gone, dated);
  }
  round.board.LookAhead(false);
  if (!seats) return std::nullopt;
  plan.seats = std::move(*seats);
  return plan;
}

// Has somebody in front reserved some of the nodes that would do?
bool IsBehind(Round& round, const Bid& bid) {
  return std::ranges::any_of(bid.fields, [&](const Field& field) {
    const auto [known, fresh] = round.behind.try_emplace(field.usable);
    for (const std::vector<uint8_t>& front : round.in_front) {
      for (size_t n = 0; fresh && !known->second && n < front.size(); ++n) {
        known->second = front[n] != 0 && (*field.usable)[n] != 0;
      }
    }
    return known->second;
  });
}

std::string NodeNames(const Round& round, const Board::Reservation& reservation) {
  std::vector<std::string> names;
  for (const auto& [node, room] : reservation.room) {
    names.push_back(round.snapshot.nodes[node].name);
  }
  return Names(names);
}

// For the owner of the job that has the reservation.
std::string Promise(const Round& round, const Bid& bid, const Board::Reservation& r,
                    const TasksFor& awaited) {
  const std::string kept = NodeNames(round, r) + " kept for it";
  if (r.from != kNever) {
    return "; first in line: " + kept + (r.from > round.snapshot.now ? " from " + Utc(r.from) : "");
  }
  return "; protected since " + Utc(WaitsSince(round, bid) + Bound(round)) + ": " + kept +
         "; waiting for " + Count(awaited.count(), "job") + ": " + awaited.Text();
}

}  // namespace

TimePoint EndOf(const model::PendingJob& job, TimePoint now) {
  return job.time_limit_seconds ? now + std::chrono::seconds(*job.time_limit_seconds) : kNever;
}

void Reserve(Round& round, std::vector<Bid>& bids) {
  std::optional<Plan> best;
  Bid* taken = nullptr;
  // Equal dates go to the earlier candidate and the fuller domain; when it becomes too much to look
  // at, the emptiest domains have been.
  for (auto at = bids.rbegin(); at != bids.rend(); ++at) {
    Bid& bid = *at;
    if (!bid.lacks_room || IsBehind(round, bid)) continue;
    if (round.dates_looked_for++ >= kMostLooks) break;
    auto plan = MakePlan(round, bid);
    if (!plan || (best && best->from < plan->from)) continue;
    best = std::move(plan);
    taken = &bid;
  }
  if (!best || round.board.reservations().size() == Board::kReservations) return;
  Board::Reservation reservation{best->from, {}, {}};
  for (const Seat& seat : best->seats) {
    reservation.room[seat.node] += taken->fields[seat.field].need;
  }
  TasksFor awaited(round.job(*taken).owner.user);
  std::vector<const model::Placement*> ending;
  for (const Guest& guest : best->gone) {
    const bool here = std::ranges::any_of(guest.placement->replicas, [&](const auto& replica) {
      return reservation.room.contains(round.board.rows().NodeRow(replica.node));
    });
    if (!here) continue;
    reservation.ending.insert(guest.task.value);
    ending.push_back(guest.placement);
    awaited.Add(*guest.user, *guest.name);
  }
  taken->reserves = true;
  taken->blockers.back().text += Promise(round, *taken, reservation, awaited);
  if (reservation.from == kNever) reservation.from = round.snapshot.now;  // whoever starts is late
  round.board.Reserve(std::move(reservation), ending);
  for (const Field& field : taken->fields) round.in_front.push_back(*field.usable);
  round.behind.clear();
}

Shortage WouldDelay(const Round& round, uint64_t reservations) {
  Shortage shortage;
  model::Blocker& blocker = shortage.blocker;
  blocker.code = "WouldDelayOther";
  for (size_t r = 0; r < round.board.reservations().size(); ++r) {
    if ((reservations >> r & 1) == 0) continue;
    const Board::Reservation& reservation = round.board.reservations()[r];
    blocker.text += (blocker.text.empty() ? "there is room now, but " : "; ") +
                    NodeNames(round, reservation) + " kept for a job that waits in front" +
                    (reservation.from > round.snapshot.now
                         ? " and starts by " + Utc(reservation.from) +
                               "; a time limit that ends before lets this one run first"
                         : " until all who run there have ended");
  }
  return shortage;
}

}  // namespace cox::cycle
