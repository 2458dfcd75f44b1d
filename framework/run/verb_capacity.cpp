#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "model/stability.hpp"
#include "run/verb.hpp"

namespace cox::run::verb {
namespace {

Json ToJsonOf(const Resources& r) {
  return {{"cpu_milli", r.cpu_milli}, {"mem_mib", r.mem_mib}, {"gpu_milli", r.gpu_milli}};
}

std::map<std::string, Resources> FreeByNode(const Published& p) {
  std::map<std::string, Resources> free;
  for (const model::Node& node : p.nodes) free[node.name] = node.capacity - node.unmanaged;
  for (const auto& [id, task] : p.tasks) {
    if (!task->placement) continue;
    for (const model::Replica& replica : task->placement->replicas) {
      const auto it = free.find(replica.node);
      if (it != free.end()) it->second -= replica.resources;
    }
  }
  return free;
}

int64_t Units(const Resources& room, const spec::Flavor& flavor) {
  int64_t units = INT64_MAX;
  const auto bound = [&](int64_t have, int64_t each) {
    if (each > 0) units = std::min(units, std::max<int64_t>(0, have) / each);
  };
  bound(room.cpu_milli, flavor.unit.cpu_milli);
  bound(room.mem_mib, flavor.unit.mem_mib);
  bound(room.gpu_milli, flavor.unit.gpu_milli);
  return units == INT64_MAX ? 0 : units;
}

struct Stock {  // in units; total = used + free + not_ready
  int64_t total = 0, used = 0, free = 0;
  int64_t not_ready = 0;                 // free on nodes that are drained or down
  std::map<int64_t, int64_t> fragments;  // free units -> nodes (2.4)
};

Stock StockOf(const Published& p, const std::map<std::string, Resources>& free,
              const spec::Pool& pool, const spec::Flavor& flavor) {
  Stock stock;
  for (const model::Node& node : p.nodes) {
    if (std::ranges::find(node.pools, pool.name) == node.pools.end()) continue;
    if (!flavor.gpu_type.empty() && node.gpu_type != flavor.gpu_type) continue;
    const int64_t total = Units(node.capacity, flavor);
    const int64_t units = Units(free.at(node.name), flavor);
    stock.total += total;
    stock.used += total - units;
    (node.ready ? stock.free : stock.not_ready) += units;
    if (node.ready && units > 0) ++stock.fragments[units];
  }
  return stock;
}

Json ToJsonOf(const std::map<int64_t, int64_t>& fragments) {  // the largest first
  Json rows = Json::array();
  for (auto it = fragments.rbegin(); it != fragments.rend(); ++it) {
    rows.push_back({{"nodes", it->second}, {"free_units", it->first}});
  }
  return rows;
}

// 2.3, 2.4: what idle jobs of each stability may use. High is an amount of the pool; it is shown on
// the emptiest nodes first.
Json IdleOf(const Published& p, const spec::Pool& pool, const spec::Flavor& flavor,
            const Stock& stock) {
  Resources surplus = model::Surplus(*p.site, p.nodes, *p.ledger, pool.name);
  for (const auto& [id, task] : p.tasks) {
    if (task->placement && model::UsesSurplus(task->placement->candidate, pool.name))
      surplus -= model::TotalOf(task->placement->candidate);
  }
  int64_t left = Units(surplus, flavor);
  Stock high;
  for (auto it = stock.fragments.rbegin(); it != stock.fragments.rend(); ++it) {
    for (int64_t node = 0; node < it->second && left > 0; ++node) {
      const int64_t units = std::min(left, it->first);
      ++high.fragments[units];
      high.free += units;
      left -= units;
    }
  }
  Json levels = Json::array();
  for (const char* level : {"high", "medium", "low"}) {
    const Stock& offered = levels.empty() ? high : stock;
    levels.push_back(
        {{"stability", level}, {"free", offered.free}, {"fragments", ToJsonOf(offered.fragments)}});
  }
  return levels;
}

bool IsSoldIn(const spec::Pool& pool, const spec::Flavor& flavor) {
  return pool.flavors.empty() || std::ranges::find(pool.flavors, flavor.name) != pool.flavors.end();
}

std::optional<spec::CapacityType> CapacityFrom(const std::string& word) {
  for (const auto type : {spec::CapacityType::kReserved, spec::CapacityType::kOnDemand,
                          spec::CapacityType::kSpot, spec::CapacityType::kIdle}) {
    if (word == spec::Name(type)) return type;
  }
  return std::nullopt;
}

}  // namespace

Result<Json> Pools(const Desk& desk) {
  const Published& p = desk.now_known;
  const auto free = FreeByNode(p);
  Json pools = Json::array();
  for (const spec::Pool& pool : p.site->pools) {
    const bool closed = pool.dedicated && pool.tenant != desk.peer.who.tenant;  // S26
    if (closed && !desk.peer.who.admin) continue;
    Json nodes = Json::array(), flavors = Json::array();
    for (const model::Node& node : p.nodes) {
      if (std::ranges::find(node.pools, pool.name) != node.pools.end()) nodes.push_back(node.name);
    }
    for (const spec::Flavor& flavor : p.site->flavors) {
      if (!IsSoldIn(pool, flavor)) continue;
      const Stock stock = StockOf(p, free, pool, flavor);
      flavors.push_back(
          {{"name", flavor.name},
           {"total", stock.total},
           {"used", stock.used},
           {"free", stock.free},
           {"not_ready", stock.not_ready},
           {"fragments", ToJsonOf(stock.fragments)},
           {"idle", pool.lends_idle ? IdleOf(p, pool, flavor, stock) : Json::array()}});
    }
    pools.push_back({{"name", pool.name},
                     {"dedicated", pool.dedicated},
                     {"nodes", std::move(nodes)},
                     {"flavors", std::move(flavors)}});
  }
  return Json{{"at", ToNanos(p.now)}, {"pools", std::move(pools)}};
}

Result<Json> Flavors(const Desk& desk) {
  const Published& p = desk.now_known;
  const std::string word = Text(desk.args, "capacity_type");
  const auto type = CapacityFrom(word);
  if (!word.empty() && !type) {
    return InvalidArgument("capacity type \"" + word +
                           "\" is not one of reserved, on-demand, spot, idle");
  }
  // S29: what nobody can get now is not offered; quota alone decides about the other two.
  const bool needs_room = type == spec::CapacityType::kSpot || type == spec::CapacityType::kIdle;
  const auto free = FreeByNode(p);
  Json flavors = Json::array();
  for (const spec::Flavor& flavor : p.site->flavors) {
    Json pools = Json::array();
    for (const spec::Pool& pool : p.site->pools) {
      if (!IsSoldIn(pool, flavor)) continue;
      if (type && !model::Offers(pool, *type, flavor.name)) continue;
      if (needs_room && StockOf(p, free, pool, flavor).free == 0) continue;
      pools.push_back(pool.name);
    }
    if (type && pools.empty()) continue;
    flavors.push_back({{"name", flavor.name},
                       {"class", flavor.gpu_class ? "GPU" : "CPU"},
                       {"gpu_type", flavor.gpu_type},
                       {"unit", ToJsonOf(flavor.unit)},
                       {"rdma", flavor.rdma},
                       {"pools", std::move(pools)}});
  }
  Json result = {{"flavors", std::move(flavors)}};
  if (result["flavors"].empty()) {
    result["reason"] = "nothing of " + (word.empty() ? std::string("any type") : word) +
                       " capacity is available now; try another type, region or cluster";
  }
  return result;
}

Result<Json> Nodes(const Desk& desk) {
  const auto free = FreeByNode(desk.now_known);
  Json nodes = Json::array();
  for (const model::Node& node : desk.now_known.nodes) {
    Json json = ToJson(node);
    json["free"] = ToJsonOf(free.at(node.name));
    nodes.push_back(std::move(json));
  }
  return Json{{"nodes", std::move(nodes)}};
}

Result<Json> Quota(const Desk& desk) {
  const std::string subject = Text(desk.args, "subject");
  Json rows = Json::array();
  for (const auto& [key, row] : desk.now_known.ledger->rows()) {
    if (!MaySee(desk.peer, key) || (!subject.empty() && key.subject != subject)) continue;
    Json json = {{"level", spec::Name(key.level)},
                 {"subject", key.subject},
                 {"capacity", spec::Name(key.capacity)},
                 {"pool", key.pool},
                 {"flavor", key.flavor},
                 {"limit", nullptr},
                 {"used", row.used},
                 {"available", nullptr}};
    if (row.limit) {
      json["limit"] = *row.limit;
      json["available"] = *row.limit - row.used;
    }
    rows.push_back(std::move(json));
  }
  return Json{{"rows", std::move(rows)}};
}

Result<Json> LedgerCheck(const Desk& desk) {
  const std::string& wrong = desk.now_known.ledger_error;
  return Json{{"consistent", wrong.empty()},
              {"text", wrong.empty() ? "sum of live allocations equals usage" : wrong}};
}

}  // namespace cox::run::verb
