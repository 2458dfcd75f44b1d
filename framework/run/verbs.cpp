#include "run/verbs.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "spec/parse.hpp"
#include "spec/validate.hpp"

namespace cox::run {
namespace {

using TaskPtr = std::shared_ptr<const model::Task>;
constexpr char kMask[] = "****";  // S13
constexpr int kMostEvents = 1000;
constexpr int64_t kMostTtl = 1'000'000'000;

// ---- Arguments ----

std::string Text(const Json& args, const char* key) {
  const auto it = args.find(key);
  return it != args.end() && it->is_string() ? it->get<std::string>() : "";
}
bool Flag(const Json& args, const char* key) {
  const auto it = args.find(key);
  return it != args.end() && it->is_boolean() && it->get<bool>();
}
int64_t Number(const Json& args, const char* key, int64_t otherwise) {
  const auto it = args.find(key);
  return it != args.end() && it->is_number_integer() ? it->get<int64_t>() : otherwise;
}
std::vector<std::string> Words(const Json& args, const char* key) {
  std::vector<std::string> words;
  const auto it = args.find(key);
  if (it == args.end() || !it->is_array()) return words;
  for (const Json& word : *it) {
    if (word.is_string()) words.push_back(word.get<std::string>());
  }
  return words;
}

// A job by name, id, native id or uuid; or by the start of its name, or eight characters of its
// uuid, when only one fits. A number is never the start of anything: `stop 12` must not find a
// uuid. One that may not be seen is not there (S5).
Result<TaskPtr> FindJob(const Desk& desk) {
  const std::string key = Text(desk.args, "job");
  if (key.empty()) return InvalidArgument("args.job: say which job, by name or id");
  const bool may_be_start = key.find_first_not_of("0123456789") != std::string::npos;
  TaskPtr found;
  std::vector<TaskPtr> begun;
  for (const auto& [id, task] : desk.now_known.tasks) {
    if (!MaySee(desk.peer, *task)) continue;
    if (task->name == key || task->native_id == key) return task;
    if (task->root_uuid == key || task->attempt_uuid == key || std::to_string(id) == key) {
      found = task;
    } else if (may_be_start && (task->name.starts_with(key) ||
                                (key.size() >= 8 && task->root_uuid.starts_with(key)))) {
      begun.push_back(task);
    }
  }
  if (found == nullptr && begun.size() == 1) found = begun.front();
  if (found == nullptr && begun.size() > 1) {
    return InvalidArgument(key + " is the start of " + std::to_string(begun.size()) + " jobs, of " +
                           begun[0]->name + " and " + begun[1]->name +
                           " among them; write more of it");
  }
  if (found == nullptr) return NotFound("no job named " + key);
  return found;
}

// ---- Jobs ----

Json Record(const Desk& desk, const model::Task& task) {
  Json json = ToJson(task);
  if (MaySeeHidden(desk.peer, task)) return json;
  Json& spec = json["job"]["spec"];
  if (!spec.contains("env")) return json;
  for (Json& variable : spec["env"]) {
    if (variable.value("hidden", false)) variable["value"] = kMask;
  }
  return json;
}

bool HasLabels(const model::Task& task, const Json& args) {
  const auto wanted = args.find("labels");
  if (wanted == args.end() || !wanted->is_object()) return true;
  for (const auto& [key, value] : wanted->items()) {  // S116: all of them
    const auto it = task.job->labels.find(key);
    if (it == task.job->labels.end() || !value.is_string() || it->second != value) return false;
  }
  return true;
}

Result<Json> List(const Desk& desk) {
  const std::vector<std::string> states = Words(desk.args, "states");
  Json jobs = Json::array();
  for (const auto& [id, task] : desk.now_known.tasks) {
    if (!MaySee(desk.peer, *task) || !HasLabels(*task, desk.args)) continue;
    if (Flag(desk.args, "mine") && task->owner.user != desk.peer.who.user) continue;
    if (!states.empty()) {
      if (std::ranges::find(states, model::Name(task->state)) == states.end()) continue;
    } else if (model::IsTerminal(task->state) && !Flag(desk.args, "all")) {
      continue;
    }
    Json json = Record(desk, *task);
    json.erase("attempts");
    json["job"]["spec"].erase("env");
    jobs.push_back(std::move(json));
  }
  return Json{{"jobs", std::move(jobs)}};
}

Result<Json> Get(const Desk& desk) {
  auto task = FindJob(desk);
  if (!task) return task.error();
  return Record(desk, **task);
}

Json Explanation(const Desk& desk, const model::Task& task) {
  Json json = {{"blockers", Json::array()}, {"earliest", nullptr}};
  for (const model::Explanation& e : desk.now_known.decision->waiting) {
    if (e.task == task.id && task.state == model::State::kPending) json = ToJson(e);
  }
  json["name"] = task.name;
  json["state"] = model::Name(task.state);
  json["candidates"] = ToJson(task.candidates);
  return json;
}

Result<Json> Explain(const Desk& desk) {
  auto task = FindJob(desk);
  if (!task) return task.error();
  return Explanation(desk, **task);
}

Json EventRow(const model::TaskEvent& event, const model::Task& task) {
  Json json = ToJson(event);
  json["name"] = task.name;
  return json;
}

Result<Json> EventsOf(const Desk& desk, const model::Task& task) {
  auto reader = StoreReader::Open(desk.options.store_file);
  if (!reader) return reader.error();
  auto events = (*reader)->Events(task.id);
  if (!events) return events.error();
  Json rows = Json::array();
  for (const model::TaskEvent& event : *events) rows.push_back(EventRow(event, task));
  return rows;
}

Result<Json> Describe(const Desk& desk) {
  auto task = FindJob(desk);
  if (!task) return task.error();
  auto events = EventsOf(desk, **task);
  if (!events) return events.error();
  Json json = Record(desk, **task);
  json["events"] = *std::move(events);
  json["explanation"] = Explanation(desk, **task);
  return json;
}

Result<Json> Events(const Desk& desk) {
  if (desk.args.contains("job")) {
    auto task = FindJob(desk);
    if (!task) return task.error();
    auto rows = EventsOf(desk, **task);
    if (!rows) return rows.error();
    return Json{{"events", *std::move(rows)}, {"next", 0}};
  }
  auto reader = StoreReader::Open(desk.options.store_file);
  if (!reader) return reader.error();
  auto next = static_cast<uint64_t>(std::max<int64_t>(0, Number(desk.args, "after", 0)));
  const int64_t limit = std::clamp<int64_t>(Number(desk.args, "limit", 100), 1, kMostEvents);
  auto page = (*reader)->EventsAfter(next, static_cast<int>(limit));
  if (!page) return page.error();
  Json rows = Json::array();
  for (const auto& [sequence, event] : *page) {
    next = sequence;
    const auto task = desk.now_known.tasks.find(event.task.value);
    if (task == desk.now_known.tasks.end() || !MaySee(desk.peer, *task->second)) continue;
    Json row = EventRow(event, *task->second);
    row["sequence"] = sequence;
    rows.push_back(std::move(row));
  }
  return Json{{"events", std::move(rows)}, {"next", next}};
}

Result<Json> Logs(const Desk& desk) {
  auto task = FindJob(desk);
  if (!task) return task.error();
  if (!desk.options.log_path) {
    return FailedPrecondition("this daemon does not know where output is kept");
  }
  auto path = desk.options.log_path(**task, Number(desk.args, "attempt", (*task)->attempt),
                                    Text(desk.args, "role"));
  if (!path) return path.error();
  return Json{{"path", *path}};
}

// ---- Capacity ----

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

struct Stock {
  int64_t total = 0, free = 0;
  std::map<int64_t, int64_t> fragments;  // free units -> nodes (2.4)
};

Stock StockOf(const Published& p, const std::map<std::string, Resources>& free,
              const spec::Pool& pool, const spec::Flavor& flavor) {
  Stock stock;
  for (const model::Node& node : p.nodes) {
    if (std::ranges::find(node.pools, pool.name) == node.pools.end()) continue;
    if (!flavor.gpu_type.empty() && node.gpu_type != flavor.gpu_type) continue;
    stock.total += Units(node.capacity, flavor);
    const int64_t units = node.ready ? Units(free.at(node.name), flavor) : 0;
    stock.free += units;
    if (units > 0) ++stock.fragments[units];
  }
  return stock;
}

bool IsSoldIn(const spec::Pool& pool, const spec::Flavor& flavor) {
  return pool.flavors.empty() || std::ranges::find(pool.flavors, flavor.name) != pool.flavors.end();
}

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
      Json fragments = Json::array();
      for (auto it = stock.fragments.rbegin(); it != stock.fragments.rend(); ++it) {
        fragments.push_back({{"nodes", it->second}, {"free_units", it->first}});
      }
      flavors.push_back({{"name", flavor.name},
                         {"total", stock.total},
                         {"used", stock.total - stock.free},
                         {"free", stock.free},
                         {"fragments", std::move(fragments)}});
    }
    pools.push_back({{"name", pool.name},
                     {"dedicated", pool.dedicated},
                     {"nodes", std::move(nodes)},
                     {"flavors", std::move(flavors)}});
  }
  return Json{{"at", ToNanos(p.now)}, {"pools", std::move(pools)}};
}

