#include "spec/words.hpp"

// One line an enumeration. The name of an impossible value is "?".
#define COX_WORDS(E, ...)                                  \
  template <>                                              \
  std::span<const char* const> Words<E>() {                \
    static constexpr const char* kWords[] = {__VA_ARGS__}; \
    return kWords;                                         \
  }                                                        \
  const char* Name(E v) {                                  \
    const auto words = Words<E>();                         \
    const auto i = static_cast<size_t>(v);                 \
    return i < words.size() ? words[i] : "?";              \
  }

namespace cox::spec {

COX_WORDS(TaskType, "PyTorchJob", "RayJob")
COX_WORDS(CapacityType, "reserved", "on-demand", "spot", "idle")
COX_WORDS(Priority, "low", "medium", "high")
COX_WORDS(Stability, "low", "medium", "high")
COX_WORDS(Visibility, "Private", "Project")
COX_WORDS(UpscalingMode, "Conservative", "Aggressive")
COX_WORDS(FailurePolicyKind, "OnFailure", "OnInfraFailure", "ExitCodeAndLog", "Never")
COX_WORDS(FailureAction, "Retry", "Fail")
COX_WORDS(HangAction, "Event", "Restart")
COX_WORDS(NodePolicyType, "NodeIn", "NodeNotIn")
COX_WORDS(QuotaLevel, "tenant", "project", "user")

}  // namespace cox::spec

#undef COX_WORDS
