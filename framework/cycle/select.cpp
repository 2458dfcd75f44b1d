#include <algorithm>
#include <limits>

#include "cycle/round.hpp"

namespace cox::cycle {
namespace {

int32_t Lane32(int64_t v) {
  return static_cast<int32_t>(std::min<int64_t>(v, std::numeric_limits<int32_t>::max()));
}

// S26, S36: which nodes serve this flavor from this source to this tenant, room aside.
std::vector<uint8_t> UsableNodes(const model::Snapshot& snapshot, const model::Candidate& candidate,
                                 const model::RoleDemand& role, const std::string& tenant) {
  const bool idle = candidate.source == spec::CapacityType::kIdle;
  std::vector<const spec::Pool*> pools;
  for (const spec::Pool& pool : snapshot.site->pools) {
    if ((candidate.pool.empty() || candidate.pool == pool.name) &&
        model::Offers(pool, candidate.source, role.flavor) &&
        (idle || !pool.dedicated || pool.tenant == tenant)) {
      pools.push_back(&pool);
    }
  }
  std::vector<uint8_t> usable(snapshot.nodes.size());
  std::ranges::transform(snapshot.nodes, usable.begin(), [&](const model::Node& node) {
    return node.ready && (role.gpu_type.empty() || role.gpu_type == node.gpu_type) &&
           std::ranges::any_of(pools, [&](const spec::Pool* pool) {
             return std::ranges::find(node.pools, pool->name) != node.pools.end();
           });
  });
  return usable;
}

Field MakeField(Round& round, const Bid& bid, const model::RoleDemand& role) {
  const host::View& rows = round.board.rows();
  Field field;
  field.need = role.resources;
  if (!role.gpu_type.empty()) field.gpu_type = rows.GpuTypeRow(role.gpu_type);
  const auto [known, fresh] = round.usable.try_emplace(
      {static_cast<uint32_t>(bid.candidate->source), rows.PoolRow(bid.candidate->pool),
       rows.FlavorRow(role.flavor), field.gpu_type, rows.table().pending->tenant[bid.job]});
  if (fresh) {
    known->second = UsableNodes(round.snapshot, *bid.candidate, role, round.job(bid).owner.tenant);
  }
  field.usable = &known->second;
  field.spread = round.snapshot.site->one_replica_per_node();
  return field;
}

}  // namespace

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
    shape.emplace_back(f.usable, f.need.cpu_milli, f.need.mem_mib, f.need.gpu_milli, f.replicas);
  }
  return shape;
}

}  // namespace cox::cycle
