// What holds for every decision, on random worlds that live for some cycles. A case
// that fails prints its seed.
#include <gtest/gtest.h>

#include <cox/plugin.hpp>

#include "property/shrink.hpp"

namespace cox::test {
namespace {

constexpr uint64_t kWorlds = 10'000;
constexpr int kCycles = 6;  // each: 60,000 decisions in all

const PendingJob& FindPending(const model::Snapshot& s, TaskId id) {
  return *std::ranges::find(s.pending, id, &PendingJob::id);
}

// What stands after the decision has been carried out.
struct Aftermath {
  Room free;             // now
  Room later;            // when all that leaves is gone
  Room kept;             // what nominees will take
  model::Ledger ledger;  // with what nominees keep
};

Aftermath After(const model::Snapshot& s, const Decision& d) {
  Aftermath a{FreeNow(s), {}, {}, s.ledger};
  for (const model::Start& start : d.starts) {
    Give(a.free, start.placement, -1);
    a.ledger.Allocate(start.task,
                      model::Charges(FindPending(s, start.task).owner, start.placement.candidate));
  }
  a.later = a.free;
  std::set<uint64_t> evicted;
  for (const model::Eviction& e : d.evictions) evicted.insert(e.victim.value);
  for (const RunningJob& job : s.running) {
    const bool leaves = job.leaving && s.now < job.leaves_by + std::chrono::seconds(60);
    if (leaves || evicted.contains(job.id.value)) Give(a.later, job.placement, 1);
  }
  for (const model::Node& node : s.nodes) a.kept[node.name] = {};
  for (const model::Nomination& n : d.nominations) {
    Give(a.kept, n.placement, 1);
    a.ledger.Allocate(n.task, model::Charges(FindPending(s, n.task).owner, n.placement.candidate));
  }
  return a;
}

// A whole gang, of a candidate that the job has, on nodes that it may use.
void ExpectWholeAndLawful(const model::Snapshot& s, TaskId id, const model::Placement& p) {
  const PendingJob& job = FindPending(s, id);
  EXPECT_EQ(job.held, "");
  EXPECT_GE(s.now, job.not_before);
  EXPECT_GE(std::ranges::count(job.candidates, p.candidate), 1);
  size_t next = 0;
  for (const model::RoleDemand& role : p.candidate.roles) {
    for (int64_t i = 0; i < role.replicas; ++i) {
      ASSERT_LT(next, p.replicas.size());
      const Replica& r = p.replicas[next];
      EXPECT_EQ(r.role, role.role);
      EXPECT_EQ(r.rank, static_cast<int64_t>(next++));
      EXPECT_EQ(r.resources, role.resources);
      const model::Node* node = FindNode(s, r.node);
      ASSERT_NE(node, nullptr);
      EXPECT_TRUE(Suits(s, job, role, *node));
    }
  }
  EXPECT_EQ(next, p.replicas.size());
  std::set<std::string> nodes;
  for (const Replica& r : p.replicas) nodes.insert(r.node);
  EXPECT_TRUE(!job.spread || nodes.size() == p.replicas.size());
  if (job.topology.required.empty()) return;
  const auto& domains = s.site->FindTopologyLevel(job.topology.required)->domains;
  EXPECT_TRUE(std::ranges::any_of(domains, [&](const spec::TopologyDomain& domain) {
    return std::ranges::all_of(
        nodes, [&](const auto& node) { return std::ranges::count(domain.nodes, node) > 0; });
  })) << "in one domain";
}

void ExpectNothingNegative(const Room& room, const char* what) {
  for (const auto& [node, r] : room) {
    EXPECT_TRUE(r.cpu_milli >= 0 && r.mem_mib >= 0 && r.gpu_milli >= 0) << what << " " << node;
  }
}

void ExpectQuotaKept(const model::Snapshot& s, const Decision& d, const model::Ledger& after) {
  std::set<model::LedgerKey> touched;
  for (const model::Start& start : d.starts) {
    const auto& owner = FindPending(s, start.task).owner;
    for (const auto& c : model::Charges(owner, start.placement.candidate)) touched.insert(c.key);
  }
  for (const model::LedgerKey& key : touched) {
    const auto& row = after.rows().at(key);
    EXPECT_LE(row.used, row.limit.value_or(row.used));
  }
}

void ExpectLawfulEvictions(const model::Snapshot& s, const Decision& d) {
  std::set<uint64_t> seen;
  for (const model::Start& start : d.starts) EXPECT_TRUE(seen.insert(start.task.value).second);
  for (const model::Eviction& e : d.evictions) {
    EXPECT_TRUE(seen.insert(e.victim.value).second) << "started, or evicted twice";
    const RunningJob& victim = *std::ranges::find(s.running, e.victim, &RunningJob::id);
    const PendingJob& preemptor = FindPending(s, e.preemptor);
    EXPECT_TRUE(LawfulByRule(victim, preemptor));
    EXPECT_EQ(e.spot_reclaim, victim.capacity == CapacityType::kSpot);
    const auto nominated = std::ranges::find(d.nominations, e.preemptor, &model::Nomination::task);
    ASSERT_NE(nominated, d.nominations.end()) << "evicted for nothing";
    const auto source = nominated->placement.candidate.source;
    EXPECT_TRUE(source == CapacityType::kReserved || source == CapacityType::kOnDemand);
  }
}

// Nobody waits who could run on what is left: the gang step misses no placement.
void ExpectNoMissedPlacement(const model::Snapshot& s, const Decision& d, const Aftermath& a) {
  if (d.wake_at == s.now) return;  // room came back late in the cycle; another follows at once
  Room left = a.free;
  for (auto& [node, room] : left) {
    const Resources coming = a.later.at(node) - room;
    const Resources extra = a.kept.at(node) - coming;
    room -= {std::max<int64_t>(extra.cpu_milli, 0), std::max<int64_t>(extra.mem_mib, 0),
             std::max<int64_t>(extra.gpu_milli, 0)};
  }
  for (const model::Explanation& e : d.waiting) {
    const PendingJob& job = FindPending(s, e.task);
    EXPECT_FALSE(e.blockers.empty());
    if (!job.held.empty() || s.now < job.not_before) continue;
    if (std::ranges::count(d.nominations, job.id, &model::Nomination::task) > 0) continue;
    for (const Candidate& c : job.candidates) {
      if (!QuotaAllows(a.ledger, job.owner, c)) continue;
      const auto held_back = std::ranges::any_of(e.blockers, [&](const model::Blocker& b) {
        return b.code == "WouldDelayOther" && job.candidates[static_cast<size_t>(b.candidate)] == c;
      });
      if (held_back) continue;  // tests/property/backfill_test.cpp
      EXPECT_FALSE(FitsByForce(s, job, c, left))
          << job.name << " could start, but: " << Texts(d, job.id);
    }
  }
}

World Shuffled(const World& world, Dice& dice) {
  World w = world;
  const auto shuffle = [&](auto& rows) {
    for (size_t i = rows.size(); i > 1; --i) {
      std::swap(rows[i - 1], rows[static_cast<size_t>(dice.Below(static_cast<int64_t>(i)))]);
    }
  };
  shuffle(w.snapshot.nodes);
  shuffle(w.snapshot.pending);
  shuffle(w.snapshot.running);
  shuffle(w.snapshot.nominations);
  shuffle(w.snapshot.policies);
  return w;
}

// All of it, for one cycle of one world.
void ExpectTheInvariants(const World& w, host::Plugins& plugins, host::Plugins& swapped,
                         uint64_t shuffle) {
  const model::Snapshot s = w.Freeze();
  const Decision d = cycle::Decide(s, plugins);
  const Aftermath a = After(s, d);
  for (const auto& start : d.starts) ExpectWholeAndLawful(s, start.task, start.placement);
  for (const auto& n : d.nominations) ExpectWholeAndLawful(s, n.task, n.placement);
  ExpectNothingNegative(a.free, "free");
  Room promised = a.later;
  for (auto& [node, room] : promised) room -= a.kept.at(node);
  ExpectNothingNegative(promised, "promised");
  ExpectQuotaKept(s, d, a.ledger);
  ExpectLawfulEvictions(s, d);
  ExpectNoMissedPlacement(s, d, a);
  EXPECT_EQ(d.starts.size() + d.waiting.size(), s.pending.size());
  EXPECT_EQ(w.Decide(plugins), d) << "the same again";
  EXPECT_EQ(w.Decide(swapped), d) << "plugins in another order";
  Dice dice(shuffle);
  EXPECT_EQ(Shuffled(w, dice).Decide(plugins), d) << "rows in another order";
}

TEST(Property, TheInvariantsHoldInRandomWorlds) {
  auto plugins = BuiltIns();
  auto swapped = BuiltIns({"node_policy", "quota_tree"});
  int64_t starts = 0, evictions = 0, nominations = 0, waiting = 0;
  for (uint64_t seed = 0; seed < Cases(kWorlds); ++seed) {
    Dice dice(seed);
    int serial = 0;
    World w = RandomWorld(dice, serial);
    const Check check = [&](const World& world) {
      ExpectTheInvariants(world, plugins, swapped, seed);
    };
    for (int cycle = 0; cycle < kCycles; ++cycle) {
      if (!ComplaintsOf(check, w).empty()) {
        return Report("seed " + std::to_string(seed) + " cycle " + std::to_string(cycle), w, check);
      }
      const Decision d = w.Decide(plugins);
      starts += static_cast<int64_t>(d.starts.size());
      evictions += static_cast<int64_t>(d.evictions.size());
      nominations += static_cast<int64_t>(d.nominations.size());
      waiting += static_cast<int64_t>(d.waiting.size());
      Advance(w, dice, d, serial);
    }
  }
  // The worlds must be hard enough to mean something.
  EXPECT_GT(starts, 1000);
  EXPECT_GT(evictions, 200);
  EXPECT_GT(nominations, 200);
  EXPECT_GT(waiting, 1000);
}

// One preemptor, nobody leaving: the victims are the best of all lawful sets.
TEST(Property, TheVictimsAreTheCheapestSetThereIs) {
  auto plugins = BuiltIns();
  int64_t preempted = 0, spared = 0;
  for (uint64_t seed = 0; seed < Cases(20'000); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Dice dice(1'000'000 + seed);
    int serial = 0;
    World w = RandomWorld(dice, serial);
    w.site.quotas.clear();
    w.snapshot.pending.clear();
    for (int i = 0; i < 5; ++i) AddPending(w, dice, serial);
    for (const model::Start& start : w.Decide(plugins).starts) {
      const PendingJob job = FindPending(w.snapshot, start.task);
      w.snapshot.running.push_back(Started(job, start.placement, At(900 + dice.Below(100))));
    }
    w.snapshot.pending.clear();
    AddPending(w, dice, serial);
    PendingJob& job = w.snapshot.pending[0];
    job.held.clear();
    job.not_before = {};
    job.capacity = CapacityType::kReserved;
    job.candidates = {RandomCandidate(dice, CapacityType::kReserved)};
    const model::Snapshot s = w.Freeze();

    // Every set of lawful victims: lowest worst band first, then fewest jobs, then the rest.
    using Cost = std::tuple<int, size_t, std::vector<int>, int64_t, int64_t, std::vector<int64_t>,
                            std::vector<uint64_t>>;
    std::optional<Cost> best;
    for (unsigned set = 1; set < 1U << s.running.size(); ++set) {
      Room room = FreeNow(s);
      Cost cost{};
      bool lawful = true;
      for (size_t i = 0; i < s.running.size(); ++i) {
        if ((set >> i & 1) == 0) continue;
        const RunningJob& v = s.running[i];
        lawful &= LawfulByRule(v, job);
        Give(room, v.placement, 1);
        int64_t gpus = 0;
        for (const Replica& r : v.placement.replicas) gpus += r.resources.gpu_milli;
        auto& [worst, jobs, bands, lost, lost_time, started, ids] = cost;
        worst = std::max(worst, BandByRule(v));
        ++jobs;
        bands.push_back(BandByRule(v));
        lost += gpus;
        lost_time += gpus * (ToSeconds(s.now) - ToSeconds(v.started_at));
        started.push_back(-ToNanos(v.started_at));
        ids.push_back(v.id.value);
      }
      std::ranges::sort(std::get<2>(cost), std::greater<>{});
      std::ranges::sort(std::get<5>(cost));
      std::ranges::sort(std::get<6>(cost));
      if (lawful && (!best || cost < *best) && FitsByForce(s, job, job.candidates[0], room)) {
        best = cost;
      }
    }
    const Decision d = cycle::Decide(s, plugins);
    std::vector<uint64_t> evicted;
    for (const model::Eviction& e : d.evictions) evicted.push_back(e.victim.value);
    std::ranges::sort(evicted);
    if (FitsByForce(s, job, job.candidates[0], FreeNow(s))) {
      ASSERT_EQ(d.starts.size(), 1U);
      ASSERT_TRUE(evicted.empty());
    } else if (best) {
      ASSERT_EQ(evicted, std::get<6>(*best));
      ++preempted;
    } else {
      ASSERT_TRUE(evicted.empty());
      ++spared;
    }
  }
  EXPECT_GT(preempted, 150);
  EXPECT_GT(spared, 150);
}

// Fails, or answers out of range, at every call.
class BrokenQuota final : public Quota {
 public:
  explicit BrokenQuota(const Config&) {}
  void Admit(const cox_view&, const cox_asks&, Span<cox_verdict>) override { throw 1; }
};
class BrokenFilter final : public cox::NodePolicy {
 public:
  explicit BrokenFilter(const Config&) {}
  void Filter(const cox_view&, const cox_shape&, Span<int32_t>) override { throw 2; }
};

TEST(Property, AFailingPluginWidensNothing) {
  const cox_plugin quota = MakePlugin<BrokenQuota>("t.q", "1", "fails", "{}");
  const cox_plugin filter = MakePlugin<BrokenFilter>("t.f", "1", "fails", "{}");
  for (const cox_plugin* table : {&quota, &filter}) {
    spec::PluginConfig config;
    config.name = "broken";
    auto broken = host::Plugins::Create({host::StaticPlugin{table, config}});
    ASSERT_TRUE(broken) << broken.error().text;
    for (uint64_t seed = 0; seed < 100; ++seed) {
      Dice dice(seed);
      int serial = 0;
      const World w = RandomWorld(dice, serial);
      const Decision d = w.Decide(*broken);
      broken->EndCycle();  // soon in quarantine: still nothing is allowed
      EXPECT_TRUE(d.evictions.empty());
      for (const model::Start& start : d.starts) {
        EXPECT_TRUE(table == &quota && start.placement.candidate.source == CapacityType::kIdle)
            << "seed " << seed << ": only idle asks no quota";
      }
    }
  }
}

}  // namespace
}  // namespace cox::test
