// Resource type, pool, flavors, replicas and guarantees: S25-S38, S44, matrix 3.2, D3, D8.
#include <algorithm>
#include <set>

#include "spec/rules.hpp"
#include "spec/scheduling_matrix.hpp"
#include "spec/text.hpp"

namespace cox::spec {
namespace {

bool Has(const std::vector<std::string>& list, const std::string& word) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

bool Offers(const Pool& pool, CapacityType type) {
  const auto& types = pool.capacity_types;
  if (type == CapacityType::kIdle && !pool.lends_idle) return false;
  return types.empty() || std::find(types.begin(), types.end(), type) != types.end();
}

bool Offers(const Pool& pool, const std::string& flavor) {
  return pool.flavors.empty() || Has(pool.flavors, flavor);
}

std::string RuleOf(CapacityType type) {
  switch (type) {
    case CapacityType::kReserved:
      return "S26";
    case CapacityType::kOnDemand:
      return "S28";
    case CapacityType::kSpot:
      return "S29";
    case CapacityType::kIdle:
      return "S30";
  }
  return "S25";
}

void CheckLimitedKeys(const Scheduling& scheduling, Verdict& verdict) {
  for (const LimitedKey& key : LimitedKeys()) {
    const bool stated = scheduling.written.*key.written || key.differs(scheduling);
    if (!stated || key.AllowedFor(scheduling.capacity_type)) continue;
    std::string path = "spec.scheduling";
    for (const std::string& step : key.keys) path += "." + step;
    Reject(verdict, path,
           std::string("capacity type ") + Name(scheduling.capacity_type) +
               " does not have it; remove it",
           key.rule);
  }
}

void CheckGuarantee(const Scheduling& scheduling, Verdict& verdict) {
  const IdlePolicy& idle = scheduling.idle;
  if (scheduling.capacity_type == CapacityType::kReserved && !idle.accept) {
    // Values that equal the defaults mean nothing and are let through.
    if (idle.prefer) {
      Reject(verdict, "spec.scheduling.idle.prefer", "true needs idle.accept: true", "S27");
    }
    if (idle.min_stability != IdlePolicy().min_stability) {
      Reject(verdict, "spec.scheduling.idle.minStability",
             Quote(Name(idle.min_stability)) + " needs idle.accept: true", "S27");
    }
  }
  if (scheduling.preemptible) return;
  if (scheduling.capacity_type == CapacityType::kReserved && idle.accept) {
    Reject(verdict, "spec.scheduling.idle.accept",
           "true contradicts preemptible: false; nothing on idle resources can be guaranteed",
           "D8");
  }
  if (scheduling.capacity_type == CapacityType::kSpot) {
    Warn(verdict, "spec.scheduling.preemptible",
         "false protects a spot job from jobs of higher priority only, not from being reclaimed",
         "D3");
  }
}

void CheckQueue(const Case& c, Verdict& verdict) {
  const Scheduling& scheduling = c.job.scheduling;
  const CapacityType type = scheduling.capacity_type;
  const char* const path = "spec.scheduling.queue";
  if (scheduling.queue.empty()) {
    if (type == CapacityType::kReserved) {
      Reject(verdict, path, "is required: the pool whose reserved quota the job uses", "S26");
    }
    return;
  }
  if (type == CapacityType::kSpot || type == CapacityType::kIdle) {
    Reject(verdict, path,
           std::string("capacity type ") + Name(type) +
               " does not have it: any pool serves; remove it",
           RuleOf(type));
    return;
  }
  const Pool* pool = c.site.FindPool(scheduling.queue);
  const std::string name = "pool " + Quote(scheduling.queue);
  if (!pool) {
    std::vector<std::string> names;
    for (const Pool& p : c.site.pools) names.push_back(p.name);
    Reject(verdict, path,
           Quote(scheduling.queue) + " is not a pool of this site" +
               DidYouMean(scheduling.queue, names),
           "S26");
  } else if (!IsHere(c.site, pool->region, pool->cluster)) {
    Reject(verdict, path,
           name + " is in cluster " + Quote(pool->cluster) + ", the job runs in " +
               Quote(c.site.cluster),
           "S1");
  } else if (!MayUse(*pool, c.who)) {
    Reject(verdict, path,
           name + " is dedicated to tenant " + Quote(pool->tenant) + "; you are of tenant " +
               Quote(c.who.tenant),
           "S26");
  } else if (!Offers(*pool, type)) {
    Reject(verdict, path, name + " does not offer capacity type " + Name(type), RuleOf(type));
  }
}

// Is there a pool that could ever run this flavor?
void CheckOffered(const Case& c, const std::string& path, const std::string& flavor,
                  Verdict& verdict) {
  const Scheduling& scheduling = c.job.scheduling;
  const CapacityType type = scheduling.capacity_type;
  if (!scheduling.queue.empty()) {
    const Pool* pool = c.site.FindPool(scheduling.queue);
    if (!pool || Offers(*pool, flavor)) return;
    Reject(verdict, path,
           "pool " + Quote(pool->name) + " does not offer " + Quote(flavor) + "; it has " +
               Join(pool->flavors),
           RuleOf(type));
    return;
  }
  if (type == CapacityType::kReserved) return;  // the missing queue is the error
  const bool offered = std::any_of(c.site.pools.begin(), c.site.pools.end(), [&](const Pool& pool) {
    return IsHere(c.site, pool.region, pool.cluster) && MayUse(pool, c.who) && Offers(pool, type) &&
           Offers(pool, flavor);
  });
  if (offered) return;
  Reject(verdict, path,
         "no pool that you may use offers " + Quote(flavor) + " as capacity type " + Name(type) +
             "; choose another flavor, type or cluster",
         RuleOf(type));
}

void CheckNearness(const Case& c, Verdict& verdict) {
  const Topology& topology = c.job.scheduling.topology;
  const std::string path = "spec.scheduling.topology";
  if (!topology.required.empty() && !topology.preferred.empty()) {
    Reject(verdict, path,
           "names both required " + Quote(topology.required) + " and preferred " +
               Quote(topology.preferred) + "; one of them is enough",
           "");
    return;
  }
  const bool required = !topology.required.empty();
  const std::string& level = required ? topology.required : topology.preferred;
  if (level.empty() || c.site.FindTopologyLevel(level) != nullptr) return;
  std::vector<std::string> known;
  for (const TopologyLevel& l : c.site.topology) known.push_back(l.level);
  Reject(verdict, path + (required ? ".required" : ".preferred"),
         Quote(level) + " is not a level of this site's topology" +
             (known.empty() ? ", which has none" : DidYouMean(level, known)),
         "");
}

void CheckReplicas(const TrainingJob& job, Verdict& verdict) {
  if (job.workers < 0) {
    Reject(verdict, "spec.replicas.workers",
           std::to_string(job.workers) + " is below 0; 0 = a single node", "S33");
    return;
  }
  const auto members = job.scheduling.gang_min_member;
  if (members && *members != job.workers + 1) {
    Reject(verdict, "spec.scheduling.gang.minMember",
           std::to_string(*members) + " is not all " + std::to_string(job.workers + 1) +
               " replicas, which start together or not at all; write auto",
           "S44");
  }
}

}  // namespace

bool MayUse(const Pool& pool, const Submitter& who) {
  return !pool.dedicated || pool.tenant == who.tenant;
}

void CheckFlavors(const Case& c, const std::string& path, const std::vector<FlavorChoice>& flavors,
                  Verdict& verdict) {
  std::vector<std::string> known;
  for (const Flavor& flavor : c.site.flavors) known.push_back(flavor.name);
  std::set<std::string> seen;
  for (size_t i = 0; i < flavors.size(); ++i) {
    const FlavorChoice& choice = flavors[i];
    const std::string name_path = At(path, i) + ".name";
    if (!Has(known, choice.name)) {
      Reject(verdict, name_path,
             Quote(choice.name) + " is not a flavor of this site" + DidYouMean(choice.name, known),
             "S36");
    } else if (!seen.insert(choice.name).second) {
      Reject(verdict, name_path, Quote(choice.name) + " is in the list already", "S38");
    } else {
      CheckOffered(c, name_path, choice.name, verdict);
    }
    if (choice.count < 1) {
      Reject(verdict, At(path, i) + ".count",
             std::to_string(choice.count) + " is below 1 unit per replica", "S37");
    }
  }
}

void CheckScheduling(const Case& c, Verdict& verdict) {
  const Scheduling& scheduling = c.job.scheduling;
  CheckLimitedKeys(scheduling, verdict);
  CheckGuarantee(scheduling, verdict);
  CheckQueue(c, verdict);
  if (scheduling.flavors.empty()) {
    Reject(verdict, "spec.scheduling.flavors", "is empty; name at least one flavor", "S36");
  }
  CheckFlavors(c, "spec.scheduling.flavors", scheduling.flavors, verdict);
  CheckReplicas(c.job, verdict);
  CheckNearness(c, verdict);
}

}  // namespace cox::spec
