// Where everything stands while a cycle thinks: the room on each node, the use of each ledger row,
// what will soon come back and what is kept for whom. Owner: one Decide().
//
// Promises: every change can be taken back exactly, in reverse order (Trial); the columns that
// plugins see always show the truth net of all changes. Two looks at the same board:
//   now          room = free - what nominees need beyond the room that is coming back
//   look ahead   room = free + coming back - kept for nominees: after the leaving jobs are gone
// and a third: what a job may take that stays beyond the date of a reservation,
//   respect      room <= what is free at that date - what is reserved
// Nodes are kept in the order of their room, so that who finds none looks at none.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <vector>

#include "base/resources.hpp"
#include "host/view.hpp"
#include "model/snapshot.hpp"

namespace cox::cycle {

// Killed processes may take a moment to be seen gone. A job that overstays its end by more than
// this does not count as room that is coming back.
constexpr Duration kLeaveMargin = std::chrono::seconds(60);

bool ComesBackSoon(const model::RunningJob& job, TimePoint now);

class Board {
 public:
  explicit Board(const model::Snapshot& snapshot);

  const model::Snapshot& snapshot() const { return snapshot_; }
  const cox_view& view() const { return view_.table(); }
  const host::View& rows() const { return view_; }
  uint32_t nodes() const { return view_.table().nodes->count; }
  Resources Room(uint32_t node) const;

  // Calls visit(node) for the nodes with at least `gpu_milli` free, until it returns false: the
  // fullest first and equal ones by name, but those on probation after all others. Nothing may
  // change meanwhile.
  template <class Visit>
  void FromFullest(int64_t gpu_milli, Visit&& visit) const {
    const auto first = by_room_.lower_bound({gpu_milli, 0, 0, 0});
    for (auto at = first; at != by_room_.end(); ++at) {
      if (!OnProbation(at->node) && !visit(at->node)) return;
    }
    for (auto at = first; !probation_.empty() && at != by_room_.end(); ++at) {
      if (OnProbation(at->node) && !visit(at->node)) return;
    }
  }
  bool OnProbation(uint32_t node) const { return !probation_.empty() && probation_[node] != 0; }
  // Grows with each change, also with one that is taken back: equal numbers, equal boards.
  uint64_t version() const { return version_; }

  struct Change {
    enum class What { kUse, kLeave, kHold, kEnd, kCharge } what;
    uint32_t row;      // of the node; kCharge: of the ledger
    Resources amount;  // all but kCharge
    int64_t units;     // kCharge
  };
  void Use(uint32_t node, const Resources& r) { Do({Change::What::kUse, node, r, 0}); }
  void Leave(uint32_t node, const Resources& r) { Do({Change::What::kLeave, node, r, 0}); }
  void Hold(uint32_t node, const Resources& r) { Do({Change::What::kHold, node, r, 0}); }
  void Charge(uint32_t row, int64_t units) { Do({Change::What::kCharge, row, {}, units}); }

  // The room that the task has comes back soon: it leaves, or this cycle evicts it.
  void Leave(TaskId task, const model::Placement& placement);
  void Leave(const model::RunningJob& job) { Leave(job.id, job.placement); }
  // Keeps nodes and units for a nominee; sign -1 gives them back.
  void Hold(const model::Owner& owner, const model::Placement& placement, int64_t sign = 1);

  void LookAhead(bool on);

  // Room that a waiting job gets at `from`, when the tasks `ending` on its nodes have ended. No
  // node is reserved twice; at most kReservations.
  struct Reservation {
    TimePoint from;
    std::map<uint32_t, Resources> room;  // by node
    std::set<uint64_t> ending;           // tasks
  };
  static constexpr size_t kReservations = 64;
  void Reserve(Reservation reservation, std::span<const model::Placement* const> ending);
  const std::vector<Reservation>& reservations() const { return reservations_; }
  // Bit r: who stays until `end` would be in the way of reservation r.
  uint64_t InTheWay(TimePoint end) const;
  // What is shown is the room that leaves these reservations as they are.
  void Respect(uint64_t reservations);
  // Somebody who uses `r` of the node from now on ends at `end`.
  void EndsAt(uint32_t node, const Resources& r, TimePoint end);

 private:
  friend class Trial;
  struct Rank {
    int64_t gpu, cpu, mem;
    uint32_t node;
    friend auto operator<=>(const Rank&, const Rank&) = default;
  };
  Rank RankOf(uint32_t node) const;
  void Do(const Change& change);
  void Apply(const Change& change, int64_t sign);
  Resources Shown(uint32_t node) const;  // to those who look now
  void Refresh(uint32_t node);

  const model::Snapshot& snapshot_;
  host::View view_;
  std::vector<Resources> free_, coming_, held_;  // by node; free: not used by anybody now
  std::vector<Resources> reserved_, ending_;     // by node; ending: room that comes back by then
  std::vector<uint32_t> reserver_;               // by node: reservation, COX_NONE = free for all
  std::vector<Reservation> reservations_;
  uint64_t respected_ = 0;
  std::vector<uint8_t> probation_;  // by node; empty = none is
  std::vector<int64_t> used_;       // by ledger row, with what is held
  std::set<Rank> by_room_;          // every node
  std::vector<Change> journal_;
  uint64_t version_ = 0;
  bool look_ahead_ = false;
};

// Changes of a board that are taken back exactly unless Keep() is called. Trials nest: the last
// opened ends first, and an outer one takes back what an inner one kept.
class Trial {
 public:
  explicit Trial(Board& board) : board_(&board), mark_(board.journal_.size()) {}
  ~Trial() { Undo(); }
  Trial(const Trial&) = delete;
  Trial& operator=(const Trial&) = delete;

  void Keep() { kept_ = true; }
  void Undo();

 private:
  Board* board_;
  size_t mark_;
  bool kept_ = false;
};

}  // namespace cox::cycle
