#include "run/json.hpp"

#include <optional>
#include <stdexcept>
#include <utility>

#include "spec/parse.hpp"

// How single values are written. The macros below write structs by their members.
namespace nlohmann {

template <class E>
concept Worded = std::is_enum_v<E> && requires(E e) {
  { Name(e) } -> std::convertible_to<const char*>;
};

template <Worded E>
struct adl_serializer<E> {
  static void to_json(json& j, E value) { j = Name(value); }
  static void from_json(const json& j, E& value) {
    const auto& word = j.get_ref<const std::string&>();
    for (int i = 0; i < 32; ++i) {
      const char* name = Name(static_cast<E>(i));
      if (name == word) {
        value = static_cast<E>(i);
        return;
      }
    }
    throw std::runtime_error("\"" + word + "\" is not a word of this enumeration");
  }
};

template <>
struct adl_serializer<cox::TimePoint> {
  static void to_json(json& j, cox::TimePoint t) { j = cox::ToNanos(t); }
  static void from_json(const json& j, cox::TimePoint& t) { t = cox::FromNanos(j.get<int64_t>()); }
};

template <class Tag, class Rep>
struct adl_serializer<cox::Id<Tag, Rep>> {
  static void to_json(json& j, cox::Id<Tag, Rep> id) { j = id.value; }
  static void from_json(const json& j, cox::Id<Tag, Rep>& id) { id.value = j.get<Rep>(); }
};

template <class T>
struct adl_serializer<std::optional<T>> {
  static void to_json(json& j, const std::optional<T>& value) {
    if (value) {
      j = *value;
    } else {
      j = nullptr;
    }
  }
  static void from_json(const json& j, std::optional<T>& value) {
    value.reset();
    if (!j.is_null()) value = j.get<T>();
  }
};

template <>
struct adl_serializer<std::shared_ptr<const cox::spec::TrainingJob>> {
  using Job = std::shared_ptr<const cox::spec::TrainingJob>;
  static void to_json(json& j, const Job& job) { j = json::parse(cox::spec::ToJson(*job)); }
  static void from_json(const json& j, Job& job) {
    auto parsed = cox::spec::ParseTrainingJob(j.dump(), "stored job");
    if (!parsed) throw std::runtime_error(parsed.error().text);
    job = std::make_shared<const cox::spec::TrainingJob>(*std::move(parsed));
  }
};

}  // namespace nlohmann

#define COX_JSON NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT

namespace cox {
COX_JSON(Resources, cpu_milli, mem_mib, gpu_milli)
}

namespace cox::spec {
COX_JSON(Topology, required, preferred)
COX_JSON(NodePolicy, id, tenant_scope, subject, type, node_names, workload_types, expires_at,
         reason, source, enabled)
}  // namespace cox::spec

namespace cox::model {

COX_JSON(RoleDemand, role, replicas, flavor, units, resources, gpu_type)
COX_JSON(Candidate, source, pool, min_stability, roles)
COX_JSON(Replica, role, rank, node, resources)
COX_JSON(Placement, candidate, replicas)
COX_JSON(Owner, user, project, tenant)
COX_JSON(LedgerKey, level, subject, capacity, pool, flavor)
COX_JSON(Charge, key, units)
COX_JSON(Exit, cause, exit_code, signal, node, rank, log_tail, detail)
COX_JSON(Attempt, index, uuid, started_at, ended_at, nodes, exit, failure_class, reason, text,
         action)
COX_JSON(Exclusion, node, until, why)
COX_JSON(Task, id, root_uuid, name, owner, org, job, submitted_at, native_id, native_interactive,
         state, reason, message, state_since, version, attempt, attempt_uuid, placement, started_at,
         not_before, held, deadline, leaving, pending_exit, outcome_succeeded, start_failures,
         attempts, retries_used, preemptions, infra_failures, hang_failures, app_failures,
         exclusions, stopped_by, preempted_by)
COX_JSON(TaskEvent, task, attempt, version, at, warning, reason, message)

COX_JSON(Node, name, address, pools, gpu_type, capacity, unmanaged, ready, not_ready_reason,
         ready_since)
COX_JSON(PendingJob, id, name, owner, capacity, priority, guaranteed, submitted_at, waiting_since,
         attempt, not_before, held, time_limit_seconds, topology, spread, candidates)
COX_JSON(RunningJob, id, name, owner, capacity, stability, priority, guaranteed, submitted_at,
         started_at, attempt, leaving, leaves_by, ends_by, placement)
COX_JSON(Nomination, task, placement, expires_at)
COX_JSON(PolicyRow, scope, id, type, subject, task, node_names, expires_at)

COX_JSON(Start, task, attempt, placement)
COX_JSON(Eviction, victim, attempt, preemptor, message, spot_reclaim)
COX_JSON(Blocker, code, text, policy, candidate, retry_at)
COX_JSON(QueueRank::Ahead, high, medium, low)
COX_JSON(QueueRank, rank_in_pool, rank_in_user, ahead_in_pool, ahead_in_user)
COX_JSON(Explanation, task, blockers, queue, earliest)
COX_JSON(Decision, generation, starts, evictions, nominations, waiting, wake_at)

}  // namespace cox::model

