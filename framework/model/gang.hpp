// What one job wants, as the scheduler sees it: a gang, and the ways in which it may run.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/resources.hpp"
#include "spec/site.hpp"
#include "spec/training_job.hpp"

namespace cox::model {

enum class Role { kMaster, kWorker, kHead, kSubmitter };
const char* Name(Role role);

// Equal replicas of one role. A submitter takes no quota and no place of its own (S83): it is not
// in the list.
struct RoleDemand {
  Role role = Role::kMaster;
  int64_t replicas = 1;
  std::string flavor;
  int64_t units = 1;     // of the flavor, per replica (S37)
  Resources resources;   // of one replica
  std::string gpu_type;  // that the node must have; "" = any

  friend bool operator==(const RoleDemand&, const RoleDemand&) = default;
};

// One way to run the whole gang: one capacity source, one flavor (S38, D7). The order of a job's
// candidates is the user's: flavor by flavor, and for each the sources of 2.5.
struct Candidate {
  spec::CapacityType source = spec::CapacityType::kReserved;
  std::string pool;  // "" = every pool that offers the source and the flavor
  spec::Stability min_stability = spec::Stability::kLow;  // idle only
  std::vector<RoleDemand> roles;  // a master or head, then its workers, if any

  friend bool operator==(const Candidate&, const Candidate&) = default;
};

// All that its replicas take together.
Resources TotalOf(const Candidate& candidate);

// May jobs ask for this source and flavor in this pool? Idle capacity is there where the pool
// lends.
bool Offers(const spec::Pool& pool, spec::CapacityType source, const std::string& flavor);

// The candidates of a job, in order. Pure. Empty only when no pool offers any of the flavors.
std::vector<Candidate> Candidates(const spec::TrainingJob& job, const spec::Site& site);

// Where one replica of a placed gang runs. Rank 0 is the master or the head.
struct Replica {
  Role role = Role::kMaster;
  int64_t rank = 0;
  std::string node;
  Resources resources;

  friend bool operator==(const Replica&, const Replica&) = default;
};

struct Placement {
  Candidate candidate;  // the one chosen
  std::vector<Replica> replicas;

  friend bool operator==(const Placement&, const Placement&) = default;
};

}  // namespace cox::model
