#include "tools/cox/capacity_text.hpp"

#include "tools/cox/table.hpp"
#include "tools/cox/when.hpp"

namespace cox::cli {
namespace {

// 1000 is one; fractions are shown as they are.
std::string Milli(const Value& amount) {
  const int64_t milli = amount.number();
  std::string out = std::to_string(milli / 1000);
  if (milli % 1000 != 0) {
    std::string rest = std::to_string(1000 + milli % 1000).substr(1);
    rest.erase(rest.find_last_not_of('0') + 1);
    out += "." + rest;
  }
  return out;
}

std::string Memory(const Value& mib) {
  const int64_t amount = mib.number();
  return amount % 1024 == 0 ? std::to_string(amount / 1024) + "Gi" : std::to_string(amount) + "Mi";
}

std::string Fragments(const Value& fragments) {  // "2 x 8, 1 x 4"
  std::string out;
  for (const Value& f : fragments.rows()) {
    out += (out.empty() ? "" : ", ") + f["nodes"].text() + " x " + f["free_units"].text();
  }
  return out;
}

}  // namespace

std::string QuotaText(const Value& rows) {
  Table table({"LEVEL", "SUBJECT", "TYPE", "POOL", "FLAVOR", ">LIMIT", ">USED", ">AVAILABLE"});
  for (const Value& row : rows.rows()) {
    const bool full = !row["limit"].empty() && row["available"].number() <= 0;
    table.Row({row["level"].text(), row["subject"].text(), row["capacity"].text(),
               row["pool"].empty() ? "any" : row["pool"].text(), row["flavor"].text(),
               row["limit"].text(), row["used"].text(), row["available"].text()},
              full ? Tint::kWarn : Tint::kNone);
  }
  return table.empty() ? "no quota concerns you\n" : table.Text(false);
}

std::string PoolText(const Value& result) {
  std::string out = "as of " + When(FromNanos(result["at"].number())) + ", not reserved\n";
  for (const Value& pool : result["pools"].rows()) {
    out += "\n" + pool["name"].text() + " (nodes " + CommaList(pool["nodes"]) + ")\n";
    Table table({"FLAVOR", ">TOTAL", ">USED", ">FREE", ">NOT READY", "FRAGMENTS"});
    for (const Value& flavor : pool["flavors"].rows()) {
      table.Row({flavor["name"].text(), flavor["total"].text(), flavor["used"].text(),
                 flavor["free"].text(), flavor["not_ready"].text(),
                 Fragments(flavor["fragments"])});
      for (const Value& level : flavor["idle"].rows()) {
        table.Row({"  idle, " + level["stability"].text(), "", "", level["free"].text(), "",
                   Fragments(level["fragments"])});
      }
    }
    out += table.Text(false);
  }
  return out +
         "\nFRAGMENTS is nodes x free units; a replica must fit one node, so the sum in FREE "
         "is not a schedulability test. NOT READY is free on nodes that are drained or down.\n";
}

std::string FlavorsText(const Value& result) {
  Table table({"FLAVOR", "CLASS", "GPU", ">GPUS", ">CPUS", ">MEMORY", "RDMA", "POOLS"});
  for (const Value& f : result["flavors"].rows()) {
    table.Row({f["name"].text(), f["class"].text(), f["gpu_type"].text(),
               Milli(f["unit"]["gpu_milli"]), Milli(f["unit"]["cpu_milli"]),
               Memory(f["unit"]["mem_mib"]), f["rdma"].truth() ? "yes" : "no",
               CommaList(f["pools"])});
  }
  if (!table.empty()) return table.Text(false);
  return "nothing available" +
         (result["reason"].empty() ? std::string() : ": " + result["reason"].text()) + "\n";
}

std::string NodesText(const Value& nodes, bool colour) {
  Table table({"NODE", "STATE", "GPU", ">GPUS", ">FREE", ">CPUS", ">MEMORY", "POOLS", "REASON"});
  for (const Value& node : nodes.rows()) {
    const bool ready = node["ready"].truth();
    table.Row({node["name"].text(), ready ? "ready" : "not ready", node["gpu_type"].text(),
               Milli(node["capacity"]["gpu_milli"]), Milli(node["free"]["gpu_milli"]),
               Milli(node["capacity"]["cpu_milli"]), Memory(node["capacity"]["mem_mib"]),
               CommaList(node["pools"]), node["not_ready_reason"].text()},
              ready ? Tint::kNone : Tint::kBad);
  }
  return table.empty() ? "no nodes\n" : table.Text(colour);
}

std::string PoliciesText(const Value& policies, TimePoint now) {
  Table table({"ID", "SCOPE", "SUBJECT", "TYPE", "NODES", "EXPIRES", ">LEFT", "REASON"});
  for (const Value& p : policies.rows()) {
    const TimePoint end = FromNanos(p["expires_at"].number());
    table.Row({p["id"].text(), p["tenant_scope"].truth() ? "tenant" : "user", p["subject"].text(),
               p["type"].text(), CommaList(p["node_names"]), When(end),
               end > now ? Span(end - now) : "expired", p["reason"].text()});
  }
  return table.empty() ? "no node policies\n" : table.Text(false);
}

std::string PluginsText(const Value& instances, bool colour) {
  Table table({"INSTANCE", "ID", "VERSION", "STATE", "POINTS", ">CALLS", ">ERRORS", ">OVERRUNS"});
  for (const Value& i : instances.rows()) {
    std::string points;
    int64_t calls = 0, errors = 0, overruns = 0;
    for (const auto& [name, stats] : i["points"].fields()) {
      points += (points.empty() ? "" : ",") + name;
      calls += stats["calls"].number();
      errors += stats["errors"].number();
      overruns += stats["overruns"].number();
    }
    const bool failed = !i["failure"].empty(), out = !i["quarantined"].empty();
    table.Row({i["name"].text(), i["id"].text(), i["version"].text(),
               failed ? "not loaded: " + i["failure"].text()
               : out  ? "quarantined: " + i["quarantined"].text()
                      : "ok",
               points, std::to_string(calls), std::to_string(errors), std::to_string(overruns)},
              failed || out ? Tint::kBad : Tint::kNone);
  }
  return table.empty() ? "no plugins\n" : table.Text(colour);
}

}  // namespace cox::cli
