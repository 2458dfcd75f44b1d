// A failing case, made small: rows are taken away as long as the check still fails, and what is
// left is printed as a scenario file for `cox scenario run FILE --show`.
#pragma once

#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "property/random_world.hpp"

namespace cox::test {

// A property of one world: EXPECTs what must hold.
using Check = std::function<void(const World&)>;

// What the check complains about; "" = it holds.
inline std::string ComplaintsOf(const Check& check, const World& world) {
  testing::TestPartResultArray results;
  {
    const testing::ScopedFakeTestPartResultReporter here(
        testing::ScopedFakeTestPartResultReporter::INTERCEPT_ONLY_CURRENT_THREAD, &results);
    check(world);
  }
  std::string text;
  for (int i = 0; i < results.size(); ++i) {
    if (results.GetTestPartResult(i).failed()) text += results.GetTestPartResult(i).message();
  }
  return text;
}

inline bool UsesNode(const World& w, const std::string& name) {
  const auto uses = [&](const auto& row) {
    return std::ranges::count(row.placement.replicas, name, &Replica::node) > 0;
  };
  return std::ranges::any_of(w.snapshot.running, uses) ||
         std::ranges::any_of(w.snapshot.nominations, uses);
}

// Each world with one row less.
inline std::vector<World> Smaller(const World& w) {
  std::vector<World> all;
  const auto without = [&](auto list) {
    for (size_t i = 0; i < list(w).size(); ++i) {
      World less = w;
      list(less).erase(list(less).begin() + static_cast<std::ptrdiff_t>(i));
      all.push_back(std::move(less));
    }
  };
  for (const PendingJob& job : w.snapshot.pending) {
    World less = w;
    std::erase_if(less.snapshot.pending, [&](const auto& p) { return p.id == job.id; });
    std::erase_if(less.snapshot.nominations, [&](const auto& n) { return n.task == job.id; });
    all.push_back(std::move(less));
  }
  for (size_t i = 0; i < w.snapshot.pending.size(); ++i) {
    const size_t candidates = w.snapshot.pending[i].candidates.size();
    for (size_t c = 0; candidates > 1 && c < candidates; ++c) {
      World less = w;
      auto& list = less.snapshot.pending[i].candidates;
      list.erase(list.begin() + static_cast<std::ptrdiff_t>(c));
      std::erase_if(less.snapshot.nominations,
                    [&](const auto& n) { return n.task == less.snapshot.pending[i].id; });
      all.push_back(std::move(less));
    }
  }
  without([](auto& world) -> auto& { return world.snapshot.running; });
  without([](auto& world) -> auto& { return world.snapshot.nominations; });
  without([](auto& world) -> auto& { return world.snapshot.policies; });
  without([](auto& world) -> auto& { return world.site.quotas; });
  for (const model::Node& node : w.snapshot.nodes) {
    if (UsesNode(w, node.name)) continue;
    World less = w;
    std::erase_if(less.snapshot.nodes, [&](const auto& n) { return n.name == node.name; });
    all.push_back(std::move(less));
  }
  return all;
}

inline World Shrunk(World world, const Check& check) {
  while (true) {
    const std::vector<World> smaller = Smaller(world);
    const auto fails = std::ranges::find_if(
        smaller, [&](const World& w) { return !ComplaintsOf(check, w).empty(); });
    if (fails == smaller.end()) return world;
    world = *fails;
  }
}

// "2x4 h100 spot, c1x3 h100 idle": candidates, c = of another size than the others.
inline std::string TextOf(const Candidate& c) {
  std::string text;
  for (const model::RoleDemand& role : c.roles) {
    text += (text.empty() ? "" : "+") + std::to_string(role.replicas) + "x" +
            std::to_string(role.units) + " " + role.flavor;
  }
  return text + " " + spec::Name(c.source);
}

inline std::string JobText(const std::string& name, const model::Owner& owner, Priority priority,
                           bool guaranteed, CapacityType capacity, const Candidate& c) {
  int64_t replicas = 0;
  for (const model::RoleDemand& role : c.roles) replicas += role.replicas;
  std::string text = "- {id: " + name + ", user: " + owner.user + ", project: " + owner.project +
                     ", size: " + std::to_string(replicas) + "x" +
                     std::to_string(c.roles.back().units) + ", flavors: [" + c.roles.back().flavor +
                     "], capacity: " + spec::Name(capacity);
  if (capacity != CapacityType::kIdle && capacity != CapacityType::kSpot) {
    text += std::string(", priority: ") + spec::Name(priority);
    if (guaranteed) text += ", guaranteed: true";
  }
  return text;
}

// The nearest that a scenario file can say; comments say the rest.
inline std::string ScenarioText(const World& w) {
  const model::Snapshot& s = w.snapshot;
  std::string text = "nodes:\n";
  for (const model::Node& n : s.nodes) {
    text += "- {name: " + n.name + ", gpus: " + std::to_string(n.capacity.gpu_milli / 1000) +
            ", gpuType: " + n.gpu_type + ", cpus: " + std::to_string(n.capacity.cpu_milli / 1000) +
            ", memoryGi: " + std::to_string(n.capacity.mem_mib / 1024) + "}" +
            (n.ready ? "" : "  # not ready") + "\n";
  }
  if (!w.site.quotas.empty()) text += "site:\n  quotas:\n";
  for (const auto& q : w.site.quotas) {
    text += std::string("  - {") + spec::Name(q.level) + ": " + q.subject +
            ", capacityType: " + spec::Name(q.capacity_type) + ", pool: main, flavor: " + q.flavor +
            ", units: " + std::to_string(q.units) + "}\n";
  }
  text += "jobs:\n";
  const auto second = [](TimePoint t) {
    return t == kNever ? std::string("never") : std::to_string(ToSeconds(t));
  };
  for (const RunningJob& r : s.running) {
    std::string only;
    for (const Replica& x : r.placement.replicas) only += (only.empty() ? "" : ",") + x.node;
    text += JobText(r.name, r.owner, r.priority, r.guaranteed, r.capacity, r.placement.candidate) +
            ", only: \"" + only + "\"}  # runs since " + second(r.started_at) + " as " +
            TextOf(r.placement.candidate) + ", ends " + second(r.ends_by) +
            (r.leaving ? ", leaving by " + second(r.leaves_by) : "") + "\n";
  }
  for (const PendingJob& p : s.pending) {
    text += JobText(p.name, p.owner, p.priority, p.guaranteed, p.capacity, p.candidates[0]) +
            ", at: 10}  #";
    for (const Candidate& c : p.candidates) text += " " + TextOf(c) + ";";
    if (!p.held.empty()) text += " held";
    if (p.not_before > s.now) text += " not before " + second(p.not_before);
    if (p.time_limit_seconds) text += " limit " + std::to_string(*p.time_limit_seconds);
    text += " tenant " + p.owner.tenant + "\n";
  }
  for (const auto& n : s.nominations) {
    text += "# nominated: task " + std::to_string(n.task.value) + ":";
    for (const Replica& x : n.placement.replicas) text += " " + x.node;
    text += " as " + TextOf(n.placement.candidate) + ", until " + second(n.expires_at) + "\n";
  }
  for (const auto& p : s.policies) {
    text += "# policy " + p.id + ": not " + p.subject + " on " + p.node_names[0] + " until " +
            second(p.expires_at) + "\n";
  }
  return text + "# now is " + second(s.now) + "\n";
}

// Fails the test with the seed and the smallest world that still fails.
inline void Report(const std::string& seed, const World& world, const Check& check) {
  const World small = Shrunk(world, check);
  ADD_FAILURE() << seed << ": " << ComplaintsOf(check, small) << "\n" << ScenarioText(small);
}

}  // namespace cox::test
