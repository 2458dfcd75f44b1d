// a1, a2, b1, b2 of the performance targets: this scheduler and the reference, same process, same
// input. Names: <what>/<who>/nodes[/queue].
#include <benchmark/benchmark.h>

#include <cstdio>
#include <cstdlib>
#include <deque>
#include <random>

#include "bench/reference.hpp"
#include "cycle/board.hpp"
#include "cycle/round.hpp"

namespace cox::bench {
namespace {

using test::Gang;
using test::World;

// GPUs a job in the mix of public GPU traces: 48 % 1, 10 % 2, 10 % 4, 20 % 8, then 2 to 16 nodes.
Gang RandomGang(std::mt19937& random) {
  const auto p = random() % 1000;
  if (p < 480) return {1, 1};
  if (p < 580) return {1, 2};
  if (p < 680) return {1, 4};
  if (p < 880) return {1, 8};
  if (p < 940) return {2, 8};
  if (p < 980) return {4, 8};
  if (p < 995) return {8, 8};
  return {16, 8};
}

void AddJobs(World& w, int64_t count, std::mt19937& random) {
  for (int64_t i = 0; i < count; ++i) {
    auto& job = w.Pending("job", RandomGang(random), static_cast<spec::Priority>(random() % 3));
    const auto user = random() % 64;
    job.owner = {"u" + std::to_string(user), "p" + std::to_string(user % 16),
                 "t" + std::to_string(user % 8)};
  }
}

World Cluster(int64_t nodes, int64_t queue) {
  std::mt19937 random(1);
  World w;
  for (int64_t n = 0; n < nodes; ++n) {
    std::string name = std::to_string(100'000 + n);
    w.Node("n" + name, 8);
  }
  for (int t = 0; t < 8; ++t) {  // three quarters of the cluster, so that some meet their quota
    w.Quota(spec::QuotaLevel::kTenant, "t" + std::to_string(t), nodes * 8 * (t < 4 ? 1 : 3) / 16);
  }
  AddJobs(w, queue, random);
  return w;
}

// Nobody is preempted in these cases: they compare placement.
void Guarantee(model::Snapshot& s) {
  for (auto& job : s.running) job.guaranteed = true;
}

model::RunningJob Run(const model::PendingJob& job, const model::Placement& placement) {
  model::RunningJob run;
  run.id = job.id;
  run.name = job.name;
  run.owner = job.owner;
  run.priority = job.priority;
  run.guaranteed = true;
  run.placement = placement;
  return run;
}

void Apply(model::Snapshot& s, const model::Decision& d) {
  std::map<uint64_t, const model::Start*> starts;
  for (const auto& start : d.starts) starts[start.task.value] = &start;
  std::vector<model::PendingJob> left;
  for (auto& job : s.pending) {
    const auto it = starts.find(job.id.value);
    if (it == starts.end()) {
      left.push_back(std::move(job));
      continue;
    }
    s.ledger.Allocate(job.id, model::Charges(job.owner, it->second->placement.candidate));
    s.running.push_back(Run(job, it->second->placement));
  }
  s.pending = std::move(left);
  std::ranges::sort(s.running, {}, &model::RunningJob::id);
}

void MustAgree(const model::Snapshot& s, host::Plugins& plugins) {
  if (ToPlan(cycle::Decide(s, plugins)) == Reference(s)) return;
  std::fprintf(stderr, "the reference decides otherwise: this comparison would mean nothing\n");
  std::abort();
}

host::Plugins Three() {
  return test::BuiltIns({"quota_tree", "priority_multifactor", "node_policy"});
}

// a1: find the nodes of a gang on a cluster that is 7/8 full, and give them back.
void A1_Place(benchmark::State& state) {
  World w = Cluster(state.range(0), 0);
  w.Pending("j", {state.range(1), state.range(1) > 1 ? 8 : 1});
  for (size_t n = 0; n < w.snapshot.nodes.size(); ++n) {
    if (n % 8 != 0) w.snapshot.nodes[n].unmanaged = {0, 0, 8'000};
  }
  const model::Snapshot s = w.Freeze();
  auto plugins = test::BuiltIns({});
  MustAgree(s, plugins);
  cycle::Round round(s, plugins);
  cycle::Bid bid;
  bid.candidate = &s.pending[0].candidates[0];
  cycle::Select(round, bid);
  for (auto _ : state) {
    cycle::Trial trial(round.board);
    benchmark::DoNotOptimize(cycle::Place(round.board, bid));
  }
}
BENCHMARK(A1_Place)->ArgsProduct({{1'000, 10'000}, {1, 16}});

// b1: one cycle over an empty cluster and a long queue.
void B1_Cycle(benchmark::State& state) {
  const model::Snapshot s = Cluster(state.range(0), state.range(1)).Freeze();
  auto plugins = Three();
  MustAgree(s, plugins);
  int64_t starts = 0;
  for (auto _ : state) {
    const model::Decision d = cycle::Decide(s, plugins);
    starts += static_cast<int64_t>(d.starts.size());
  }
  state.counters["starts"] = static_cast<double>(starts) / static_cast<double>(state.iterations());
}
BENCHMARK(B1_Cycle)
    ->ArgsProduct({{1'000}, {1'000, 10'000}})
    ->Args({10'000, 1'000})
    ->Unit(benchmark::kMillisecond);

void B1_Reference(benchmark::State& state) {
  const model::Snapshot s = Cluster(state.range(0), state.range(1)).Freeze();
  for (auto _ : state) benchmark::DoNotOptimize(Reference(s));
}
BENCHMARK(B1_Reference)
    ->ArgsProduct({{1'000}, {1'000, 10'000}})
    ->Args({10'000, 1'000})
    ->Unit(benchmark::kMillisecond);

// b2: the cluster is full, a queue waits, `events` jobs end. Both decide from a fresh snapshot.
model::Snapshot Full(int64_t nodes, int64_t queue, int64_t events) {
  model::Snapshot s = Cluster(nodes, queue).Freeze();
  auto plugins = Three();
  for (int i = 0; i < 3; ++i) Apply(s, cycle::Decide(s, plugins));
  Guarantee(s);
  for (int64_t e = 0; e < events; ++e) {
    const auto victim = s.running.begin() + (e * 7919) % static_cast<int64_t>(s.running.size());
    s.ledger.Release(victim->id);
    s.running.erase(victim);
  }
  return s;
}

void B2_Events(benchmark::State& state) {
  const model::Snapshot s = Full(1'000, 10'000, state.range(0));
  auto plugins = Three();
  MustAgree(s, plugins);
  for (auto _ : state) benchmark::DoNotOptimize(cycle::Decide(s, plugins));
}
BENCHMARK(B2_Events)->Arg(0)->Arg(1)->Arg(100)->Unit(benchmark::kMillisecond);

void B2_Reference(benchmark::State& state) {
  const model::Snapshot s = Full(1'000, 10'000, state.range(0));
  for (auto _ : state) benchmark::DoNotOptimize(Reference(s));
}
BENCHMARK(B2_Reference)->Arg(0)->Arg(1)->Arg(100)->Unit(benchmark::kMillisecond);

// a2: jobs come in batches of 32 and run for some ticks; one cycle a tick; all 4,000 jobs start.
template <class Decider>
int64_t Replay(Decider decide) {
  std::mt19937 random(2);
  World w = Cluster(256, 0);
  AddJobs(w, 4'000, random);
  std::deque<model::PendingJob> future(w.snapshot.pending.begin(), w.snapshot.pending.end());
  w.snapshot.pending.clear();
  model::Snapshot s = w.Freeze();
  std::multimap<int64_t, uint64_t> ends;
  int64_t started = 0;
  for (int64_t tick = 0; started < 4'000; ++tick) {
    for (; !ends.empty() && ends.begin()->first <= tick; ends.erase(ends.begin())) {
      const TaskId id{ends.begin()->second};
      s.ledger.Release(id);
      std::erase_if(s.running, [&](const auto& job) { return job.id == id; });
    }
    for (int i = 0; i < 32 && !future.empty(); ++i) {
      s.pending.push_back(std::move(future.front()));
      future.pop_front();
    }
    const model::Decision d = decide(s);
    for (const auto& start : d.starts) {
      ends.emplace(tick + 1 + static_cast<int64_t>(start.task.value % 16), start.task.value);
    }
    started += static_cast<int64_t>(d.starts.size());
    Apply(s, d);
  }
  return started;
}

void A2_Replay(benchmark::State& state) {
  auto plugins = Three();
  int64_t jobs = 0;
  for (auto _ : state) {
    jobs += Replay([&](const model::Snapshot& s) { return cycle::Decide(s, plugins); });
  }
  state.SetItemsProcessed(jobs);
}
BENCHMARK(A2_Replay)->Unit(benchmark::kMillisecond);

void A2_Reference(benchmark::State& state) {
  int64_t jobs = 0;
  for (auto _ : state) {
    jobs += Replay([&](const model::Snapshot& s) {
      model::Decision d;
      const Plan plan = Reference(s);
      for (const auto& job : s.pending) {
        const auto it = plan.find(job.id.value);
        if (it == plan.end()) continue;
        model::Start start{job.id, 0, {job.candidates[0], {}}};
        for (const auto& node : it->second) {
          start.placement.replicas.push_back(
              {model::Role::kWorker, 0, node, job.candidates[0].roles[0].resources});
        }
        d.starts.push_back(std::move(start));
      }
      return d;
    });
  }
  state.SetItemsProcessed(jobs);
}
BENCHMARK(A2_Reference)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace cox::bench
