#include <algorithm>
#include <limits>

#include "cycle/round.hpp"

namespace cox::cycle {
namespace {

int32_t Lane32(int64_t v) {
  return static_cast<int32_t>(std::min<int64_t>(v, std::numeric_limits<int32_t>::max()));
}

bool Holds(const std::vector<std::string>& names, const std::string& name) {
  return std::ranges::find(names, name) != names.end();
}

// S26, S36: which nodes serve this flavor from this source to this tenant, room aside.
Round::Nodes NodesFor(const model::Snapshot& snapshot, const model::Candidate& candidate,
                      const model::RoleDemand& role, const std::string& tenant,
                      const std::vector<std::string>* pin, const Domain* within) {
  const bool idle = candidate.source == spec::CapacityType::kIdle;
  std::vector<const spec::Pool*> pools;
  for (const spec::Pool& pool : snapshot.site->pools) {
    if ((candidate.pool.empty() || candidate.pool == pool.name) &&
        model::Offers(pool, candidate.source, role.flavor) &&
        (idle || !pool.dedicated || pool.tenant == tenant)) {
      pools.push_back(&pool);
    }
  }
  Round::Nodes nodes;
  nodes.suited.reserve(snapshot.nodes.size());
  nodes.usable.reserve(snapshot.nodes.size());
  for (const model::Node& node : snapshot.nodes) {
    const bool suits =
        (within == nullptr || within->has[nodes.suited.size()] != 0) &&
        (role.gpu_type.empty() || role.gpu_type == node.gpu_type) &&
        (pin == nullptr || Holds(*pin, node.name)) &&
        std::ranges::any_of(pools, [&](const auto* pool) { return Holds(node.pools, pool->name); });
    nodes.suited.push_back(suits);
    nodes.usable.push_back(suits && node.ready);
  }
  return nodes;
}

Field MakeField(Round& round, const Bid& bid, const model::RoleDemand& role) {
  const host::View& rows = round.board.rows();
  Field field;
  field.need = role.resources;
  if (!role.gpu_type.empty()) field.gpu_type = rows.GpuTypeRow(role.gpu_type);
  const auto own = round.pins.find(round.job(bid).id.value);
  const std::vector<std::string>* pin = own == round.pins.end() ? nullptr : own->second;
  std::string pinned;
  for (size_t i = 0; pin != nullptr && i < pin->size(); ++i) pinned += (*pin)[i] + ",";
  const auto [known, fresh] = round.nodes.try_emplace(
      {static_cast<uint32_t>(bid.candidate->source), rows.PoolRow(bid.candidate->pool),
       rows.FlavorRow(role.flavor), field.gpu_type, rows.table().pending->tenant[bid.job],
       std::move(pinned), bid.within});
  if (fresh) {
    known->second = NodesFor(round.snapshot, *bid.candidate, role, round.job(bid).owner.tenant, pin,
                             bid.within);
  }
  field.usable = &known->second.usable;
  field.suited = &known->second.suited;
  field.spread = round.job(bid).spread || round.snapshot.site->one_replica_per_node();
  return field;
}

}  // namespace

// The nodes that a job names itself are part of what it asks for, so it waits for their room as
// others do for a pool's. What others forbid it is the business of plugins.
void FindPins(Round& round) {
  for (const model::PolicyRow& policy : round.snapshot.policies) {
    if (policy.scope == model::PolicyRow::Scope::kJob &&
        policy.type == spec::NodePolicyType::kNodeIn && round.snapshot.now < policy.expires_at) {
      round.pins.emplace(policy.task.value, &policy.node_names);
    }
  }
}

void Select(Round& round, Bid& bid) {
  for (const model::RoleDemand& role : bid.candidate->roles) {
    Field field = MakeField(round, bid, role);
    auto twin = std::ranges::find_if(bid.fields, [&](const Field& f) {
      return f.need == field.need && f.usable == field.usable;
    });
    if (twin == bid.fields.end()) twin = bid.fields.insert(twin, std::move(field));
    twin->replicas += role.replicas;
    bid.field_of_role.push_back(static_cast<uint32_t>(twin - bid.fields.begin()));
  }
}

void JudgeNodes(Round& round, Bid& bid) {
  const cox_view& view = round.board.view();
  for (Field& field : bid.fields) {
    const cox_shape shape = ShapeOf(bid, field);
    if (round.plugins.Offers(host::Point::kFilter)) {
      field.verdicts.assign(view.nodes->stride, 0);
      round.plugins.Filter(view, shape, field.verdicts);
    }
    if (round.plugins.Offers(host::Point::kScore)) {
      field.scores.assign(view.nodes->stride, 0);
      round.plugins.Score(view, shape, field.scores);
    }
  }
}

cox_shape ShapeOf(const Bid& bid, const Field& field) {
  return {sizeof(cox_shape),
          bid.job,
          Lane32(field.need.cpu_milli),
          Lane32(field.need.mem_mib),
          Lane32(field.need.gpu_milli),
          field.gpu_type};
}

Shape ShapeOf(const Bid& bid) {
  Shape shape;
  for (const Field& f : bid.fields) {
    shape.emplace_back(f.usable, f.need.cpu_milli, f.need.mem_mib, f.need.gpu_milli, f.replicas,
                       f.spread);
  }
  return shape;
}

}  // namespace cox::cycle
