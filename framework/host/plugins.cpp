#include "host/plugins.hpp"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <set>
#include <string_view>

#include "host/instance.hpp"
#include "host/lanes.hpp"
#include "host/loader.hpp"
#include "host/view.hpp"

namespace cox::host {
namespace {

constexpr cox_verdict kFailed = COX_FIXED | 0x7fff;  // the host's own verdict, see cox/plugin.h
constexpr int64_t kMaxRank = int64_t{1} << 40;
constexpr int64_t kMaxWeight = 1'000, kMaxInstances = 200;  // times kMaxScore stays within an int32

int32_t Complain(cox_error* error, const std::string& text) {
  std::strncpy(error->text, text.c_str(), sizeof error->text - 1);
  return COX_INTERNAL;
}

std::string Bad(const char* what, int64_t value, size_t row, const std::string& range) {
  return std::string(what) + " " + std::to_string(value) + " of row " + std::to_string(row) +
         " is outside " + range;
}

template <size_t N>
std::string Text(const char (&field)[N]) {
  return std::string(field, strnlen(field, N));
}

Reason FromAbi(const cox_reason& from, const Instance& instance, const char* default_code) {
  Reason reason;
  reason.instance = instance.name();
  reason.code = Text(from.code);
  if (reason.code.empty()) reason.code = default_code;
  reason.text = Text(from.text);
  reason.policy = Text(from.policy);
  if (from.retry_at_ns > 0) reason.retry_at = FromNanos(from.retry_at_ns);
  return reason;
}

Reason FailedReason(const Instance& instance) {
  Reason reason;
  reason.instance = instance.name();
  reason.code = "PluginFailed";
  reason.text = "plugin " + instance.name() + " cannot judge (" + instance.Trouble() +
                ") and its on_error is deny; tell an administrator";
  return reason;
}

std::string NodeList(const cox_nodes& nodes, std::span<const uint32_t> rows) {
  constexpr size_t kShown = 10;
  std::string text;
  for (size_t i = 0; i < rows.size() && i < kShown; ++i)
    if (rows[i] < nodes.count) {
      const cox_str name = nodes.name[rows[i]];
      text += (text.empty() ? "" : ",") + std::string(name.ptr, name.len);
    }
  if (rows.size() > kShown) text += " and " + std::to_string(rows.size() - kShown) + " more";
  return text;
}

model::FailureClass ClassOf(uint32_t cause) {
  switch (cause) {
    case COX_CAUSE_PREEMPTED:
    case COX_CAUSE_SPOT_EVICTED:
      return model::FailureClass::kPreempted;
    case COX_CAUSE_NODE:
      return model::FailureClass::kInfra;
    case COX_CAUSE_HANG:
      return model::FailureClass::kHang;
    default:
      return model::FailureClass::kApp;
  }
}

Result<void> CheckSettings(const spec::PluginConfig& config, std::set<std::string>& names) {
  const std::string where = config.position.empty() ? "plugin " + config.name : config.position;
  if (config.name.empty()) return InvalidArgument(where + ": an instance without a name");
  if (!names.insert(config.name).second)
    return InvalidArgument(where + ": two plugin instances are named " + config.name +
                           "; give one another `name`");
  if (config.weight < 0 || config.weight > kMaxWeight)
    return InvalidArgument(where + ": weight " + std::to_string(config.weight) + " is outside 0.." +
                           std::to_string(kMaxWeight));
  if (config.on_error && *config.on_error != "allow" && *config.on_error != "deny")
    return InvalidArgument(where + ": on_error \"" + *config.on_error +
                           "\" is neither allow nor deny");
  if (config.budget_ms < 1 || config.max_errors < 1)
    return InvalidArgument(where + ": budget_ms and max_errors must be at least 1");
  return {};
}

}  // namespace

int64_t SteadyTicks() {
  return std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1);
}

struct Plugins::State {
  std::vector<std::unique_ptr<Instance>> instances;
  std::vector<InstanceStatus> failed;  // optional ones
  std::vector<cox_verdict> verdicts;   // scratch of the decision thread
  std::vector<int64_t> ranks;
  Lane lane;
};

