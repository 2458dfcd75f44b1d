// Where everything stands while a cycle thinks: the room on each node, the use of each ledger row,
// what will soon come back and what is kept for whom. Owner: one Decide().
//
// Promises: every change can be taken back exactly, in reverse order (Trial); the columns that
// plugins see always show the truth net of all changes. Two looks at the same board:
//   now          room = free - what nominees need beyond the room that is coming back
//   look ahead   room = free + coming back - kept for nominees: after the leaving jobs are gone
#pragma once

#include <cstdint>
#include <vector>

#include "base/resources.hpp"
#include "host/view.hpp"
#include "model/snapshot.hpp"

namespace cox::cycle {

// Killed processes may take a moment to be seen gone. A job that overstays its end by more than
// this does not count as room that is coming back.
constexpr Duration kLeaveMargin = std::chrono::seconds(60);

class Board {
 public:
  explicit Board(const model::Snapshot& snapshot);

  const model::Snapshot& snapshot() const { return snapshot_; }
  const cox_view& view() const { return view_.table(); }
  const host::View& rows() const { return view_; }
  uint32_t nodes() const { return view_.table().nodes->count; }
  Resources Room(uint32_t node) const;

  struct Change {
    enum class What { kUse, kLeave, kHold, kCharge } what;
    uint32_t row;      // of the node; kCharge: of the ledger
    Resources amount;  // kUse, kLeave, kHold
    int64_t units;     // kCharge
  };
  void Use(uint32_t node, const Resources& r) { Do({Change::What::kUse, node, r, 0}); }
  void Leave(uint32_t node, const Resources& r) { Do({Change::What::kLeave, node, r, 0}); }
  void Hold(uint32_t node, const Resources& r) { Do({Change::What::kHold, node, r, 0}); }
  void Charge(uint32_t row, int64_t units) { Do({Change::What::kCharge, row, {}, units}); }

  // The room that `job` has comes back soon: it leaves, or this cycle evicts it.
  void Leave(const model::RunningJob& job);
  // Keeps nodes and units for a nominee; sign -1 gives them back.
  void Hold(const model::Owner& owner, const model::Placement& placement, int64_t sign = 1);

  void LookAhead(bool on);

 private:
  friend class Trial;
  void Do(const Change& change);
  void Apply(const Change& change, int64_t sign);
  void Refresh(uint32_t node);

  const model::Snapshot& snapshot_;
  host::View view_;
  std::vector<Resources> free_, coming_, held_;  // by node; free: not used by anybody now
  std::vector<int64_t> used_;                    // by ledger row, with what is held
  std::vector<Change> journal_;
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
