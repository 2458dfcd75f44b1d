// Random small clusters: at most 6 nodes, 6 running and 6 pending jobs.
#pragma once

#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include "property/oracle.hpp"

namespace cox::test {

// Seeds that a property is tried with; COX_CASES=1000000 in the environment: so many for each.
inline uint64_t Cases(uint64_t usual) {
  const char* asked = std::getenv("COX_CASES");
  return asked == nullptr ? usual : std::strtoull(asked, nullptr, 10);
}

class Dice {
 public:
  explicit Dice(uint64_t seed) : engine_(seed) {}
  int64_t Below(int64_t n) { return static_cast<int64_t>(engine_() % static_cast<uint64_t>(n)); }
  bool One(int64_t in) { return Below(in) == 0; }

 private:
  std::mt19937_64 engine_;
};

inline CapacityType RandomSource(Dice& dice) {
  constexpr CapacityType kSources[] = {CapacityType::kReserved, CapacityType::kReserved,
                                       CapacityType::kOnDemand, CapacityType::kSpot,
                                       CapacityType::kIdle};
  return kSources[dice.Below(5)];
}

// One or two roles; sometimes a head of another size.
inline Candidate RandomCandidate(Dice& dice, CapacityType source) {
  static constexpr const char* kFlavors[] = {"gpu", "h100", "h200"};
  Candidate c = MakeCandidate({.replicas = 1 + dice.Below(4),
                               .gpus = 1 + dice.Below(5),
                               .flavor = kFlavors[dice.Below(3)],
                               .source = source});
  if (dice.One(3)) {
    c.roles[0].role = Role::kHead;
    c.roles[0].flavor = "cpu";
    c.roles[0].gpu_type = "";
    c.roles[0].units = 1 + dice.Below(6);
    c.roles[0].resources = {c.roles[0].units * 1000, 1024, 0};
  }
  return c;
}

inline model::Owner RandomOwner(Dice& dice) {
  return {"u" + std::to_string(dice.Below(3)), "p" + std::to_string(dice.Below(2)),
          "t" + std::to_string(dice.Below(2))};
}

inline void AddPending(World& w, Dice& dice, int& serial) {
  PendingJob& job =
      w.Pending("p" + std::to_string(++serial), {}, static_cast<Priority>(dice.Below(3)));
  job.capacity = RandomSource(dice);
  job.owner = RandomOwner(dice);
  job.guaranteed = dice.One(4);
  if (dice.One(6)) job.topology.required = "rack";
  if (dice.One(6) && job.topology.required.empty()) job.topology.preferred = "rack";
  job.spread = dice.One(6);
  if (dice.One(12)) job.held = "held";
  if (dice.One(12)) job.not_before = w.snapshot.now + std::chrono::seconds(dice.Below(40));
  job.candidates = {RandomCandidate(dice, job.capacity)};
  if (dice.One(2)) job.candidates.push_back(RandomCandidate(dice, job.capacity));
  if (job.capacity == CapacityType::kReserved && dice.One(3)) {
    job.candidates.push_back(RandomCandidate(dice, CapacityType::kIdle));
  }
}

// What a running job is of the one that was started.
inline RunningJob Started(const PendingJob& job, const model::Placement& placement, TimePoint now) {
  RunningJob run;
  run.id = job.id;
  run.name = job.name;
  run.owner = job.owner;
  run.capacity = placement.candidate.source;
  run.stability = placement.candidate.min_stability;
  run.priority = job.priority;
  run.guaranteed = job.guaranteed;
  run.submitted_at = job.submitted_at;
  run.started_at = now;
  run.placement = placement;
  return run;
}

inline World RandomWorld(Dice& dice, int& serial) {
  World w;
  const int64_t nodes = 1 + dice.Below(6);
  for (int64_t n = 0; n < nodes; ++n) {
    model::Node& node =
        w.Node("n" + std::to_string(n), int64_t{1} << dice.Below(4), dice.One(2) ? "h100" : "h200");
    node.capacity.cpu_milli = 1000 * (2 + dice.Below(12));
    node.capacity.mem_mib = 1024 * (4 + dice.Below(12));
    node.ready = !dice.One(10);
  }
  w.site.topology = {{"zone", {{"z0", {}}}}, {"rack", {{"r0", {}}, {"r1", {}}}}};
  for (const model::Node& node : w.snapshot.nodes) {
    w.site.topology[0].domains[0].nodes.push_back(node.name);
    w.site.topology[1].domains[static_cast<size_t>(dice.Below(2))].nodes.push_back(node.name);
  }
  for (int64_t q = dice.Below(6); q > 0; --q) {
    const auto level = static_cast<spec::QuotaLevel>(dice.Below(3));
    const std::string subject = "tpu"[static_cast<size_t>(level)] + std::to_string(dice.Below(2));
    w.Quota(level, subject, 2 + dice.Below(14), dice.One(2) ? "gpu" : "h100");
  }
  for (int64_t p = dice.Below(3); p > 0; --p) {
    const bool user = dice.One(2);
    w.Policy("np" + std::to_string(p),
             user ? model::PolicyRow::Scope::kUser : model::PolicyRow::Scope::kTenant,
             (user ? "u" : "t") + std::to_string(dice.Below(2)),
             {"n" + std::to_string(dice.Below(nodes))}, At(990 + dice.Below(60)));
  }
  for (int64_t j = 1 + dice.Below(6); j > 0; --j) AddPending(w, dice, serial);
  return w;
}

// The world after a cycle: what started runs, what was evicted leaves, some of it is gone.
inline void Advance(World& w, Dice& dice, const Decision& d, int& serial) {
  model::Snapshot& s = w.snapshot;
  for (const model::Start& start : d.starts) {
    const auto job = std::ranges::find(s.pending, start.task, &PendingJob::id);
    s.running.push_back(Started(*job, start.placement, s.now));
    s.pending.erase(job);
  }
  for (const model::Eviction& e : d.evictions) {
    RunningJob& victim = *std::ranges::find(s.running, e.victim, &RunningJob::id);
    victim.leaving = true;
    victim.leaves_by = s.now + std::chrono::seconds(30);
  }
  s.nominations = d.nominations;
  s.now += std::chrono::seconds(1 + dice.Below(40));
  std::erase_if(s.running,
                [&](const RunningJob& job) { return job.leaving ? dice.One(2) : dice.One(5); });
  std::erase_if(s.pending, [&](const PendingJob&) { return dice.One(10); });
  for (RunningJob& job : s.running) {
    if (!job.leaving && dice.One(10)) {
      job.leaving = true;
      job.leaves_by = s.now + std::chrono::seconds(20);
    }
  }
  while (s.pending.size() < 6 && !dice.One(3)) AddPending(w, dice, serial);
}

}  // namespace cox::test