Plugins::Plugins() : state_(std::make_unique<State>()) {}
Plugins::Plugins(std::unique_ptr<State> state) : state_(std::move(state)) {}
Plugins::Plugins(Plugins&&) noexcept = default;
Plugins& Plugins::operator=(Plugins&&) noexcept = default;
Plugins::~Plugins() = default;

Result<Plugins> Plugins::Create(const std::vector<StaticPlugin>& tables, const Options& options) {
  auto state = std::make_unique<State>();
  std::set<std::string> names;
  for (const StaticPlugin& plugin : tables) {
    if (auto ok = CheckSettings(plugin.config, names); !ok) return ok.error();
    auto instance = Instance::Create(plugin.table, plugin.config, options);
    if (!instance) return instance.error();
    state->instances.push_back(std::move(*instance));
  }
  return Plugins(std::move(state));
}

Result<Plugins> Plugins::Create(const std::vector<spec::PluginConfig>& site,
                                const Options& options) {
  auto state = std::make_unique<State>();
  std::set<std::string> names;
  if (site.size() > size_t{kMaxInstances})
    return InvalidArgument("plugins: " + std::to_string(site.size()) + " instances, at most " +
                           std::to_string(kMaxInstances) + " are allowed");
  for (spec::PluginConfig config : site) {
    if (auto ok = CheckSettings(config, names); !ok) return ok.error();
    if (!config.path.starts_with('/') && !options.plugin_directory.empty())
      config.path = options.plugin_directory + "/" + config.path;
    const auto create = [&]() -> Result<std::unique_ptr<Instance>> {
      auto table = Load(config.path);
      if (!table && config.path_position.empty()) return table.error();
      if (!table)
        return Error{table.error().code, config.path_position + ": " + table.error().text};
      return Instance::Create(*table, config, options);
    };
    auto instance = create();
    if (instance) {
      state->instances.push_back(std::move(*instance));
    } else if (config.optional) {
      InstanceStatus status;
      status.name = config.name;
      status.path = config.path;
      status.failure = instance.error().text;
      state->failed.push_back(std::move(status));
    } else {
      return instance.error();
    }
  }
  return Plugins(std::move(state));
}

bool Plugins::Offers(Point point) const {
  return std::ranges::any_of(state_->instances,
                             [&](const auto& instance) { return instance->Offers(point); });
}

void Plugins::Admit(const cox_view& view, const cox_asks& asks, std::span<Refusal> out) {
  std::ranges::fill(out, Refusal{});
  auto& verdicts = state_->verdicts;
  for (size_t i = 0; i < state_->instances.size(); ++i) {
    Instance& instance = *state_->instances[i];
    if (!instance.Offers(Point::kQuota)) continue;
    verdicts.assign(asks.count, COX_ALLOW);
    const bool ok = instance.Call(Point::kQuota, "admit", [&](cox_error* error) {
      const int32_t code =
          instance.quota()->admit(instance.self(), &view, &asks, verdicts.data(), error);
      if (code != COX_OK) return code;
      for (size_t a = 0; a < verdicts.size(); ++a)
        if (!IsVerdict(verdicts[a]))
          return Complain(error, Bad("verdict", verdicts[a], a, "0, 1..32766 (+ COX_FIXED)"));
      return int32_t{COX_OK};
    });
    if (!ok) {
      if (!instance.deny_on_error()) continue;
      verdicts.assign(asks.count, kFailed);
    }
    for (size_t a = 0; a < out.size(); ++a)
      if (!out[a] && verdicts[a] != COX_ALLOW) out[a] = {static_cast<uint16_t>(i), verdicts[a]};
  }
}

