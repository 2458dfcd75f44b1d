// What the steps of one cycle share, and the steps themselves. Everything here lives for one
// Decide() on one thread. Read decide.cpp first: it calls the steps in this order.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "cycle/board.hpp"
#include "host/plugins.hpp"
#include "model/decision.hpp"
#include "model/snapshot.hpp"

namespace cox::cycle {

// One place in a candidate's gang: equal replicas, where they may run and where rather. The master
// and its workers are one field; a head with a flavor of its own is another.
struct Field {
  Resources need;  // of one replica
  int64_t replicas = 0;
  bool spread = false;  // at most one replica of the gang on each node
  uint32_t gpu_type = COX_NONE;
  const std::vector<uint8_t>* usable = nullptr;  // 1 = suited and ready
  const std::vector<uint8_t>* suited = nullptr;  // 1 = pool, flavor, GPU type and own NodeIn suit
  host::Lane verdicts;                           // empty = no plugin judges nodes
  host::Lane scores;                             // empty = no plugin scores nodes
};

// Nodes near each other, such as a rack's.
struct Domain {
  const spec::TopologyLevel* level = nullptr;
  const spec::TopologyDomain* domain = nullptr;
  std::vector<uint32_t> nodes;  // rows
  std::vector<uint8_t> has;     // by row
};

struct Seat {  // one replica of a field on one node
  uint32_t field = 0, node = 0;
  friend auto operator<=>(const Seat&, const Seat&) = default;
};
using Seats = std::vector<Seat>;

// One candidate of one pending job on its way through the steps; where all its nodes must be in one
// domain, a bid for each that there is.
struct Bid {
  uint32_t job = 0;   // row
  int64_t index = 0;  // of the candidate
  const model::Candidate* candidate = nullptr;
  const Domain* within = nullptr;  // nullptr = anywhere
  std::vector<Field> fields;
  std::vector<uint32_t> field_of_role;
  bool admitted = false;    // by quota
  bool lacks_room = false;  // and nothing else
  bool reserves = false;    // room at a date
  std::vector<model::Blocker> blockers;
};

// The part of a bid that hardware alone decides. Room only shrinks within a cycle, so what found no
// room once finds none later.
using Shape =
    std::vector<std::tuple<const std::vector<uint8_t>*, int64_t, int64_t, int64_t, int64_t, bool>>;
Shape ShapeOf(const Bid& bid);
cox_shape ShapeOf(const Bid& bid, const Field& field);  // as plugins see it

// All that the pending jobs ask of quota, in the order in which they are looked at: an ask for each
// flavor of each candidate. The answers for some jobs in a row come from one call and hold while
// the board is as it was then.
struct Asks {
  std::vector<uint32_t> job, capacity, pool, flavor, row_begin, row;
  std::vector<int64_t> units;
  std::vector<uint32_t> payer;        // by ask: View::Payer::number
  std::vector<uint32_t> begin;        // by candidate, job by job: its first ask
  std::vector<uint32_t> candidates;   // by place in the order: its first candidate
  std::vector<host::Refusal> answer;  // by ask; for the jobs in [from, to):
  size_t from = 0, to = 0;
  uint64_t version = 0;  // of the board that was asked about

  cox_asks table(uint32_t first, uint32_t last) const;
};

// Why a shape found no room, and what is known to change that. Told to each owner in words that
// name no job of others (S5).
struct Shortage {
  model::Blocker blocker;
  bool for_ever = false;  // not even with nothing else on the nodes
  const model::RunningJob* first_end = nullptr;
  const model::Nomination* kept = nullptr;  // some node is, for this one
};

struct Hopeless {
  std::string why;
  std::optional<TimePoint> retry_at;  // then somebody has run long enough to be preempted
};

struct Round {
  Round(const model::Snapshot& s, host::Plugins& p) : snapshot(s), plugins(p), board(s) {}

  const model::Snapshot& snapshot;
  host::Plugins& plugins;
  Board board;
  model::Decision decision;
  std::vector<uint32_t> order;  // rows of pending jobs, first looked at first
  size_t at = 0;                // place in it of the job that is looked at

  Asks asks;
  // Refusals in words, by verdict, payer, units and candidate, for the board of this version: equal
  // asks are explained once.
  std::map<std::tuple<int32_t, uint32_t, int64_t, int64_t>, model::Blocker> told;
  uint64_t told_version = 0;

  struct Nodes {
    std::vector<uint8_t> suited, usable;
  };
  std::map<std::tuple<uint32_t, uint32_t, uint32_t, uint32_t, uint32_t, std::string, const Domain*>,
           Nodes>
      nodes;  // by source, pool, flavor, GPU type, tenant, own NodeIn, domain
  struct Level {
    std::vector<Domain> domains;
    std::vector<const Domain*> fullest_first;  // on the board of this version
    std::optional<uint64_t> version;
  };
  std::map<std::string, Level> levels;                       // of the topology, by name
  std::map<uint64_t, const std::vector<std::string>*> pins;  // by task: its own NodeIn (S73)
  TimePoint end = kNever;  // of the job that is looked at, if it starts now
  // Shapes that found no room, and why; by the reservations that were in the way.
  std::map<std::pair<uint64_t, Shape>, Shortage> no_room;
  std::vector<std::vector<uint8_t>> in_front;  // nodes usable to those who have a reservation
  std::map<const std::vector<uint8_t>*, bool> behind;  // are some of these nodes among them?
  int64_t dates_looked_for = 0;
  // Shapes that no lawful eviction helps, by the preemptor's priority and guarantee.
  std::map<std::tuple<Shape, spec::Priority, bool>, Hopeless> hopeless;
  bool again = false;                              // room came back after others had been looked at
  std::set<uint32_t> evicted;                      // running rows
  std::map<uint64_t, model::Nomination> nominees;  // by task: what stands now
  std::map<std::pair<uint32_t, std::string>, std::string> holders;  // by ledger row and reader

