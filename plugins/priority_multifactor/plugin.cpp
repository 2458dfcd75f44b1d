// In which order are pending jobs looked at? The shell around policies/multifactor.
#include <cox/plugin.hpp>

#include "policies/multifactor.hpp"
#include "schema.hpp"

namespace {

class Multifactor final : public cox::Priority {
 public:
  explicit Multifactor(const cox::Config& config)
      : weights_{config.Int("points_per_level"), config.Int("points_per_hour"),
                 config.Int("max_hours")} {}

  void Rank(const cox_view& view, cox::Span<int64_t> out) override {
    for (uint32_t j = 0; j < out.size(); ++j)
      out[j] = cox::policies::Rank(view.pending->priority[j],
                                   view.now_ns - view.pending->submit_ns[j], weights_);
  }

 private:
  const cox::policies::RankWeights weights_;
};

}  // namespace

COX_PLUGIN(Multifactor, "io.coxswain.priority-multifactor", "1.0.0",
           "priority level, then time waited", kSchema)