Reason Plugins::ExplainQuota(const cox_view& view, const cox_asks& asks, uint32_t ask,
                             Refusal refusal) {
  Instance& instance = *state_->instances[refusal.instance];
  if (refusal.verdict == kFailed) return FailedReason(instance);
  cox_reason abi{};
  abi.struct_size = sizeof abi;
  abi.row = COX_NONE;
  const cox_quota* quota = instance.quota();
  const bool told =
      COX_HAS(quota, explain) && quota->explain &&
      instance.Call(Point::kQuota, "explain", [&](cox_error* error) {
        return quota->explain(instance.self(), &view, &asks, ask, refusal.verdict, &abi, error);
      });
  if (!told) abi = {};
  Reason reason = FromAbi(abi, instance, "InsufficientQuota");
  if (told && view.ledger != nullptr && abi.row < view.ledger->count) reason.ledger_row = abi.row;
  if (reason.text.empty()) reason.text = instance.ReasonText(refusal.verdict);
  return reason;
}

void Plugins::Rank(const cox_view& view, std::span<int64_t> out) {
  std::ranges::fill(out, 0);
  auto& ranks = state_->ranks;
  for (const auto& owned : state_->instances) {
    Instance& instance = *owned;
    if (!instance.Offers(Point::kPriority)) continue;
    ranks.assign(out.size(), 0);
    const bool ok = instance.Call(Point::kPriority, "rank", [&](cox_error* error) {
      const int32_t code = instance.priority()->rank(instance.self(), &view, ranks.data(), error);
      if (code != COX_OK) return code;
      for (size_t j = 0; j < ranks.size(); ++j)
        if (ranks[j] < -kMaxRank || ranks[j] > kMaxRank)
          return Complain(error, Bad("rank", ranks[j], j, "+-2^40"));
      return int32_t{COX_OK};
    });
    if (!ok) continue;
    for (size_t j = 0; j < out.size(); ++j) out[j] += ranks[j] * instance.weight();
  }
}

void Plugins::Filter(const cox_view& view, const cox_shape& shape, std::span<int32_t> lanes) {
  std::ranges::fill(lanes, 0);
  const size_t count = view.nodes->count;
  bool first = true;  // it writes where the answer will stand; the others are merged into it
  for (size_t i = 0; i < state_->instances.size(); ++i) {
    Instance& instance = *state_->instances[i];
    if (!instance.Offers(Point::kFilter)) continue;
    if (!first) state_->lane.assign(lanes.size(), 0);
    const std::span<int32_t> mine = first ? lanes : std::span<int32_t>(state_->lane);
    const bool ok = instance.Call(Point::kFilter, "filter", [&](cox_error* error) {
      const int32_t code =
          instance.node_policy()->filter(instance.self(), &view, &shape, mine.data(), error);
      std::ranges::fill(mine.subspan(count), 0);
      if (code != COX_OK || AreVerdicts(mine)) return code;
      const auto bad = std::ranges::find_if_not(mine, IsVerdict);
      return Complain(error, Bad("verdict", *bad, static_cast<size_t>(bad - mine.begin()),
                                 "0, 1..32766 (+ COX_FIXED)"));
    });
    if (!ok) std::ranges::fill(mine.first(count), instance.deny_on_error() ? int32_t{kFailed} : 0);
    Sign(mine, static_cast<uint16_t>(i));
    if (!first) KeepFirst(lanes, mine);
    first = false;
  }
}

void Plugins::Score(const cox_view& view, const cox_shape& shape, std::span<int32_t> scores) {
  std::ranges::fill(scores, 0);
  Lane& mine = state_->lane;
  const size_t count = view.nodes->count;
  for (const auto& owned : state_->instances) {
    Instance& instance = *owned;
    if (!instance.Offers(Point::kScore)) continue;
    mine.assign(scores.size(), 0);
    const bool ok = instance.Call(Point::kScore, "score", [&](cox_error* error) {
      const int32_t code =
          instance.node_policy()->score(instance.self(), &view, &shape, mine.data(), error);
      std::ranges::fill(std::span(mine).subspan(count), 0);
      if (code != COX_OK || AreScores(mine)) return code;
      const auto bad = std::ranges::find_if_not(mine, IsScore);
      return Complain(error,
                      Bad("score", *bad, static_cast<size_t>(bad - mine.begin()), "0..10000"));
    });
    if (ok) AddTimes(scores, mine, static_cast<int32_t>(instance.weight()));
  }
}

