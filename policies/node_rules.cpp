#include "policies/node_rules.hpp"

#include <algorithm>
#include <limits>

namespace cox::policies {
namespace {

bool Lists(const NodeRule& rule, uint32_t node) {
  return std::ranges::find(rule.nodes, node) != rule.nodes.end();
}

// Does any NodeIn of this scope, now in force, list the node? One that does is enough.
bool ScopeLists(std::span<const NodeRule> rules, int64_t now_ns, RuleScope scope, uint32_t node) {
  return std::ranges::any_of(rules, [&](const NodeRule& rule) {
    return rule.allow && rule.scope == scope && now_ns < rule.expires_ns && Lists(rule, node);
  });
}

// Has the rule a part in `ruling` on `node`?
bool Contributes(std::span<const NodeRule> rules, const NodeRule& rule, int64_t now_ns,
                 NodeRuling ruling, uint32_t node) {
  if (now_ns >= rule.expires_ns || ruling == kAllowed) return false;
  if (ruling == kNotListed) return rule.allow && !ScopeLists(rules, now_ns, rule.scope, node);
  const bool failure = rule.scope == RuleScope::kFailure;
  return !rule.allow && failure == (ruling == kExcluded) && Lists(rule, node);
}

}  // namespace

void Judge(std::span<const NodeRule> rules, int64_t now_ns, std::span<int32_t> out) {
  std::ranges::fill(out, kAllowed);
  const auto set = [&](const NodeRule& rule, int32_t ruling) {
    for (const uint32_t node : rule.nodes)
      if (node < out.size()) out[node] = ruling;
  };
  // Later passes overwrite earlier ones: excluded < blocked < not listed.
  for (const NodeRule& rule : rules)
    if (!rule.allow && rule.scope == RuleScope::kFailure && now_ns < rule.expires_ns)
      set(rule, kExcluded);
  for (const NodeRule& rule : rules)
    if (!rule.allow && rule.scope != RuleScope::kFailure && now_ns < rule.expires_ns)
      set(rule, kBlocked);
  for (const RuleScope scope :
       {RuleScope::kJob, RuleScope::kUser, RuleScope::kTenant, RuleScope::kFailure}) {
    std::vector<bool> listed(out.size());
    bool restricted = false;
    for (const NodeRule& rule : rules) {
      if (!rule.allow || rule.scope != scope || now_ns >= rule.expires_ns) continue;
      restricted = true;
      for (const uint32_t node : rule.nodes)
        if (node < out.size()) listed[node] = true;
    }
    if (!restricted) continue;
    for (size_t n = 0; n < out.size(); ++n)
      if (!listed[n]) out[n] = kNotListed;
  }
}

std::vector<size_t> Causes(std::span<const NodeRule> rules, int64_t now_ns, NodeRuling ruling,
                           std::span<const uint32_t> nodes) {
  std::vector<size_t> causes;
  for (size_t i = 0; i < rules.size(); ++i)
    if (std::ranges::any_of(nodes, [&](uint32_t node) {
          return Contributes(rules, rules[i], now_ns, ruling, node);
        }))
      causes.push_back(i);
  return causes;
}

int64_t EarliestLift(std::span<const NodeRule> rules, int64_t now_ns, NodeRuling ruling,
                     std::span<const uint32_t> nodes) {
  constexpr int64_t kNever = std::numeric_limits<int64_t>::max();
  int64_t earliest = kNever;
  for (const uint32_t node : nodes) {
    int64_t last = -1;
    for (const NodeRule& rule : rules)
      if (Contributes(rules, rule, now_ns, ruling, node)) last = std::max(last, rule.expires_ns);
    if (last >= 0) earliest = std::min(earliest, last);
  }
  return earliest;
}

}  // namespace cox::policies
