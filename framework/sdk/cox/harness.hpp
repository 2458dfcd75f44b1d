// cox/harness.hpp -- runs a plugin's .so without a scheduler, for its author's tests. C++17, needs
// only the SDK and dlopen, and no particular test framework: what goes wrong is thrown as
// std::runtime_error.
//
//   cox::harness::Plugin plugin(COX_PLUGIN_UNDER_TEST, R"({"cooldown_s": 600})");
//   EXPECT_EQ(plugin.Filter(cluster)["n2"], "node returned too recently");
#pragma once

#include <cox/plugin.h>
#include <dlfcn.h>
#include <cox/harness/cluster.hpp>
#include <cox/harness/json.hpp>

#include <cstdlib>
#include <cstring>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace cox::harness {

struct Explained {
  std::string code, text, policy;
  int64_t retry_at_s = 0;  // 0: no timer
  uint32_t row = 0;
};

class Plugin {
 public:
  // Loads and creates. The configuration is JSON; the schema's defaults fill the rest.
  explicit Plugin(const std::string& path, const std::string& config = "{}") {
    library_ = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library_ == nullptr) throw std::runtime_error(dlerror());
    auto* entry =
        reinterpret_cast<decltype(&cox_plugin_entry)>(dlsym(library_, "cox_plugin_entry"));
    if (entry == nullptr) throw std::runtime_error(path + " does not export cox_plugin_entry");
    table_ = entry();
    if (table_ == nullptr || table_->abi_major != COX_ABI_MAJOR)
      throw std::runtime_error(path + " was built for another plugin ABI");
    config_ = ParseJson(config);
    FillDefaults(config_, ParseJson(table_->config_schema));
    host_ = {sizeof host_, 0, this, &Log, &Count, &Int, &Double, &Str, &Len};
    cox_error error{sizeof error, {}};
    if (table_->create(&host_, &self_, &error) != COX_OK)
      throw std::runtime_error(std::string("create: ") + error.text);
  }
  ~Plugin() {
    if (self_ != nullptr) table_->destroy(self_);
    dlclose(library_);
  }
  Plugin(const Plugin&) = delete;
  Plugin& operator=(const Plugin&) = delete;

  const cox_plugin& table() const { return *table_; }
  void* self() const { return self_; }
  const std::vector<std::string>& log() const { return log_; }

  template <class Table>
  const Table* Find(const char* extension) const {
    return static_cast<const Table*>(table_->extension(self_, extension));
  }

  // Node name -> the reason against it, "" = allowed.
  std::map<std::string, std::string> Filter(Cluster& cluster, uint32_t job = 0) {
    const auto verdicts = FilterVerdicts(cluster, Cluster::Shape(job));
    std::map<std::string, std::string> out;
    for (size_t i = 0; i < verdicts.size(); ++i)
      out[cluster.nodes()[i].name] = verdicts[i] == 0 ? "" : Reason(verdicts[i]);
    return out;
  }
  std::vector<int32_t> FilterVerdicts(Cluster& cluster, const cox_shape& shape) {
    const auto* hooks = Need<cox_node_policy>(COX_EXT_NODE_POLICY);
    return Lanes(cluster, shape, hooks->filter, "filter");
  }
  std::vector<int32_t> Score(Cluster& cluster, const cox_shape& shape = Cluster::Shape()) {
    const auto* hooks = Need<cox_node_policy>(COX_EXT_NODE_POLICY);
    return Lanes(cluster, shape, hooks->score, "score");
  }
  // The node that a scheduler with this plugin alone would take: best score among the allowed, ties
  // by name. "" = none is allowed.
  std::string Best(Cluster& cluster, const cox_shape& shape = Cluster::Shape()) {
    const auto* hooks = Need<cox_node_policy>(COX_EXT_NODE_POLICY);
    std::vector<int32_t> verdicts(cluster.nodes().size()), scores(cluster.nodes().size());
    if (hooks->filter != nullptr) verdicts = FilterVerdicts(cluster, shape);
    if (hooks->score != nullptr) scores = Score(cluster, shape);
    std::string best;
    int32_t best_score = -1;
    for (size_t i = 0; i < verdicts.size(); ++i) {
      const std::string& name = cluster.nodes()[i].name;
      if (verdicts[i] != 0 || scores[i] < best_score) continue;
      if (scores[i] == best_score && name > best) continue;
      best = name, best_score = scores[i];
    }
    return best;
  }
  Explained ExplainNodes(Cluster& cluster, cox_verdict verdict, const std::vector<uint32_t>& nodes,
                         uint32_t job = 0) {
    const auto* hooks = Need<cox_node_policy>(COX_EXT_NODE_POLICY);
    const cox_shape shape = Cluster::Shape(job);
    return Explain("explain", [&](cox_reason* out, cox_error* error) {
      return hooks->explain(self_, &cluster.view(), &shape, verdict, nodes.data(),
                            static_cast<uint32_t>(nodes.size()), out, error);
    });
  }

  std::vector<int64_t> Rank(Cluster& cluster) {
    const auto* hooks = Need<cox_priority>(COX_EXT_PRIORITY);
    std::vector<int64_t> out(cluster.jobs().size());
    Call("rank",
         [&](cox_error* error) { return hooks->rank(self_, &cluster.view(), out.data(), error); });
    return out;
  }

  // Of each ask of the cluster; 0 = allowed.
  std::vector<cox_verdict> Admit(Cluster& cluster) {
    const auto* hooks = Need<cox_quota>(COX_EXT_QUOTA);
    const cox_view& view = cluster.view();
    const cox_asks& asks = cluster.asks_of_view();
    std::vector<cox_verdict> out(asks.count);
    Call("admit",
         [&](cox_error* error) { return hooks->admit(self_, &view, &asks, out.data(), error); });
    return out;
  }
  Explained ExplainQuota(Cluster& cluster, uint32_t ask, cox_verdict verdict) {
    const auto* hooks = Need<cox_quota>(COX_EXT_QUOTA);
    const cox_view& view = cluster.view();
    const cox_asks& asks = cluster.asks_of_view();
    return Explain("explain", [&](cox_reason* out, cox_error* error) {
      return hooks->explain(self_, &view, &asks, ask, verdict, out, error);
    });
  }

  cox_fault_verdict Judge(cox_failure failure) {
    const auto* hooks = Need<cox_fault>(COX_EXT_FAULT);
    cox_fault_verdict out{};
    out.struct_size = sizeof out;
    failure.struct_size = sizeof failure;
    Call("judge", [&](cox_error* error) { return hooks->judge(self_, &failure, &out, error); });
    return out;
  }

  void Observe(const cox_samples& samples, const cox_targets& targets) {
    const auto* hooks = Need<cox_monitor>(COX_EXT_MONITOR);
    Call("observe",
         [&](cox_error* error) { return hooks->observe(self_, &samples, &targets, error); });
  }

  std::string Reason(int32_t verdict) const {
    const char* text = table_->reason(self_, static_cast<cox_verdict>(verdict & 0x7fff));
    return text != nullptr ? text : "";
  }

 private:
  template <class Table>
  const Table* Need(const char* extension) const {
    const auto* table = Find<Table>(extension);
    if (table == nullptr)
      throw std::runtime_error(std::string("the plugin does not offer ") + extension);
    return table;
  }

  template <class F>
  static void Call(const char* function, F&& f) {
    cox_error error{sizeof error, {}};
    if (const int32_t code = f(&error); code != COX_OK)
      throw std::runtime_error(std::string(function) + " returned " + std::to_string(code) + ": " +
                               error.text);
  }

  template <class F>
  static Explained Explain(const char* function, F&& f) {
    cox_reason reason{};
    reason.struct_size = sizeof reason;
    Call(function, [&](cox_error* error) { return f(&reason, error); });
    return {reason.code, reason.text, reason.policy, reason.retry_at_ns / kSecond, reason.row};
  }

  template <class Hook>
  std::vector<int32_t> Lanes(Cluster& cluster, const cox_shape& shape, Hook hook,
                             const char* function) {
    if (hook == nullptr) throw std::runtime_error(std::string("the plugin has no ") + function);
    const cox_view& view = cluster.view();
    std::vector<int32_t> memory(view.nodes->stride + 16);
    const auto address = reinterpret_cast<uintptr_t>(memory.data());
    int32_t* lanes = memory.data() + ((64 - address % 64) % 64) / sizeof(int32_t);
    Call(function, [&](cox_error* error) { return hook(self_, &view, &shape, lanes, error); });
    return std::vector<int32_t>(lanes, lanes + view.nodes->count);
  }

  static const Json* Find(void* ctx, cox_str key) {
    return static_cast<Plugin*>(ctx)->config_.At({key.ptr, key.len});
  }
  static void Log(void* ctx, int32_t, cox_str message) {
    static_cast<Plugin*>(ctx)->log_.emplace_back(message.ptr, message.len);
  }
  static void Count(void*, cox_str, double) {}
  static int32_t Int(void* ctx, cox_str key, int64_t* out) {
    const Json* value = Find(ctx, key);
    if (value == nullptr) return COX_INVALID_ARGUMENT;
    if (value->kind == Json::Kind::kBool) return *out = value->text == "true", COX_OK;
    if (value->kind != Json::Kind::kNumber || value->text.find_first_of(".eE") != std::string::npos)
      return COX_INVALID_ARGUMENT;
    *out = std::strtoll(value->text.c_str(), nullptr, 10);
    return COX_OK;
  }
  static int32_t Double(void* ctx, cox_str key, double* out) {
    const Json* value = Find(ctx, key);
    if (value == nullptr || value->kind != Json::Kind::kNumber) return COX_INVALID_ARGUMENT;
    *out = std::strtod(value->text.c_str(), nullptr);
    return COX_OK;
  }
  static int32_t Str(void* ctx, cox_str key, cox_str* out) {
    const Json* value = Find(ctx, key);
    if (value == nullptr || value->kind != Json::Kind::kString) return COX_INVALID_ARGUMENT;
    *out = {value->text.data(), value->text.size()};
    return COX_OK;
  }
  static int32_t Len(void* ctx, cox_str key, uint32_t* out) {
    const Json* value = Find(ctx, key);
    if (value == nullptr) return COX_INVALID_ARGUMENT;
    if (value->kind != Json::Kind::kArray && value->kind != Json::Kind::kObject)
      return COX_INVALID_ARGUMENT;
    *out = static_cast<uint32_t>(value->items.size() + value->members.size());
    return COX_OK;
  }

  void* library_ = nullptr;
  const cox_plugin* table_ = nullptr;
  void* self_ = nullptr;
  cox_host host_{};
  Json config_;
  std::vector<std::string> log_;
};

}  // namespace cox::harness
