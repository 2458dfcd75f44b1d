// The site's plugins as the core sees them: an ordered set of instances and, for each extension
// point, one merged call. cycle/, lifecycle/ and run/ include this header and no other of host/.
//
// Owner: run/loop. Thread: the decision thread, but Observe() the observer's. Promises: a call is a
// pure function of its arguments and the instances' configuration; time is measured, but what it
// shows takes effect only at EndCycle(), never inside a cycle. A plugin that fails never widens
// what is allowed, unless the site set `on_error: allow`.
//
// Merging (fixed): quota AND, the first refusal in the site's order is named; rank weighted sum;
// filter AND, first refusal named; score weighted sum; fault: safest wins; monitor: all.
#pragma once

#include <cox/plugin.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "base/time.hpp"
#include "model/task.hpp"
#include "spec/site.hpp"

namespace cox::host {

// Who said no, and its plugin-local code. Fits one int32 lane; a zero lane means allowed.
struct Refusal {
  uint16_t instance = 0;  // row in Plugins::Status()
  cox_verdict verdict = COX_ALLOW;

  explicit operator bool() const { return verdict != COX_ALLOW; }
  // Evicting others would not change it, so preemption need not be tried.
  bool fixed() const { return (verdict & COX_FIXED) != 0; }

  int32_t lane() const { return int32_t{instance} << 16 | verdict; }
  static Refusal FromLane(int32_t lane) {
    return {static_cast<uint16_t>(lane >> 16), static_cast<cox_verdict>(lane & 0xffff)};
  }
  friend bool operator==(const Refusal&, const Refusal&) = default;
};

// The long form of a "no", for people.
struct Reason {
  std::string instance;            // name in the site file
  std::string code;                // CamelCase: "InsufficientQuota", "NodePolicy", "PluginFailed"
  std::string text;                // the level, the numbers, the remedy
  std::string policy;              // ids of the objects behind it, comma-separated
  TimePoint retry_at = kNever;     // earliest time at which a timer alone could lift it
  uint32_t ledger_row = COX_NONE;  // quota: the row that blocks
};

struct FaultVerdict {  // merged; of no opinion at all: never retry
  model::FailureClass failure_class = model::FailureClass::kApp;
  bool retry = false;
  bool counts = false;        // this retry counts against maxRetries
  bool exclude_node = false;  // keep the next attempts off the failed node
  Duration backoff{0};
  Duration exclude_ttl{0};
  std::string reason;  // "CudaOutOfMemory"
  std::string text;
};

enum class Point { kQuota, kPriority, kFilter, kScore, kFault, kMonitor };
inline constexpr int kPoints = 6;
const char* Name(Point p);  // "quota", "priority", "filter", "score", "fault", "monitor"

struct PointStats {
  bool offered = false;
  uint64_t calls = 0, errors = 0, overruns = 0;
  int64_t nanos = 0;
};

struct InstanceStatus {
  std::string name, path, id, version, summary;
  std::string failure;      // not empty: not loaded (optional instances only), and why
  std::string quarantined;  // not empty: in quarantine, and why
  PointStats points[kPoints];
  std::vector<std::pair<std::string, double>> counters;  // what the plugin counted itself
};

struct Notice {  // for the log and the event stream
  enum class Level { kError, kWarn, kInfo, kDebug } level = Level::kInfo;
  std::string instance, text;
  bool quarantine = false;  // the instance went into quarantine
};

// Monotonic nanoseconds; measures calls. Tests inject their own.
using Ticks = std::function<int64_t()>;
int64_t SteadyTicks();

struct Options {
  std::string plugin_directory;  // where relative paths of the site file start
  Ticks ticks = SteadyTicks;
  int64_t max_overruns = 10;  // budget overruns before quarantine; errors: PluginConfig::max_errors
};

// A plugin that is linked in: tests and simulations need no library file.
struct StaticPlugin {
  const cox_plugin* table = nullptr;
  spec::PluginConfig config;  // `name` must be set; `path` is not used
};

class Plugins {
 public:
  // Creates every instance or none. There is no global state: a reload is a second Create(), a swap
  // at a cycle's edge and the destruction of the old set; when it fails, the old set is untouched.
  // Libraries stay mapped until exit.
  static Result<Plugins> Create(const std::vector<spec::PluginConfig>& site,
                                const Options& options);
  static Result<Plugins> Create(const std::vector<StaticPlugin>& tables,
                                const Options& options = {});

  Plugins();
  Plugins(Plugins&&) noexcept;
  Plugins& operator=(Plugins&&) noexcept;
  ~Plugins();

  bool Offers(Point point) const;

  // out[ask]: the first refusal, or none. out.size() == asks.count.
  void Admit(const cox_view& view, const cox_asks& asks, std::span<Refusal> out);
  Reason ExplainQuota(const cox_view& view, const cox_asks& asks, uint32_t ask, Refusal refusal);

  // out[pending job], higher first. out.size() == view.pending->count.
  void Rank(const cox_view& view, std::span<int64_t> out);

  // lanes[node]: Refusal::lane(), 0 = may run there. lanes.size() == view.nodes->stride; lanes at
  // and beyond view.nodes->count are 0.
  void Filter(const cox_view& view, const cox_shape& shape, std::span<int32_t> lanes);
  // scores[node]: weighted sum, more is better; each instance gives 0..10000 times its weight.
  void Score(const cox_view& view, const cox_shape& shape, std::span<int32_t> scores);
  // Why `refusal` keeps the job off `nodes`. Ask only when lifting it would let the job run (S80).
  Reason ExplainNodes(const cox_view& view, const cox_shape& shape, Refusal refusal,
                      std::span<const uint32_t> nodes);

  FaultVerdict Judge(const cox_failure& failure);

  void Observe(const cox_samples& samples, const cox_targets& targets);

  // Between two cycles: instances that failed too often or too slowly are out from here on.
  void EndCycle();

  // What plugins logged and what EndCycle() did since the last time. Bounded; the rest is counted.
  std::vector<Notice> TakeNotices();
  std::vector<InstanceStatus> Status() const;

 private:
  struct State;
  explicit Plugins(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace cox::host
