// The scheduler one would write first: everything rebuilt in each cycle, names as keys, each
// replica by a scan over all nodes. It decides the same as cycle::Decide on the benchmarks' cases
// (reserved jobs of one flavor, no preemption), which is checked before anything is timed.
#pragma once

#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "support/world.hpp"

namespace cox::bench {

// Task -> the nodes of its gang, in the order of their names.
using Plan = std::map<uint64_t, std::vector<std::string>>;

inline Plan Reference(const model::Snapshot& s) {
  std::map<std::string, Resources> room;
  for (const model::Node& node : s.nodes) room[node.name] = node.capacity - node.unmanaged;
  for (const auto& job : s.running) {
    for (const auto& replica : job.placement.replicas) room[replica.node] -= replica.resources;
  }
  std::vector<const model::PendingJob*> queue;
  for (const auto& job : s.pending) queue.push_back(&job);
  std::ranges::sort(queue, [](const auto* a, const auto* b) {
    return std::tuple(-static_cast<int>(a->priority), a->submitted_at, a->id) <
           std::tuple(-static_cast<int>(b->priority), b->submitted_at, b->id);
  });
  model::Ledger ledger = s.ledger;
  Plan plan;
  for (const model::PendingJob* job : queue) {
    for (const model::Candidate& candidate : job->candidates) {
      const auto charges = model::Charges(job->owner, candidate);
      const bool allowed = std::ranges::all_of(charges, [&](const model::Charge& charge) {
        const auto row = ledger.rows().find(charge.key);
        return row == ledger.rows().end() || !row->second.limit ||
               row->second.used + charge.units <= *row->second.limit;
      });
      if (!allowed) continue;
      std::vector<std::pair<std::string, Resources>> taken;
      bool fits = true;
      for (const auto& role : candidate.roles) {
        for (int64_t i = 0; i < role.replicas && fits; ++i) {
          const std::string* best = nullptr;
          std::tuple<int64_t, int64_t, int64_t> least;
          for (const model::Node& node : s.nodes) {
            const Resources& r = room[node.name];
            if (!node.ready || !role.resources.FitsIn(r)) continue;
            const std::tuple left(r.gpu_milli, r.cpu_milli, r.mem_mib);
            if (best == nullptr || left < least) {
              best = &node.name;
              least = left;
            }
          }
          fits = best != nullptr;
          if (!fits) break;
          room[*best] -= role.resources;
          taken.emplace_back(*best, role.resources);
        }
      }
      if (!fits) {
        for (const auto& [node, amount] : taken) room[node] += amount;
        continue;
      }
      ledger.Allocate(job->id, charges);
      for (const auto& [node, amount] : taken) plan[job->id.value].push_back(node);
      std::ranges::sort(plan[job->id.value]);
      break;
    }
  }
  return plan;
}

inline Plan ToPlan(const model::Decision& decision) {
  Plan plan;
  for (const auto& start : decision.starts) {
    auto& nodes = plan[start.task.value];
    for (const auto& replica : start.placement.replicas) nodes.push_back(replica.node);
    std::ranges::sort(nodes);
  }
  return plan;
}

}  // namespace cox::bench
