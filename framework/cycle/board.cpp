#include "cycle/board.hpp"

#include <algorithm>
#include <utility>

namespace cox::cycle {
namespace {

Resources AtLeastZero(const Resources& r) {
  return {std::max<int64_t>(r.cpu_milli, 0), std::max<int64_t>(r.mem_mib, 0),
          std::max<int64_t>(r.gpu_milli, 0)};
}

bool ComesBackSoon(const model::RunningJob& job, TimePoint now) {
  return job.leaving && (job.leaves_by == kNever || now < job.leaves_by + kLeaveMargin);
}

}  // namespace

Board::Board(const model::Snapshot& snapshot)
    : snapshot_(snapshot),
      view_(snapshot),
      free_(snapshot.nodes.size()),
      coming_(snapshot.nodes.size()),
      held_(snapshot.nodes.size()) {
  for (uint32_t i = 0; i < free_.size(); ++i) {
    free_[i] = snapshot.nodes[i].capacity - snapshot.nodes[i].unmanaged;
  }
  for (const model::RunningJob& job : snapshot.running) {
    const bool soon = ComesBackSoon(job, snapshot.now);
    for (const model::Replica& replica : job.placement.replicas) {
      const uint32_t node = view_.NodeRow(replica.node);
      if (node == COX_NONE) continue;  // gone with all that ran there
      free_[node] -= replica.resources;
      if (soon) coming_[node] += replica.resources;
    }
  }
  std::vector<Rank> ranks;
  for (uint32_t i = 0; i < free_.size(); ++i) {
    view_.SetFree(i, Shown(i));
    ranks.push_back(RankOf(i));
  }
  std::ranges::sort(ranks);
  by_room_.insert(ranks.begin(), ranks.end());
  const cox_ledger& ledger = *view_.table().ledger;
  used_.assign(ledger.used, ledger.used + ledger.count);
}

Resources Board::Room(uint32_t node) const {
  return {view_.lane(COX_NODE_CPU_MILLI_FREE)[node], view_.lane(COX_NODE_MEM_MIB_FREE)[node],
          view_.lane(COX_NODE_GPU_MILLI_FREE)[node]};
}

Board::Rank Board::RankOf(uint32_t node) const {
  const Resources room = Room(node);
  return {room.gpu_milli, room.cpu_milli, room.mem_mib, node};
}

void Board::Leave(const model::RunningJob& job) {
  for (const model::Replica& replica : job.placement.replicas) {
    const uint32_t node = view_.NodeRow(replica.node);
    if (node != COX_NONE) Leave(node, replica.resources);
  }
}

void Board::Hold(const model::Owner& owner, const model::Placement& placement, int64_t sign) {
  for (const model::Replica& replica : placement.replicas) {
    const uint32_t node = view_.NodeRow(replica.node);
    if (node != COX_NONE) Hold(node, replica.resources * sign);
  }
  for (const model::Charge& charge : model::Charges(owner, placement.candidate)) {
    const uint32_t row = view_.LedgerRow(charge.key);
    if (row != COX_NONE) Charge(row, charge.units * sign);
  }
}

void Board::LookAhead(bool on) {
  ++version_;
  look_ahead_ = on;
  for (uint32_t i = 0; i < free_.size(); ++i) Refresh(i);
}

void Board::Do(const Change& change) {
  journal_.push_back(change);
  Apply(change, 1);
}

void Board::Apply(const Change& change, int64_t sign) {
  ++version_;
  switch (change.what) {
    case Change::What::kCharge:
      used_[change.row] += change.units * sign;
      view_.SetUsed(change.row, used_[change.row]);
      return;
    case Change::What::kUse:
      free_[change.row] -= change.amount * sign;
      break;
    case Change::What::kLeave:
      coming_[change.row] += change.amount * sign;
      break;
    case Change::What::kHold:
      held_[change.row] += change.amount * sign;
      break;
  }
  Refresh(change.row);
}

Resources Board::Shown(uint32_t node) const {
  const Resources kept = held_[node] - coming_[node];
  return free_[node] - (look_ahead_ ? kept : AtLeastZero(kept));
}

void Board::Refresh(uint32_t node) {
  const Rank before = RankOf(node);
  view_.SetFree(node, Shown(node));
  const Rank now = RankOf(node);
  if (now == before) return;
  auto entry = by_room_.extract(before);
  entry.value() = now;
  by_room_.insert(std::move(entry));
}

void Trial::Undo() {
  if (kept_) return;
  while (board_->journal_.size() > mark_) {
    board_->Apply(board_->journal_.back(), -1);
    board_->journal_.pop_back();
  }
}

}  // namespace cox::cycle