#undef COX_JSON

namespace cox::run {
namespace {

constexpr int kDeepest = 128;  // twice what a specification may have

// nlohmann throws; nothing of ours does.
template <class T>
Result<T> Read(const Json& json, const char* what) {
  try {
    return json.get<T>();
  } catch (const std::exception& e) {
    return InvalidArgument(std::string(what) + ": " + e.what());
  }
}

}  // namespace

Result<Json> ParseJson(std::string_view text, const std::string& what) {
  // Why: a copy of a value recurses once a level, and anybody may send a request.
  const auto shallow = [](int depth, Json::parse_event_t, const Json&) {
    if (depth > kDeepest) {
      throw std::length_error("nested deeper than " + std::to_string(kDeepest) + " levels");
    }
    return true;
  };
  try {
    return Json::parse(text, shallow);
  } catch (const std::exception& e) {
    return InvalidArgument(what + ": " + e.what());
  }
}

std::string Dump(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Json ToJson(const model::Task& task) {
  return task;
}
Json ToJson(const model::TaskEvent& event) {
  return event;
}
Json ToJson(const model::Node& node) {
  return node;
}
Json ToJson(const model::Explanation& explanation) {
  return explanation;
}
Json ToJson(const model::Placement& placement) {
  return placement;
}
Json ToJson(const std::vector<model::Candidate>& candidates) {
  return candidates;
}
Json ToJson(const std::vector<model::Nomination>& nominations) {
  return nominations;
}
Json ToJson(const model::Decision& decision) {
  return decision;
}
Json ToJson(const spec::NodePolicy& policy) {
  return policy;
}

Json ToJson(const model::Snapshot& snapshot) {
  Json allocations = Json::array();
  for (const auto& [task, charges] : snapshot.ledger.allocations()) {
    allocations.push_back({{"task", task}, {"charges", charges}});
  }
  return {{"generation", snapshot.generation},
          {"now", snapshot.now},
          {"seed", snapshot.seed},
          {"nodes", snapshot.nodes},
          {"pending", snapshot.pending},
          {"running", snapshot.running},
          {"nominations", snapshot.nominations},
          {"policies", snapshot.policies},
          {"allocations", allocations}};
}

Result<model::Snapshot> SnapshotFrom(const Json& json, std::shared_ptr<const spec::Site> site) {
  try {
    model::Snapshot snapshot;
    json.at("generation").get_to(snapshot.generation);
    json.at("now").get_to(snapshot.now);
    json.at("seed").get_to(snapshot.seed);
    json.at("nodes").get_to(snapshot.nodes);
    json.at("pending").get_to(snapshot.pending);
    json.at("running").get_to(snapshot.running);
    json.at("nominations").get_to(snapshot.nominations);
    json.at("policies").get_to(snapshot.policies);
    // Limits are the site's, usage is the sum of the allocations: the whole ledger follows.
    snapshot.ledger.SetLimits(site->quotas);
    for (const Json& held : json.at("allocations")) {
      snapshot.ledger.Allocate(TaskId{held.at("task").get<uint64_t>()},
                               held.at("charges").get<std::vector<model::Charge>>());
    }
    snapshot.site = std::move(site);
    return snapshot;
  } catch (const std::exception& e) {
    return InvalidArgument(std::string("snapshot: ") + e.what());
  }
}

Json ToJson(const host::InstanceStatus& status) {
  Json points = Json::object();
  for (int i = 0; i < host::kPoints; ++i) {
    const host::PointStats& p = status.points[i];
    if (!p.offered) continue;
    points[host::Name(static_cast<host::Point>(i))] = {
        {"calls", p.calls}, {"errors", p.errors}, {"overruns", p.overruns}, {"nanos", p.nanos}};
  }
  Json counters = Json::object();
  for (const auto& [name, value] : status.counters) counters[name] = value;
  return {{"name", status.name},       {"path", status.path},
          {"id", status.id},           {"version", status.version},
          {"summary", status.summary}, {"failure", status.failure},
          {"points", points},          {"quarantined", status.quarantined},
          {"counters", counters}};
}

Result<model::Task> TaskFrom(const Json& json) {
  return Read<model::Task>(json, "task");
}
Result<model::TaskEvent> EventFrom(const Json& json) {
  return Read<model::TaskEvent>(json, "event");
}
Result<std::vector<model::Nomination>> NominationsFrom(const Json& json) {
  return Read<std::vector<model::Nomination>>(json, "nominations");
}
Result<model::Decision> DecisionFrom(const Json& json) {
  return Read<model::Decision>(json, "decision");
}
Result<spec::NodePolicy> PolicyFrom(const Json& json) {
  return Read<spec::NodePolicy>(json, "node policy");
}

}  // namespace cox::run