Reason Plugins::ExplainNodes(const cox_view& view, const cox_shape& shape, Refusal refusal,
                             std::span<const uint32_t> nodes) {
  Instance& instance = *state_->instances[refusal.instance];
  if (refusal.verdict == kFailed) return FailedReason(instance);
  cox_reason abi{};
  abi.struct_size = sizeof abi;
  const cox_node_policy* policy = instance.node_policy();
  const bool told =
      COX_HAS(policy, explain) && policy->explain &&
      instance.Call(Point::kFilter, "explain", [&](cox_error* error) {
        return policy->explain(instance.self(), &view, &shape, refusal.verdict, nodes.data(),
                               static_cast<uint32_t>(nodes.size()), &abi, error);
      });
  if (!told) abi = {};
  Reason reason = FromAbi(abi, instance, "NodePolicy");
  if (reason.text.empty())
    reason.text = instance.ReasonText(refusal.verdict) + ": " + NodeList(*view.nodes, nodes);
  return reason;
}

FaultVerdict Plugins::Judge(const cox_failure& failure) {
  FaultVerdict merged;
  merged.failure_class = ClassOf(failure.cause);
  merged.reason = "NotJudged";
  merged.text = "not retried: no fault plugin gave a verdict";
  bool first = true;
  for (const auto& owned : state_->instances) {
    Instance& instance = *owned;
    if (!instance.Offers(Point::kFault)) continue;
    cox_fault_verdict abi{};
    abi.struct_size = sizeof abi;
    const bool ok = instance.Call(Point::kFault, "judge", [&](cox_error* error) {
      const int32_t code = instance.fault()->judge(instance.self(), &failure, &abi, error);
      if (code != COX_OK) return code;
      if (abi.failure_class > COX_CLASS_APP)
        return Complain(error, Bad("failure_class", abi.failure_class, 0, "0..4"));
      if (abi.backoff_ns < 0 || abi.exclude_ttl_ns < 0)
        return Complain(error, "backoff_ns or exclude_ttl_ns is negative");
      return int32_t{COX_OK};
    });
    if (!ok) continue;
    FaultVerdict mine{static_cast<model::FailureClass>(abi.failure_class),
                      abi.retry != 0,
                      abi.counts != 0,
                      abi.exclude_node != 0,
                      Duration(abi.backoff_ns),
                      Duration(abi.exclude_ttl_ns),
                      Text(abi.reason),
                      Text(abi.text)};
    // The words are those of the instance that decided: the first that fails the job, else the
    // first of all.
    const bool decides = first || (merged.retry && !mine.retry);
    FaultVerdict& words = decides ? mine : merged;
    words.counts = (!first && merged.counts) || abi.counts != 0;
    words.exclude_node = (!first && merged.exclude_node) || abi.exclude_node != 0;
    words.backoff = std::max(merged.backoff, Duration(abi.backoff_ns));
    words.exclude_ttl = std::max(merged.exclude_ttl, Duration(abi.exclude_ttl_ns));
    if (decides) merged = std::move(mine);
    first = false;
  }
  return merged;
}

void Plugins::Observe(const cox_samples& samples, const cox_targets& targets) {
  for (const auto& owned : state_->instances) {
    Instance& instance = *owned;
    if (!instance.Offers(Point::kMonitor)) continue;
    (void)instance.Call(Point::kMonitor, "observe", [&](cox_error* error) {
      return instance.monitor()->observe(instance.self(), &samples, &targets, error);
    });
  }
}

void Plugins::EndCycle() {
  for (const auto& instance : state_->instances) instance->EndCycle();
}

std::vector<Notice> Plugins::TakeNotices() {
  std::vector<Notice> notices;
  for (const auto& instance : state_->instances) instance->TakeNotices(notices);
  return notices;
}

std::vector<InstanceStatus> Plugins::Status() const {
  std::vector<InstanceStatus> rows;
  for (const auto& instance : state_->instances) rows.push_back(instance->Status());
  rows.insert(rows.end(), state_->failed.begin(), state_->failed.end());
  return rows;
}

}  // namespace cox::host
