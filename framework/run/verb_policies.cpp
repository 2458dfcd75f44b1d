#include <algorithm>
#include <utility>

#include "run/verb.hpp"
#include "spec/validate.hpp"

namespace cox::run::verb {
namespace {

constexpr int64_t kMostTtl = 1'000'000'000;

}  // namespace

Result<Json> PolicyList(const Desk& desk) {
  Json policies = Json::array();
  for (const spec::NodePolicy& policy : desk.now_known.policies) {
    if (!MaySee(desk.peer, policy, desk.now)) continue;
    if (policy.expires_at <= desk.now && !Flag(desk.args, "all")) continue;
    policies.push_back(ToJson(policy));
  }
  return Json{{"policies", std::move(policies)}};
}

Served PolicyCreate(const Desk& desk, Reply reply) {
  spec::NodePolicy policy;
  policy.tenant_scope = Flag(desk.args, "tenant_scope");
  policy.subject = policy.tenant_scope ? desk.peer.who.tenant : desk.peer.who.user;
  const std::string type = Text(desk.args, "type");
  if (!type.empty() && type != "NodeIn" && type != "NodeNotIn") {
    return Result<Json>(
        InvalidArgument("args.type: \"" + type + "\" is neither NodeIn nor NodeNotIn (S72)"));
  }
  policy.type = type == "NodeIn" ? spec::NodePolicyType::kNodeIn : spec::NodePolicyType::kNodeNotIn;
  policy.node_names = Words(desk.args, "node_names");
  // Clamped: nanoseconds of some 300 years are more than 64 bits, and would pass for an hour.
  const int64_t ttl = Number(desk.args, "ttl_seconds", 0);
  policy.expires_at = desk.now + std::chrono::seconds(std::clamp(ttl, -kMostTtl, kMostTtl));
  policy.reason = Text(desk.args, "reason");
  policy.source = "user " + desk.peer.who.user;
  if (desk.args.contains("job")) {  // S81: prefilled with the job's nodes
    auto task = FindJob(desk);
    if (!task) return Result<Json>(task.error());
    policy.source += ", from job " + (*task)->name;
    if (policy.node_names.empty() && (*task)->placement) {
      for (const auto& r : (*task)->placement->replicas) policy.node_names.push_back(r.node);
    } else if (policy.node_names.empty() && !(*task)->attempts.empty()) {
      policy.node_names = (*task)->attempts.back().nodes;
    }
    std::ranges::sort(policy.node_names);
    policy.node_names.erase(std::unique(policy.node_names.begin(), policy.node_names.end()),
                            policy.node_names.end());
  }
  std::vector<std::string> known;
  for (const model::Node& node : desk.now_known.nodes) known.push_back(node.name);
  const spec::Verdict verdict = spec::Validate(policy, desk.peer.who, desk.now, known);
  if (!verdict.accepted()) {
    const bool forbidden = policy.tenant_scope && !desk.peer.who.admin;
    return Result<Json>(forbidden ? Forbidden(verdict.ErrorText())
                                  : InvalidArgument(verdict.ErrorText()));
  }
  return CreatePolicyRequest{
      std::move(policy),
      NameReply("id", std::move(reply), {{"warnings", Findings(verdict.warnings)}})};
}

Served PolicyDelete(const Desk& desk, Reply reply) {
  const std::string id = Text(desk.args, "id");
  for (const spec::NodePolicy& policy : desk.now_known.policies) {
    if (policy.id != id || !MaySee(desk.peer, policy, desk.now)) continue;
    if (!MayDelete(desk.peer, policy)) {
      return Result<Json>(
          Forbidden(id + " is a tenant's policy; only an administrator may delete it"));
    }
    return DeletePolicyRequest{id, NameReply("", std::move(reply))};
  }
  return Result<Json>(NotFound("no node policy " + id));
}

}  // namespace cox::run::verb
