// Plugins that are linked into the test, and a small view for them to judge.
#pragma once

#include <gtest/gtest.h>

#include <cox/harness/cluster.hpp>
#include <cox/plugin.hpp>
#include <string>
#include <utility>
#include <vector>

#include "host/plugins.hpp"

namespace cox::host::testing {

constexpr char kFreeForm[] = R"({"additionalProperties": true})";

// The one table of class P.
template <class P>
const cox_plugin* TableOf() {
  static const cox_plugin table = MakePlugin<P>("test.fake", "1.0", "a fake", kFreeForm);
  return &table;
}

inline spec::PluginConfig Named(std::string name, std::string json = "{}") {
  spec::PluginConfig config;
  config.name = std::move(name);
  config.config_json = std::move(json);
  return config;
}

template <class P>
StaticPlugin Static(std::string name, std::string json = "{}") {
  return {TableOf<P>(), Named(std::move(name), std::move(json))};
}

inline Plugins Make(const std::vector<StaticPlugin>& tables, const Options& options = {}) {
  auto plugins = Plugins::Create(tables, options);
  EXPECT_TRUE(plugins) << (plugins ? "" : plugins.error().text);
  return plugins ? std::move(*plugins) : Plugins();
}

// Three nodes, two jobs, one ask each.
inline harness::Cluster Small() {
  using namespace harness;
  return Cluster()
      .Add(harness::Node("n1"))
      .Add(harness::Node("n2"))
      .Add(harness::Node("n3"))
      .Add(Job(1))
      .Add(Job(2))
      .Add(Ask(0, COX_RESERVED, "p", "f", 1))
      .Add(Ask(1, COX_RESERVED, "p", "f", 2));
}

// Refuses asks of at least `units`, with code `code`.
class Limit final : public Quota {
 public:
  explicit Limit(const cox::Config& c) : units_(c.Int("units")), code_(c.Int("code")) {}
  void Admit(const cox_view&, const cox_asks& asks, Span<cox_verdict> out) override {
    for (uint32_t a = 0; a < asks.count; ++a)
      if (asks.units[a] >= units_) out[a] = static_cast<cox_verdict>(code_);
  }
  void Explain(const cox_view&, const cox_asks&, uint32_t ask, cox_verdict,
               cox_reason& out) override {
    if (ask == 0) throw 7;
    Put(out.code, "TooMuch");
    Put(out.text, "ask " + std::to_string(ask));
    Put(out.policy, "q-1");
    out.retry_at_ns = 5;
    out.row = 99;  // outside the ledger
  }
  const char* Reason(cox_verdict) const override { return "over the limit"; }

 private:
  int64_t units_, code_;
};

// Ranks job j with base + j.
class Linear final : public Priority {
 public:
  explicit Linear(const cox::Config& c) : base_(c.Int("base")) {}
  void Rank(const cox_view&, Span<int64_t> out) override {
    for (size_t j = 0; j < out.size(); ++j) out[j] = base_ + static_cast<int64_t>(j);
  }

 private:
  int64_t base_;
};

// Gives node `node` the verdict and the score of the configuration.
class OneNode final : public NodePolicy {
 public:
  explicit OneNode(const cox::Config& c)
      : node_(static_cast<size_t>(c.Int("node"))),
        verdict_(static_cast<int32_t>(c.Int("verdict"))),
        score_(static_cast<int32_t>(c.Int("score"))) {}
  void Filter(const cox_view&, const cox_shape&, Span<int32_t> out) override {
    out[node_] = verdict_;
    out[out.size() - 1] = 77;  // a row beyond count: must not matter
  }
  void Score(const cox_view&, const cox_shape&, Span<int32_t> out) override { out[node_] = score_; }
  const char* Reason(cox_verdict) const override { return "no"; }

 private:
  size_t node_;
  int32_t verdict_, score_;
};

// Returns what the configuration says.
class Ruling final : public Fault {
 public:
  explicit Ruling(const cox::Config& c)
      : class_(static_cast<uint32_t>(c.Int("class"))),
        retry_(static_cast<uint32_t>(c.Int("retry"))),
        counts_(static_cast<uint32_t>(c.Int("counts"))),
        exclude_(static_cast<uint32_t>(c.Int("exclude"))),
        backoff_(c.Int("backoff")),
        reason_(c.Str("reason")) {}
  void Judge(const cox_failure&, cox_fault_verdict& out) override {
    out.failure_class = class_;
    out.retry = retry_;
    out.counts = counts_;
    out.exclude_node = exclude_;
    out.backoff_ns = backoff_;
    out.exclude_ttl_ns = backoff_;
    Put(out.reason, reason_);
    Put(out.text, reason_);
  }

 private:
  uint32_t class_, retry_, counts_, exclude_;
  int64_t backoff_;
  std::string reason_;
};

// Throws whatever is asked of it, at every point.
class Thrower final : public Quota,
                      public Priority,
                      public NodePolicy,
                      public Fault,
                      public Monitor {
 public:
  explicit Thrower(const cox::Config&) {}
  void Admit(const cox_view&, const cox_asks&, Span<cox_verdict>) override { throw 7; }
  void Rank(const cox_view&, Span<int64_t>) override { throw 7; }
  void Filter(const cox_view&, const cox_shape&, Span<int32_t>) override { throw 7; }
  void Score(const cox_view&, const cox_shape&, Span<int32_t>) override { throw 7; }
  void Judge(const cox_failure&, cox_fault_verdict&) override { throw 7; }
  void Observe(const cox_samples&, const cox_targets&) override { throw 7; }
};

}  // namespace cox::host::testing
