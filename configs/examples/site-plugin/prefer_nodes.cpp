// Where shall a job rather run? On the nodes that the site names (say, those with the newer
// network), and otherwise where most is free, so that jobs spread out. Never on a node that came
// back less than `cooldown_s` ago: what broke once breaks again soon.
#include <cox/plugin.hpp>
#include <string>
#include <vector>

#include "schema.hpp"  // kSchema, made from schema.json

namespace {

constexpr cox_verdict kTooFresh = 1;

class PreferNodes final : public cox::NodePolicy {
 public:
  explicit PreferNodes(const cox::Config& config) : cooldown_s_(config.Int("cooldown_s")) {
    for (uint32_t i = 0; i < config.Len("prefer"); ++i)
      prefer_.emplace_back(config.Str(cox::Config::Item("prefer", i)));
  }

  void Filter(const cox_view& view, const cox_shape&, cox::Span<int32_t> verdicts) override {
    const int32_t* age = cox::Column(view, COX_NODE_READY_AGE_S);
    if (age == nullptr) return;  // a host that does not know: forbid nothing
    cox::ForEachNode(view, verdicts, [&](uint32_t node) {
      return age[node] < cooldown_s_ ? kTooFresh : COX_ALLOW;
    });
  }

  void Score(const cox_view& view, const cox_shape& shape, cox::Span<int32_t> scores) override {
    // What the job is short of first: GPUs if it wants any, else CPU.
    const bool gpu = shape.gpu_milli > 0;
    const int32_t* free =
        cox::Column(view, gpu ? COX_NODE_GPU_MILLI_FREE : COX_NODE_CPU_MILLI_FREE);
    const int32_t* all =
        cox::Column(view, gpu ? COX_NODE_GPU_MILLI_CAPACITY : COX_NODE_CPU_MILLI_CAPACITY);
    cox::ForEachNode(view, scores, [&](uint32_t node) {
      const bool known = free != nullptr && all != nullptr && all[node] > 0;
      const int64_t share = known ? int64_t{free[node]} * 4'999 / all[node] : 0;
      return static_cast<int32_t>(share +
                                  (Preferred(cox::Str(view.nodes->name[node])) ? 5'000 : 0));
    });
  }

  const char* Reason(cox_verdict) const override { return "the node came back too recently"; }

 private:
  bool Preferred(std::string_view name) const {
    for (const std::string& node : prefer_)
      if (node == name) return true;
    return false;
  }

  const int64_t cooldown_s_;
  std::vector<std::string> prefer_;
};

}  // namespace

COX_PLUGIN(PreferNodes, "org.example.prefer-nodes", "1.0.0",
           "named nodes first, then the emptiest; none that just came back", kSchema)