std::optional<spec::CapacityType> CapacityFrom(const std::string& word) {
  for (const auto type : {spec::CapacityType::kReserved, spec::CapacityType::kOnDemand,
                          spec::CapacityType::kSpot, spec::CapacityType::kIdle}) {
    if (word == spec::Name(type)) return type;
  }
  return std::nullopt;
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

// ---- The daemon ----

Result<Json> PolicyList(const Desk& desk) {
  Json policies = Json::array();
  for (const spec::NodePolicy& policy : desk.now_known.policies) {
    if (!MaySee(desk.peer, policy, desk.now)) continue;
    if (policy.expires_at <= desk.now && !Flag(desk.args, "all")) continue;
    policies.push_back(ToJson(policy));
  }
  return Json{{"policies", std::move(policies)}};
}

Result<Json> PluginList(const Desk& desk) {
  Json instances = Json::array();
  for (const auto& status : desk.now_known.instances) instances.push_back(ToJson(status));
  return Json{{"instances", std::move(instances)}};
}

Result<Json> Health(const Desk& desk) {
  const Published& p = desk.now_known;
  return Json{{"turns", desk.loop.turns()},
              {"generation", p.generation},
              {"not_ready", p.not_ready},
              {"degraded", p.degraded},
              {"at", ToNanos(p.now)},
              {"cycles", p.counters.cycles},
              {"store_errors", p.counters.store_errors}};
}

// ---- Writes ----

Json Findings(const std::vector<spec::Finding>& findings) {
  Json rows = Json::array();
  for (const spec::Finding& f : findings) {
    rows.push_back({{"path", f.path}, {"text", f.text}, {"rule", f.rule}});
  }
  return rows;
}

using Served = std::variant<Result<Json>, Request>;

Result<spec::TrainingJob> JobFrom(const Desk& desk) {
  const std::string file = Text(desk.args, "file");
  return spec::ParseTrainingJob(Text(desk.args, "text"), file.empty() ? "<stdin>" : file);
}

Served Judged(const Desk& desk, const std::string& user, Reply reply) {
  auto job = JobFrom(desk);
  if (!job) {
    return Result<Json>(
        Json{{"accepted", false}, {"refused", job.error().text}, {"warnings", Json::array()}});
  }
  return JudgeRequest{user, *std::move(job), [reply = std::move(reply)](const Judgement& judged) {
                        reply(Json{{"accepted", judged.refused.empty()},
                                   {"refused", judged.refused},
                                   {"warnings", Findings(judged.warnings)}});
                      }};
}

Done NameReply(const char* key, Reply reply, Json more = Json::object()) {
  return [key, reply = std::move(reply), more = std::move(more)](Result<std::string> done) {
    if (!done) return reply(done.error());
    Json json = more;
    if (*key != '\0') json[key] = *done;
    reply(std::move(json));
  };
}

Served Submit(const Desk& desk, Reply reply) {
  if (Flag(desk.args, "dry_run")) return Judged(desk, desk.peer.who.user, std::move(reply));
  auto job = JobFrom(desk);
  if (!job) return Result<Json>(job.error());
  model::Submission submission;
  submission.user = desk.peer.who.user;
  submission.job = std::make_shared<const spec::TrainingJob>(*std::move(job));
  return SubmitRequest{std::move(submission), NameReply("name", std::move(reply))};
}

Served JudgeFor(const Desk& desk, Reply reply) {
  const std::string asked = Text(desk.args, "user");
  if (!asked.empty() && asked != desk.peer.who.user && !desk.peer.who.admin) {
    return Result<Json>(Forbidden("only an administrator may judge for another user"));
  }
  return Judged(desk, asked.empty() ? desk.peer.who.user : asked, std::move(reply));
}

Served Stop(const Desk& desk, Reply reply) {
  auto task = FindJob(desk);
  if (!task) return Result<Json>(task.error());
  if (!MayStop(desk.peer, **task)) {
    return Result<Json>(Forbidden((*task)->name + " belongs to " + (*task)->owner.user +
                                  "; only its owner and administrators may stop it"));
  }
  return StopRequest{(*task)->id, desk.peer.who.user,
                     NameReply("name", std::move(reply), {{"state", "Stopping"}})};
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
    const auto [first, last] = std::ranges::unique(policy.node_names);
    policy.node_names.erase(first, last);
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

Served ReloadAll(const Desk& desk, Reply reply) {
  if (!desk.peer.who.admin) {
    return Result<Json>(Forbidden("only an administrator may reload the configuration"));
  }
  return ReloadRequest{NameReply("", std::move(reply))};
}

using Reader = Result<Json> (*)(const Desk&);
const std::map<std::string, Reader> kReads = {
    {"list", List},          {"get", Get},
    {"describe", Describe},  {"explain", Explain},
    {"events", Events},      {"logs", Logs},
    {"pool", Pools},         {"flavors", Flavors},
    {"nodes", Nodes},        {"quota", Quota},
    {"plugins", PluginList}, {"ledger_check", LedgerCheck},
    {"health", Health},      {"nodepolicy_list", PolicyList},
};
using Writer = Served (*)(const Desk&, Reply);
const std::map<std::string, Writer> kWrites = {
    {"submit", Submit},
    {"judge", JudgeFor},
    {"stop", Stop},
    {"reload", ReloadAll},
    {"nodepolicy_create", PolicyCreate},
    {"nodepolicy_delete", PolicyDelete},
};

}  // namespace

std::variant<Result<Json>, Request> Serve(const std::string& verb, const Desk& desk, Reply reply) {
  if (const auto read = kReads.find(verb); read != kReads.end()) return read->second(desk);
  if (const auto write = kWrites.find(verb); write != kWrites.end()) {
    return write->second(desk, std::move(reply));
  }
  return Result<Json>(InvalidArgument("verb \"" + verb + "\" is not known to this daemon"));
}

}  // namespace cox::run
