// Nodes to use and nodes to avoid, as objects and as a part of a job: S71-S76, D11.
#include <string_view>
#include <unordered_set>

#include "spec/rules.hpp"
#include "spec/text.hpp"

namespace cox::spec {
namespace {

constexpr size_t kLongestNodeName = 253, kLongestReason = 1024;
constexpr size_t kMostNames = 65536;  // as in a site file
constexpr size_t kMostWarnings = 10;  // each looks for the name that may have been meant

void CheckNames(const std::string& path, const std::vector<std::string>& names,
                const std::vector<std::string>& known, Verdict& verdict) {
  if (names.empty()) Reject(verdict, path, "is empty; name at least one node", "S72");
  if (names.size() > kMostNames) {
    return Reject(
        verdict, path,
        "has " + std::to_string(names.size()) + " names; at most " + std::to_string(kMostNames),
        "S72");
  }
  const std::unordered_set<std::string_view> is_known(known.begin(), known.end());
  size_t unknown = 0;
  for (size_t i = 0; i < names.size(); ++i) {
    if (!IsName(names[i], kLongestNodeName)) {
      Reject(verdict, At(path, i), Quote(names[i]) + " is not the name of a node", "S72");
    } else if (!known.empty() && !is_known.contains(names[i]) && ++unknown <= kMostWarnings) {
      Warn(verdict, At(path, i),
           Quote(names[i]) + " is not a node that is known here" + DidYouMean(names[i], known),
           "S72");
    }
  }
  if (unknown > kMostWarnings) {
    Warn(verdict, path,
         std::to_string(unknown - kMostWarnings) + " more names are not those of known nodes",
         "S72");
  }
}

void CheckScope(const NodePolicy& policy, const Submitter& who, Verdict& verdict) {
  if (policy.tenant_scope && !who.admin) {
    Reject(verdict, "scope", "Tenant needs an administrator; user " + Quote(who.user) + " is none",
           "S75");
  }
  const std::string& own = policy.tenant_scope ? who.tenant : who.user;
  if (policy.subject != own) {
    Reject(verdict, "subject",
           Quote(policy.subject) + " is not you; a policy of this scope is for " + Quote(own),
           "S75");
  }
}

void CheckExpiry(TimePoint expires_at, TimePoint now, Verdict& verdict) {
  const char* const allowed = "between 1 minute and 72 hours (259200 s) from now";
  if (expires_at == kNever) {
    return Reject(verdict, "expiresAt", std::string("is required: ") + allowed, "S76");
  }
  const Duration left = expires_at - now;
  if (left < std::chrono::seconds(kMinPolicySeconds) ||
      left > std::chrono::seconds(kMaxPolicySeconds)) {
    const auto seconds = std::chrono::ceil<std::chrono::seconds>(left).count();
    Reject(verdict, "expiresAt", std::to_string(seconds) + " s from now is not " + allowed, "S76");
  }
}

}  // namespace

Verdict Validate(const NodePolicy& policy, const Submitter& who, TimePoint now,
                 const std::vector<std::string>& known_nodes) {
  Verdict verdict;
  CheckScope(policy, who, verdict);
  CheckNames("nodeNames", policy.node_names, known_nodes, verdict);
  if (policy.workload_types != std::vector<std::string>{"task"}) {
    Reject(verdict, "workloadTypes", "[" + Join(policy.workload_types) + "] is not [task]", "S72");
  }
  CheckExpiry(policy.expires_at, now, verdict);
  if (policy.reason.size() > kLongestReason) {
    Reject(verdict, "reason",
           "has " + std::to_string(policy.reason.size()) + " bytes; at most " +
               std::to_string(kLongestReason),
           "S72");
  }
  return verdict;
}

void CheckJobNodePolicy(const Case& c, Verdict& verdict) {
  if (!c.job.scheduling.node_policy) return;
  const JobNodePolicy& policy = *c.job.scheduling.node_policy;
  const std::string path = "spec.scheduling.nodePolicy";
  std::vector<std::string> known;
  for (const Pool& pool : c.site.pools) {
    known.insert(known.end(), pool.nodes.begin(), pool.nodes.end());
  }
  CheckNames(path + ".nodeNames", policy.node_names, known, verdict);
  const auto ttl = policy.ttl_seconds;
  if (policy.type == NodePolicyType::kNodeIn) {
    if (ttl) {
      Reject(verdict, path + ".ttlSeconds", "a NodeIn of a job lasts as long as the job; remove it",
             "D11");
    }
  } else if (!ttl) {
    Reject(verdict, path + ".ttlSeconds", "is required for NodeNotIn: 60 to 259200", "S76");
  } else if (*ttl < kMinPolicySeconds || *ttl > kMaxPolicySeconds) {
    Reject(verdict, path + ".ttlSeconds",
           std::to_string(*ttl) + " is not between 60 and 259200 (1 minute to 72 hours)", "S76");
  }
}

}  // namespace cox::spec
