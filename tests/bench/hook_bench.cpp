// a3: what a node hook costs. The same filter, "at least a tenth of the GPUs stays free", as one
// call over int32 lanes through the host, and as a virtual call for each node.
#include <benchmark/benchmark.h>

#include <cox/plugin.hpp>

#include "host/plugins.hpp"
#include "host/view.hpp"
#include "support/world.hpp"

namespace cox::bench {
namespace {

// Blocks of 64, a length that every lane is a multiple of, and pointers that do not alias: vector
// code at -O2.
[[gnu::noinline]] void TenthStaysFree(const int32_t* __restrict free,
                                      const int32_t* __restrict capacity, int32_t need,
                                      int32_t* __restrict verdict, size_t size) {
  for (size_t block = 0; block < size; block += 64) {
    for (size_t i = 0; i < 64; ++i) {
      const size_t n = block + i;
      verdict[n] = static_cast<int32_t>((free[n] - need) * 10 < capacity[n]);
    }
  }
}

class Batched final : public cox::NodePolicy {
 public:
  explicit Batched(const cox::Config&) {}
  void Filter(const cox_view& view, const cox_shape& shape, cox::Span<int32_t> out) override {
    TenthStaysFree(view.nodes->column[COX_NODE_GPU_MILLI_FREE],
                   view.nodes->column[COX_NODE_GPU_MILLI_CAPACITY], shape.gpu_milli, out.data(),
                   out.size());
  }
};

struct PerNode {
  virtual ~PerNode() = default;
  virtual bool Refuses(const model::Node& node, int64_t free, const cox_shape& shape) const = 0;
};
struct TenthFree final : PerNode {
  bool Refuses(const model::Node& node, int64_t free, const cox_shape& shape) const override {
    return (free - shape.gpu_milli) * 10 < node.capacity.gpu_milli;
  }
};

model::Snapshot Nodes(int64_t count) {
  test::World w;
  for (int64_t n = 0; n < count; ++n) {
    w.Node("n" + std::to_string(100'000 + n), 8).unmanaged.gpu_milli = n % 9 * 1000;
  }
  return w.Freeze();
}

constexpr cox_shape kShape = {sizeof(cox_shape), 0, 1000, 1024, 1000, COX_NONE};

void A3_BatchedThroughHost(benchmark::State& state) {
  static const cox_plugin table = MakePlugin<Batched>("bench.batched", "1", "a filter", "{}");
  spec::PluginConfig config;
  config.name = "batched";
  auto plugins = host::Plugins::Create({host::StaticPlugin{&table, config}});
  const model::Snapshot s = Nodes(state.range(0));
  const host::View view(s);
  host::Lane lanes(view.table().nodes->stride);
  for (auto _ : state) {
    plugins->Filter(view.table(), kShape, lanes);
    benchmark::DoNotOptimize(lanes.data());
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(A3_BatchedThroughHost)->Arg(1'000)->Arg(10'000);

void A3_VirtualPerNode(benchmark::State& state) {
  const model::Snapshot s = Nodes(state.range(0));
  const auto plugin = std::make_unique<TenthFree>();
  const PerNode* filter = plugin.get();
  benchmark::DoNotOptimize(filter);
  std::vector<int32_t> verdicts(s.nodes.size());
  for (auto _ : state) {
    for (size_t n = 0; n < s.nodes.size(); ++n) {
      const int64_t free = s.nodes[n].capacity.gpu_milli - s.nodes[n].unmanaged.gpu_milli;
      verdicts[n] = filter->Refuses(s.nodes[n], free, kShape) ? 1 : 0;
    }
    benchmark::DoNotOptimize(verdicts.data());
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(A3_VirtualPerNode)->Arg(1'000)->Arg(10'000);

}  // namespace
}  // namespace cox::bench
