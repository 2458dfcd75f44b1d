#include "cycle/board.hpp"

#include <algorithm>
#include <utility>

#include "model/probation.hpp"

namespace cox::cycle {
namespace {

Resources AtLeast(const Resources& r, const Resources& least) {
  return {std::max(r.cpu_milli, least.cpu_milli), std::max(r.mem_mib, least.mem_mib),
          std::max(r.gpu_milli, least.gpu_milli)};
}

}  // namespace

bool ComesBackSoon(const model::RunningJob& job, TimePoint now) {
  return job.leaving && (job.leaves_by == kNever || now < job.leaves_by + kLeaveMargin);
}

Board::Board(const model::Snapshot& snapshot)
    : snapshot_(snapshot),
      view_(snapshot),
      free_(snapshot.nodes.size()),
      coming_(snapshot.nodes.size()),
      held_(snapshot.nodes.size()),
      reserved_(snapshot.nodes.size()),
      ending_(snapshot.nodes.size()),
      reserver_(snapshot.nodes.size(), COX_NONE) {
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
  for (const model::PolicyRow& policy : snapshot.policies) {
    if (!model::IsOnProbation(policy, snapshot.now)) continue;
    probation_.resize(free_.size());
    for (const std::string& name : policy.node_names) {
      const uint32_t node = view_.NodeRow(name);
      if (node != COX_NONE) probation_[node] = 1;
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

void Board::Leave(TaskId task, const model::Placement& placement) {
  for (const model::Replica& replica : placement.replicas) {
    const uint32_t node = view_.NodeRow(replica.node);
    if (node == COX_NONE) continue;
    Leave(node, replica.resources);
    const uint32_t r = reserver_[node];
    if (r != COX_NONE && reservations_[r].ending.contains(task.value)) {
      Do({Change::What::kEnd, node, replica.resources * -1, 0});  // not counted twice
    }
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

void Board::Reserve(Reservation reservation, std::span<const model::Placement* const> ending) {
  const auto number = static_cast<uint32_t>(reservations_.size());
  for (const auto& [node, room] : reservation.room) {
    reserver_[node] = number;
    reserved_[node] = room;
  }
  for (const model::Placement* placement : ending) {
    for (const model::Replica& replica : placement->replicas) {
      const uint32_t node = view_.NodeRow(replica.node);
      if (node != COX_NONE && reserver_[node] == number) ending_[node] += replica.resources;
    }
  }
  reservations_.push_back(std::move(reservation));
}

uint64_t Board::InTheWay(TimePoint end) const {
  uint64_t mask = 0;
  for (size_t r = 0; r < reservations_.size(); ++r) {
    if (end > reservations_[r].from) mask |= uint64_t{1} << r;
  }
  return mask;
}

void Board::Respect(uint64_t reservations) {
  const uint64_t changed = std::exchange(respected_, reservations) ^ reservations;
  for (size_t r = 0; r < reservations_.size(); ++r) {
    if ((changed >> r & 1) == 0) continue;
    for (const auto& [node, room] : reservations_[r].room) Refresh(node);
    ++version_;
  }
}

void Board::EndsAt(uint32_t node, const Resources& r, TimePoint end) {
  const uint32_t number = reserver_[node];
  if (number == COX_NONE || end > reservations_[number].from) return;
  Do({Change::What::kEnd, node, r, 0});
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
    case Change::What::kEnd:
      ending_[change.row] += change.amount * sign;
      break;
  }
  Refresh(change.row);
}

Resources Board::Shown(uint32_t node) const {
  Resources kept = held_[node] - coming_[node];
  const Resources at_its_date = kept + reserved_[node] - ending_[node];
  if (!look_ahead_) kept = AtLeast(kept, {});
  const uint32_t r = reserver_[node];
  const bool respected = r != COX_NONE && (respected_ >> r & 1) != 0;
  return free_[node] - (respected ? AtLeast(kept, at_its_date) : kept);
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
