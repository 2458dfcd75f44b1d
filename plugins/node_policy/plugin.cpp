// On which nodes may a job run, by the policies of its user and tenant, its own rule and its
// exclusions after failures? The shell around policies/node_rules.
#include <cox/plugin.hpp>
#include <string>
#include <vector>

#include "policies/node_rules.hpp"
#include "schema.hpp"
#include "text.hpp"

namespace {

namespace policies = cox::policies;

class NodeRules final : public cox::NodePolicy {
 public:
  explicit NodeRules(const cox::Config& config)
      : shown_nodes_(static_cast<size_t>(config.Int("shown_nodes"))) {}

  void Filter(const cox_view& view, const cox_shape& shape, cox::Span<int32_t> out) override {
    const Applicable rules = RulesFor(view, shape.job);
    if (rules.list.empty()) return;
    policies::Judge(rules.list, view.now_ns, {out.data(), view.nodes->count});
    // COX_FIXED: no eviction makes a forbidden node lawful.
    for (int32_t& verdict : out) verdict |= verdict != COX_ALLOW ? int32_t{COX_FIXED} : 0;
  }

  void ExplainNodes(const cox_view& view, const cox_shape& shape, cox_verdict verdict,
                    cox::Span<const uint32_t> nodes, cox_reason& out) override {
    const Applicable rules = RulesFor(view, shape.job);
    const auto ruling = static_cast<policies::NodeRuling>(verdict & 0x7fff);
    const std::span<const uint32_t> where(nodes.data(), nodes.size());
    std::string why, ids;
    for (const size_t i : policies::Causes(rules.list, view.now_ns, ruling, where)) {
      const uint32_t row = rules.row[i];
      const std::string id(cox::Str(view.policies->id[row]));
      why += (why.empty() ? "" : "; ") +
             text::Policy(view.policies->scope[row], id, view.policies->expires_ns[row]);
      if (!id.empty()) ids += (ids.empty() ? "" : ",") + id;
    }
    const std::string names = text::Nodes(*view.nodes, nodes, shown_nodes_);
    const int64_t lift = policies::EarliestLift(rules.list, view.now_ns, ruling, where);
    out.retry_at_ns = lift == INT64_MAX ? 0 : lift;
    cox::Put(out.policy, ids);
    cox::Put(out.code, ruling == policies::kExcluded ? "ExcludedAfterFailure" : "NodePolicy");
    // The first words are the platform's own (S80); people search for them.
    cox::Put(out.text, ruling == policies::kBlocked
                           ? "quota check failed due to node blacklist: " + names + " (" + why + ")"
                       : ruling == policies::kNotListed
                           ? "not listed by NodeIn: " + names + " (" + why + ")"
                           : "avoided after an earlier failure: " + names + " (" + why + ")");
  }

  const char* Reason(cox_verdict verdict) const override {
    return verdict == policies::kNotListed ? "not listed by a NodeIn policy"
           : verdict == policies::kBlocked ? "blocked by a NodeNotIn policy"
                                           : "excluded after a failure on it";
  }

 private:
  struct Applicable {
    std::vector<policies::NodeRule> list;
    std::vector<uint32_t> row;  // in view.policies
  };

  static Applicable RulesFor(const cox_view& view, uint32_t job) {
    Applicable rules;
    if (view.policies == nullptr) return rules;
    const cox_policies& all = *view.policies;
    for (uint32_t p = 0; p < all.count; ++p) {
      const uint64_t who = all.scope[p] == COX_SCOPE_USER     ? view.pending->user[job]
                           : all.scope[p] == COX_SCOPE_TENANT ? view.pending->tenant[job]
                                                              : view.pending->id[job];
      if (who != all.subject[p]) continue;
      rules.list.push_back({all.kind[p] == COX_NODE_IN,
                            static_cast<policies::RuleScope>(all.scope[p]),
                            all.expires_ns[p],
                            {all.node + all.node_begin[p], all.node + all.node_begin[p + 1]}});
      rules.row.push_back(p);
    }
    return rules;
  }

  const size_t shown_nodes_;
};

}  // namespace

COX_PLUGIN(NodeRules, "io.coxswain.node-policy", "1.0.0",
           "NodeIn and NodeNotIn of job, user and tenant; exclusions after failures", kSchema)