  const model::PendingJob& job(const Bid& bid) const { return snapshot.pending[bid.job]; }
};

// 1 nominate.cpp: nodes and units that earlier cycles keep for preemptors stay kept.
void KeepNominations(Round& round);
// The job is looked at now: what is kept for it is there for it.
std::optional<model::Nomination> LetGo(Round& round, uint32_t job);
// The nomination of a bid whose gang sits at `seats` once all that leaves is gone.
void Nominate(Round& round, const Bid& bid, const Seats& seats,
              const std::optional<model::Nomination>& before);

// 2 order.cpp: who is looked at first (S56)? Fills round.order.
void Order(Round& round);

// 3 eligible.cpp: held by a person, backing off after a failure, or without any candidate.
std::optional<model::Blocker> NotNow(const Round& round, uint32_t job);

// topology.cpp: where this job may be tried, one after the other: the domains that it requires or
// prefers, the fullest first, so that wide room stays whole. nullptr = anywhere.
std::vector<const Domain*> DomainsFor(Round& round, uint32_t job);
// Of the domains of a candidate that all say no, one speaks: that which has a date, else one that
// has room, but not for long enough, else the emptiest that could hold the gang.
void LetOneSpeak(std::vector<Bid>& bids);

// 4 admit.cpp: does quota allow the whole gang (S41)? Names every refusal in bid.blockers.
void CollectAsks(Round& round);
void Admit(Round& round, Bid& bid);
void ChargeBid(Round& round, const Bid& bid);

// 5 select.cpp: the nodes that suit each field, as hardware and as plugins see it.
void FindPins(Round& round);
void Select(Round& round, Bid& bid);
// Node plugins judge only what hardware does not rule out.
void JudgeNodes(Round& round, Bid& bid);
// idle.cpp: is the offered stability high enough (2.3)?
std::optional<model::Blocker> IdleShortage(const Round& round, const Bid& bid);
// spot.cpp: does it leave the headroom free (S50)?
std::optional<model::Blocker> SpotShortage(Round& round, const Bid& bid);

// 6 gang.cpp: all replicas or none.
// Does the gang fit? Exact for up to two fields of which one is a single replica, which is all that
// jobs can ask for. `lift`: count nodes with these refusals as allowed.
constexpr int32_t kLiftNone = 0, kLiftAll = -1;
bool Fits(const Board& board, const Bid& bid, int32_t lift = kLiftNone);
// possible.cpp: None if the gang could run were nothing else on the nodes; else why it never can.
std::optional<model::Blocker> NeverFits(const Round& round, const Bid& bid);
// How many equal replicas fit into the room, at most `at_most`.
int64_t HowOften(const Resources& need, const Resources& room, int64_t at_most);
// Replicas of a field that one node may take.
int64_t MostPerNode(const Field& field);
// Replicas of `many` that one node may take beside a single one of the other field.
int64_t Beside(const Field& one, const Field& many, const Resources& room);
// Replicas of a field that fit on a node.
int64_t FitCount(const Board& board, const Field& field, uint32_t node, int32_t lift = kLiftNone);
// Uses the room of the whole gang on the board, or changes nothing. `liking`: instead of scores.
std::optional<Seats> Place(Board& board, const Bid& bid, std::span<const int32_t> liking = {});
model::Placement ToPlacement(const Round& round, const Bid& bid, const Seats& seats);

// 7 preempt.cpp: who must go so that one of the bids fits (2.6)? Evicts, and nominates the job.
// What the job then waits for, or why it is of no use, goes into `blockers`.
void Preempt(Round& round, std::span<Bid> bids, const std::optional<model::Nomination>& before,
             std::vector<model::Blocker>& blockers);

// 8 reserve.cpp: the first in line that waits for room gets a date or, where nobody knows one and
// it has waited too long, nodes without one. No later job may delay it (D1-D3).
void Reserve(Round& round, std::vector<Bid>& bids);
// When it ends, if it starts now.
TimePoint EndOf(const model::PendingJob& job, TimePoint now);
// Why a job that stays longer may not take room that is free now.
Shortage WouldDelay(const Round& round, uint64_t reservations);
// preempt.cpp: may this bid send others away at all?
bool MayPreempt(const Bid& bid);

// 9 explain.cpp: why a bid found no place, for its owner (S47, S80).
Shortage NoRoom(const Round& round, const Bid& bid);
model::Blocker ForOwner(const Round& round, const Bid& bid, const Shortage& shortage);
void ExplainNodes(Round& round, Bid& bid);
// " in pool train, among its own nodes n1, n2"
std::string Where(const Round& round, const Bid& bid);
// Who uses the units of a quota, told to `reader`: only the own jobs by name (S5).
std::string Holders(Round& round, uint32_t ledger_row, const std::string& reader);
// queue_rank.cpp: fills the queue ranks of all jobs that wait in decision.waiting.
void RankQueue(Round& round);

}  // namespace cox::cycle
