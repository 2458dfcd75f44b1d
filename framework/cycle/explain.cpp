// Why a bid found no place, in words for the owner of the job. Everything here reads the board as
// it stood when the job was looked at.
#include <algorithm>

#include "cycle/round.hpp"
#include "cycle/text.hpp"

namespace cox::cycle {
namespace {

constexpr size_t kNamed = 3;  // tasks or nodes that a text lists before it counts the rest

struct RoomReport {
  int64_t usable = 0, seats = 0;
  uint32_t best = COX_NONE;
  Resources sum;
};

RoomReport Survey(const Board& board, const Field& field) {
  RoomReport report;
  const auto size = [](const Resources& r) {
    return std::tuple(r.gpu_milli, r.cpu_milli, r.mem_mib);
  };
  for (uint32_t node = 0; node < board.nodes(); ++node) {
    if ((*field.usable)[node] == 0) continue;
    const Resources room = board.Room(node);
    ++report.usable;
    report.sum += room;
    report.seats += FitCount(board, field, node);
    if (report.best == COX_NONE || size(room) > size(board.Room(report.best))) report.best = node;
  }
  return report;
}

const char* RoomCode(const Bid& bid, bool fragmented) {
  if (fragmented) return "Fragmented";
  if (bid.candidate->source == spec::CapacityType::kSpot) return "SpotUnavailable";
  if (bid.candidate->source == spec::CapacityType::kIdle) return "IdleUnavailable";
  return "InsufficientResources";
}

bool Touches(const Board& board, const Field& field, const model::Placement& placement) {
  return std::ranges::any_of(placement.replicas, [&](const model::Replica& replica) {
    const uint32_t node = board.rows().NodeRow(replica.node);
    return node != COX_NONE && (*field.usable)[node] != 0;
  });
}

// When its room comes back at the latest, where that is known.
TimePoint KnownEnd(const model::RunningJob& job) {
  return job.leaving ? std::min(job.leaves_by, job.ends_by) : job.ends_by;
}

// What is known to change it: the first end, and nodes kept for a preemptor.
void Outlook(const Round& round, const Field& field, Shortage& shortage) {
  for (const model::RunningJob& job : round.snapshot.running) {
    if (KnownEnd(job) == kNever || !Touches(round.board, field, job.placement)) continue;
    const bool sooner =
        shortage.first_end == nullptr || KnownEnd(job) < KnownEnd(*shortage.first_end);
    if (sooner) shortage.first_end = &job;
  }
  for (const auto& [task, nomination] : round.nominees) {
    if (!Touches(round.board, field, nomination.placement)) continue;
    shortage.kept = &nomination;
    break;
  }
}

}  // namespace

std::string Where(const Round& round, const Bid& bid) {
  std::string where =
      bid.candidate->pool.empty()
          ? " in the pools with " + std::string(Name(bid.candidate->source)) + " capacity"
          : " in pool " + bid.candidate->pool;
  if (bid.within != nullptr) {
    where += ", within " + bid.within->level->level + " " + bid.within->domain->name;
  }
  const auto pin = round.pins.find(round.job(bid).id.value);
  if (pin != round.pins.end()) where += ", among its own NodeIn " + Names(*pin->second);
  return where;
}

Shortage NoRoom(const Round& round, const Bid& bid) {
  Shortage shortage;
  if (auto never = NeverFits(round, bid)) {
    shortage.blocker = std::move(*never);
    shortage.for_ever = true;
    return shortage;
  }
  // The field that lacks most tells the story; with two that fit only apart, the first.
  const Field* field = &bid.fields.front();
  RoomReport report = Survey(round.board, *field);
  for (const Field& other : bid.fields) {
    const RoomReport r = Survey(round.board, other);
    if (r.seats < other.replicas && report.seats >= field->replicas) {
      field = &other;
      report = r;
    }
  }
  const bool fragmented = (field->need * field->replicas).FitsIn(report.sum);
  model::Blocker& blocker = shortage.blocker;
  blocker.code = RoomCode(bid, fragmented);
  blocker.text = "needs " + Amount(field->need) + " on one node";
  if (field->replicas > 1) {
    blocker.text += ", " + std::to_string(field->replicas) + " times, and finds room for " +
                    std::to_string(std::min(report.seats, field->replicas));
  }
  blocker.text += Where(round, bid);
  if (report.best == COX_NONE) {
    blocker.text +=
        "; no node there that serves flavor " + bid.candidate->roles.back().flavor + " is ready";
    return shortage;
  }
  blocker.text += "; best " + round.snapshot.nodes[report.best].name + ": " +
                  Amount(round.board.Room(report.best)) + " free";
  blocker.text += "; in all " + Amount(report.sum) + " free on " + Count(report.usable, "node");
  if (fragmented) blocker.text += ", which is no test: each replica needs its node";
  Outlook(round, *field, shortage);
  return shortage;
}

model::Blocker ForOwner(const Round& round, const Bid& bid, const Shortage& shortage) {
  model::Blocker blocker = shortage.blocker;
  blocker.candidate = bid.index;
  const std::string& reader = round.job(bid).owner.user;
  if (const model::RunningJob* job = shortage.first_end) {
    blocker.text += "; earliest known end: " + TaskFor(reader, job->owner.user, job->name) +
                    " at " + Utc(KnownEnd(*job));
  }
  if (const model::Nomination* kept = shortage.kept) {
    const auto job =
        std::ranges::lower_bound(round.snapshot.pending, kept->task, {}, &model::PendingJob::id);
    blocker.text += "; " + kept->placement.replicas.front().node + " is kept for " +
                    TaskFor(reader, job->owner.user, job->name) + ", at most until " +
                    Utc(kept->expires_at);
  }
  return blocker;
}

void ExplainNodes(Round& round, Bid& bid) {
  // S80: a policy is named only if the job would fit without it; if no single one is to blame, all
  // of them together are.
  std::set<int32_t> refusals;
  for (const Field& field : bid.fields) {
    for (uint32_t node = 0; node < round.board.nodes(); ++node) {
      if ((*field.usable)[node] != 0 && field.verdicts[node] != 0) {
        refusals.insert(field.verdicts[node]);
      }
    }
  }
  std::set<int32_t> causal;
  for (const int32_t refusal : refusals) {
    if (Fits(round.board, bid, refusal)) causal.insert(refusal);
  }
  for (const int32_t lane : causal.empty() ? refusals : causal) {
    for (const Field& field : bid.fields) {
      std::vector<uint32_t> nodes;
      for (uint32_t node = 0; node < round.board.nodes(); ++node) {
        if (field.verdicts[node] == lane && FitCount(round.board, field, node, lane) > 0) {
          nodes.push_back(node);
        }
      }
      if (nodes.empty()) continue;
      const host::Reason reason = round.plugins.ExplainNodes(
          round.board.view(), ShapeOf(bid, field), host::Refusal::FromLane(lane), nodes);
      model::Blocker blocker;
      blocker.code = reason.code;
      blocker.text = reason.text;
      blocker.policy = reason.policy;
      blocker.candidate = bid.index;
      if (reason.retry_at != kNever) blocker.retry_at = reason.retry_at;
      bid.blockers.push_back(std::move(blocker));
      break;  // said once is enough
    }
  }
}

std::string Holders(Round& round, uint32_t row, const std::string& reader) {
  const auto [known, fresh] = round.holders.try_emplace({row, reader});
  std::string& text = known->second;
  if (!fresh) return text;
  const model::LedgerKey& key = round.board.rows().ledger_key(row);
  size_t own = 0, others = 0;
  int64_t units_of_others = 0;
  for (const auto& [task, charges] : round.snapshot.ledger.allocations()) {
    const auto job =
        std::ranges::lower_bound(round.snapshot.running, TaskId{task}, {}, &model::RunningJob::id);
    const bool found = job != round.snapshot.running.end() && job->id.value == task;
    const bool mine = found && job->owner.user == reader;
    for (const model::Charge& charge : charges) {
      if (charge.key != key) continue;
      if (mine && ++own <= kNamed) {
        text += (own == 1 ? "; in use by " : ", ") + job->name + " (" +
                std::to_string(charge.units) + ")";
      } else if (!mine) {
        ++others;
        units_of_others += charge.units;
      }
    }
  }
  if (own > kNamed) text += ", " + std::to_string(own - kNamed) + " more of yours";
  if (others > 0) {
    text += (own == 0 ? "; in use by " : " and ") + std::to_string(others) +
            (others == 1 ? " job" : " jobs") + " of others (" + std::to_string(units_of_others) +
            ")";
  }
  return text;
}

}  // namespace cox::cycle
