#include "model/gang.hpp"

#include <algorithm>
#include <utility>

namespace cox::model {
namespace {

using spec::CapacityType;

// 2.5: which capacity a job may run on, first choice first.
std::vector<CapacityType> Sources(const spec::Scheduling& wanted) {
  if (wanted.capacity_type != CapacityType::kReserved || !wanted.idle.accept) {
    return {wanted.capacity_type};
  }
  if (wanted.idle.prefer) return {CapacityType::kIdle, CapacityType::kReserved};
  return {CapacityType::kReserved, CapacityType::kIdle};
}

RoleDemand Demand(Role role, int64_t replicas, const spec::FlavorChoice& choice,
                  const spec::Flavor& flavor) {
  return {role, replicas, choice.name, choice.count, flavor.unit * choice.count, flavor.gpu_type};
}

// Some pool of the candidate's serves each of its flavors.
bool Offered(const Candidate& candidate, const spec::Site& site) {
  return std::ranges::all_of(candidate.roles, [&](const RoleDemand& role) {
    return std::ranges::any_of(site.pools, [&](const spec::Pool& pool) {
      return (candidate.pool.empty() || candidate.pool == pool.name) &&
             Offers(pool, candidate.source, role.flavor);
    });
  });
}

}  // namespace

Resources TotalOf(const Candidate& candidate) {
  Resources sum;
  for (const RoleDemand& role : candidate.roles) sum += role.resources * role.replicas;
  return sum;
}

bool Offers(const spec::Pool& pool, CapacityType source, const std::string& flavor) {
  const bool sold =
      source == CapacityType::kIdle
          ? pool.lends_idle
          : std::ranges::find(pool.capacity_types, source) != pool.capacity_types.end();
  return sold &&
         (pool.flavors.empty() || std::ranges::find(pool.flavors, flavor) != pool.flavors.end());
}

std::vector<Candidate> Candidates(const spec::TrainingJob& job, const spec::Site& site) {
  const spec::Scheduling& wanted = job.scheduling;
  const bool ray = job.type == spec::TaskType::kRayJob;
  std::vector<Candidate> candidates;
  for (const spec::FlavorChoice& choice : wanted.flavors) {
    const spec::Flavor* flavor = site.FindFlavor(choice.name);
    if (flavor == nullptr) continue;
    // S32: a master is like its workers; S85: so is a head without flavors of its own.
    const bool own_head = ray && !job.ray.head_flavors.empty();
    for (const spec::FlavorChoice& head_choice :
         own_head ? job.ray.head_flavors : std::vector{choice}) {
      const spec::Flavor* head_flavor = site.FindFlavor(head_choice.name);
      if (head_flavor == nullptr) continue;
      for (const CapacityType source : Sources(wanted)) {
        Candidate candidate;
        candidate.source = source;
        const bool lent = source == CapacityType::kIdle;
        // A reserved job that takes idle capacity takes it wherever it is lent.
        if (!lent || wanted.capacity_type == CapacityType::kIdle) candidate.pool = wanted.queue;
        if (lent) candidate.min_stability = wanted.idle.min_stability;
        candidate.roles.push_back(
            Demand(ray ? Role::kHead : Role::kMaster, 1, head_choice, *head_flavor));
        if (job.workers > 0) {
          candidate.roles.push_back(Demand(Role::kWorker, job.workers, choice, *flavor));
        }
        if (Offered(candidate, site)) candidates.push_back(std::move(candidate));
      }
    }
  }
  return candidates;
}

}  // namespace cox::model
