// Which nodes a job may use, by its own rule and the policies of its user and tenant (2.7):
//   allowed = job.NodeIn and (union of the user's NodeIn) and (union of the tenant's NodeIn)
//             - every NodeNotIn - nodes excluded after failures
// A scope without any NodeIn allows all. Deny wins; a rule holds while now < expires (S78). Pure.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace cox::policies {

enum class RuleScope { kJob, kUser, kTenant, kFailure };

struct NodeRule {      // one that applies to the job at hand
  bool allow = false;  // NodeIn; else NodeNotIn
  RuleScope scope = RuleScope::kUser;
  int64_t expires_ns = INT64_MAX;  // exclusive
  std::span<const uint32_t> nodes;
};

// What keeps the job off a node. Not listed comes first: lifting the blocks would not help there
// (S80 names a block only where it is the cause).
enum NodeRuling : int32_t { kAllowed = 0, kNotListed = 1, kBlocked = 2, kExcluded = 3 };

// out[node] for each node. Rules may stand in any order.
void Judge(std::span<const NodeRule> rules, int64_t now_ns, std::span<int32_t> out);

// Rows of `rules` that have a part in `ruling` on at least one of `nodes`, in order.
std::vector<size_t> Causes(std::span<const NodeRule> rules, int64_t now_ns, NodeRuling ruling,
                           std::span<const uint32_t> nodes);

// When the first of `nodes` becomes free by expiry alone: its last rule of that kind ends then.
// INT64_MAX: never.
int64_t EarliestLift(std::span<const NodeRule> rules, int64_t now_ns, NodeRuling ruling,
                     std::span<const uint32_t> nodes);

}  // namespace cox::policies
