#include "model/stability.hpp"

#include <gtest/gtest.h>

namespace cox::model {
namespace {

constexpr Resources kNode = {64'000, 512 * 1024, 8'000};

struct Lent {
  spec::Site site;
  std::vector<Node> nodes;
  std::vector<spec::Quota> quotas;
  Lent() {
    for (const char* name : {"a", "b"}) site.pools.emplace_back().name = name;
    spec::Flavor& flavor = site.flavors.emplace_back();
    flavor.name = "gpu";
    flavor.unit = {8'000, 64 * 1024, 1'000};
    for (const char* pool : {"a", "a", "b"}) {
      Node& node = nodes.emplace_back();
      node.name = "n" + std::to_string(nodes.size());
      node.pools = {pool};
      node.capacity = kNode;
    }
  }
  void Grant(spec::QuotaLevel level, const std::string& pool, int64_t units) {
    quotas.push_back({level, "x", spec::CapacityType::kReserved, pool, "gpu", units});
  }
  int64_t Gpus(const std::string& pool = "") const {
    Ledger ledger;
    ledger.SetLimits(quotas);
    return Surplus(site, nodes, ledger, pool).gpu_milli / 1000;
  }
};

TEST(Stability, HighIsWhatNoQuotaEntitlesAnybodyTo) {  // 2.3
  Lent t;
  EXPECT_EQ(t.Gpus(), 24);
  t.Grant(spec::QuotaLevel::kTenant, "a", 10);
  EXPECT_EQ(t.Gpus(), 14);
  EXPECT_EQ(t.Gpus("a"), 6);
  EXPECT_EQ(t.Gpus("b"), 8);
}

TEST(Stability, LowerLevelsOnlyDivideWhatTheHighestGrants) {
  Lent t;
  t.Grant(spec::QuotaLevel::kTenant, "a", 10);
  t.Grant(spec::QuotaLevel::kUser, "a", 4);
  EXPECT_EQ(t.Gpus("a"), 6);
}

TEST(Stability, WhatIsNotLentOrNotReadyIsNoSurplus) {
  Lent t;
  t.site.pools[1].lends_idle = false;
  t.nodes[0].ready = false;
  EXPECT_EQ(t.Gpus(), 8);
}

// The cycle counted the jobs of all pools against each, `cox pool` those of the pool: the list then
// offered what no job got.
TEST(Regress, AJobTakesFromTheSurplusOfItsOwnPoolOnly) {
  Candidate job;
  job.source = spec::CapacityType::kIdle;
  job.min_stability = spec::Stability::kHigh;
  job.pool = "a";
  EXPECT_TRUE(UsesSurplus(job, "a"));
  EXPECT_TRUE(UsesSurplus(job, ""));
  EXPECT_FALSE(UsesSurplus(job, "b"));
  job.pool = "";  // it may run in either
  EXPECT_TRUE(UsesSurplus(job, "b"));
  job.min_stability = spec::Stability::kMedium;
  EXPECT_FALSE(UsesSurplus(job, ""));
}

}  // namespace
}  // namespace cox::model
