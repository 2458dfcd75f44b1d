// A plugin that breaks the one rule: its answer depends on more than its arguments. Every second
// instance refuses everything.
#include <cox/plugin.hpp>

namespace {

int instances = 0;

class Moody final : public cox::Quota {
 public:
  explicit Moody(const cox::Config&) : refuses_(++instances % 2 == 0) {}
  void Admit(const cox_view&, const cox_asks& asks, cox::Span<cox_verdict> out) override {
    for (uint32_t a = 0; a < asks.count; ++a) out[a] = refuses_ ? 1 : COX_ALLOW;
  }
  const char* Reason(cox_verdict) const override { return "not today"; }

 private:
  const bool refuses_;
};

}  // namespace

COX_PLUGIN(Moody, "test.moody", "1.0", "has moods", "{}")
