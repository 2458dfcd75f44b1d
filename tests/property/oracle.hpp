// The rules once more, written for clarity and not for speed, and from the contract rather than
// from the code of cycle/. Small cases only: places are tried one by one.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "support/world.hpp"

namespace cox::test {

using Room = std::map<std::string, Resources>;  // by node

inline void Give(Room& room, const model::Placement& placement, int64_t sign) {
  for (const Replica& r : placement.replicas) {
    if (room.contains(r.node)) room[r.node] += r.resources * sign;
  }
}

inline const model::Node* FindNode(const model::Snapshot& s, const std::string& name) {
  for (const model::Node& node : s.nodes) {
    if (node.name == name) return &node;
  }
  return nullptr;
}

// 2.7 for NodeNotIn policies of users and tenants.
inline bool Blocked(const model::Snapshot& s, const model::Owner& owner, const std::string& node) {
  for (const auto& p : s.policies) {
    const bool mine = p.scope == model::PolicyRow::Scope::kUser ? p.subject == owner.user
                                                                : p.subject == owner.tenant;
    if (mine && s.now < p.expires_at && std::ranges::count(p.node_names, node) > 0) return true;
  }
  return false;
}

inline bool Suits(const model::Snapshot& s, const PendingJob& job, const model::RoleDemand& role,
                  const model::Node& node) {
  return node.ready && (role.gpu_type.empty() || role.gpu_type == node.gpu_type) &&
         !Blocked(s, job.owner, node.name);
}

// Every replica on every node, until all stand. `taken`: nodes with a replica.
inline bool FitsByForce(const model::Snapshot& s, const PendingJob& job, const Candidate& c,
                        Room room, std::set<std::string> taken, size_t role, int64_t replica) {
  if (role == c.roles.size()) return true;
  const model::RoleDemand& demand = c.roles[role];
  if (replica == demand.replicas) return FitsByForce(s, job, c, room, taken, role + 1, 0);
  for (const model::Node& node : s.nodes) {
    if (!Suits(s, job, demand, node) || !demand.resources.FitsIn(room[node.name])) continue;
    if (job.spread && taken.contains(node.name)) continue;
    room[node.name] -= demand.resources;
    const bool first = taken.insert(node.name).second;
    if (FitsByForce(s, job, c, room, taken, role, replica + 1)) return true;
    room[node.name] += demand.resources;
    if (first) taken.erase(node.name);
  }
  return false;
}

inline bool FitsByForce(const model::Snapshot& s, const PendingJob& job, const Candidate& c,
                        const Room& room) {
  const std::string& level = job.topology.required;
  if (level.empty()) return FitsByForce(s, job, c, room, {}, 0, 0);
  for (const spec::TopologyDomain& domain : s.site->FindTopologyLevel(level)->domains) {
    Room inside = room;
    for (auto& [node, free] : inside) {
      if (std::ranges::count(domain.nodes, node) == 0) free = {};
    }
    if (FitsByForce(s, job, c, inside, {}, 0, 0)) return true;
  }
  return false;
}

inline Room FreeNow(const model::Snapshot& s) {
  Room room;
  for (const model::Node& node : s.nodes) room[node.name] = node.capacity - node.unmanaged;
  for (const RunningJob& job : s.running) Give(room, job.placement, -1);
  return room;
}

inline bool QuotaAllows(const model::Ledger& ledger, const model::Owner& owner,
                        const Candidate& c) {
  for (const model::Charge& charge : model::Charges(owner, c)) {
    const auto row = ledger.rows().find(charge.key);
    if (row == ledger.rows().end() || !row->second.limit) continue;
    if (row->second.used + charge.units > *row->second.limit) return false;
  }
  return true;
}

inline bool LawfulByRule(const RunningJob& v, const PendingJob& p) {
  if (v.leaving) return false;
  if (v.capacity == CapacityType::kIdle || v.capacity == CapacityType::kSpot) return true;
  if (v.guaranteed) return false;
  return v.priority < p.priority || (v.priority == p.priority && p.guaranteed);
}

inline int BandByRule(const RunningJob& v) {
  if (v.capacity == CapacityType::kIdle) return static_cast<int>(v.stability);
  if (v.capacity == CapacityType::kSpot) return 3;
  return 4 + static_cast<int>(v.priority);
}

}  // namespace cox::test
