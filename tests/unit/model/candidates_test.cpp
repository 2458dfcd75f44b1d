#include <gtest/gtest.h>

#include "model/gang.hpp"
#include "model/ledger.hpp"

namespace cox::model {
namespace {

using spec::CapacityType;

spec::Site TheSite() {
  spec::Site site;
  site.flavors = {{"h200", true, "h200", {2'000, 4'096, 1'000}, false},
                  {"h100", true, "h100", {1'000, 2'048, 1'000}, false},
                  {"cpu", false, "", {1'000, 1'024, 0}, false}};
  spec::Pool shared;
  shared.name = "shared";
  shared.capacity_types = {CapacityType::kReserved, CapacityType::kOnDemand};
  shared.flavors = {"h100", "cpu"};
  spec::Pool other;
  other.name = "other";
  other.capacity_types = {CapacityType::kSpot};
  other.flavors = {"h200", "h100"};
  site.pools = {shared, other};
  return site;
}

spec::TrainingJob Job(std::vector<spec::FlavorChoice> flavors, int64_t workers = 0) {
  spec::TrainingJob job;
  job.scheduling.queue = "shared";
  job.scheduling.flavors = std::move(flavors);
  job.workers = workers;
  return job;
}

// "reserved:shared h100x2*3 ..." : each candidate with its roles.
std::string Show(const std::vector<Candidate>& candidates) {
  std::string out;
  for (const Candidate& c : candidates) {
    out += (out.empty() ? "" : " | ") + std::string(spec::Name(c.source)) + ":" + c.pool;
    for (const RoleDemand& r : c.roles) {
      out += " " + std::string(Name(r.role)) + "=" + r.flavor + "x" + std::to_string(r.units) +
             "*" + std::to_string(r.replicas);
    }
  }
  return out;
}

TEST(Candidates, AMasterIsLikeItsWorkers) {  // S32-S34
  EXPECT_EQ(Show(Candidates(Job({{"h100", 8}}, 3), TheSite())),
            "reserved:shared master=h100x8*1 worker=h100x8*3");
  EXPECT_EQ(Show(Candidates(Job({{"h100", 8}}), TheSite())), "reserved:shared master=h100x8*1");
}

TEST(Candidates, AReplicaDemandsItsUnitsAndTheirGpuType) {  // S37
  const auto c = Candidates(Job({{"h100", 4}}), TheSite());
  ASSERT_EQ(c.size(), 1U);
  EXPECT_EQ(c[0].roles[0].resources, (Resources{4'000, 8'192, 4'000}));
  EXPECT_EQ(c[0].roles[0].gpu_type, "h100");
}

TEST(Candidates, FlavorsComeInTheUsersOrderAndThoseNobodyOffersAreLeftOut) {  // S38
  EXPECT_EQ(Show(Candidates(Job({{"cpu", 1}, {"h200", 1}, {"h100", 2}, {"none", 1}}), TheSite())),
            "reserved:shared master=cpux1*1 | reserved:shared master=h100x2*1");
  EXPECT_TRUE(Candidates(Job({{"h200", 1}}), TheSite()).empty());
}

TEST(Candidates, AcceptedIdleFollowsReservedFlavorByFlavor) {  // 2.5
  spec::TrainingJob job = Job({{"h100", 1}, {"cpu", 1}});
  job.scheduling.idle = {true, false, spec::Stability::kHigh};
  const auto c = Candidates(job, TheSite());
  EXPECT_EQ(Show(c),
            "reserved:shared master=h100x1*1 | idle: master=h100x1*1 | "
            "reserved:shared master=cpux1*1 | idle: master=cpux1*1");
  EXPECT_EQ(c[0].min_stability, spec::Stability::kLow) << "says nothing of reserved capacity";
  EXPECT_EQ(c[1].min_stability, spec::Stability::kHigh);
}

TEST(Candidates, PreferredIdleComesFirst) {  // 2.5
  spec::TrainingJob job = Job({{"h100", 1}});
  job.scheduling.idle = {true, true, spec::Stability::kLow};
  EXPECT_EQ(Show(Candidates(job, TheSite())),
            "idle: master=h100x1*1 | reserved:shared master=h100x1*1");
}

TEST(Candidates, AnIdleJobIsIdleOnlyAndNeedsAPoolThatLends) {
  spec::TrainingJob job = Job({{"h200", 1}});
  job.scheduling.queue.clear();
  job.scheduling.capacity_type = CapacityType::kIdle;
  spec::Site site = TheSite();
  EXPECT_EQ(Show(Candidates(job, site)), "idle: master=h200x1*1");
  site.pools[1].lends_idle = false;
  EXPECT_TRUE(Candidates(job, site).empty());
}

TEST(Candidates, AHeadWithFlavorsOfItsOwnIsCrossedInside) {  // S35
  spec::TrainingJob job = Job({{"h100", 8}}, 2);
  job.type = spec::TaskType::kRayJob;
  EXPECT_EQ(Show(Candidates(job, TheSite())), "reserved:shared head=h100x8*1 worker=h100x8*2");
  job.ray.head_flavors = {{"cpu", 4}, {"h100", 1}};
  EXPECT_EQ(Show(Candidates(job, TheSite())),
            "reserved:shared head=cpux4*1 worker=h100x8*2 | "
            "reserved:shared head=h100x1*1 worker=h100x8*2");
}

TEST(Candidates, APoolWithoutAListOffersEveryFlavor) {
  spec::Site site = TheSite();
  site.pools[0].flavors.clear();
  EXPECT_EQ(Show(Candidates(Job({{"h200", 1}}), site)), "reserved:shared master=h200x1*1");
}

Candidate Ray(CapacityType source, const std::string& pool) {
  Candidate c;
  c.source = source;
  c.pool = pool;
  c.roles = {{Role::kHead, 1, "cpu", 4, {}, ""}, {Role::kWorker, 3, "h100", 8, {}, "h100"}};
  return c;
}

// "tenant T reserved shared cpu 4"
std::string Show(const std::vector<Charge>& charges) {
  std::string out;
  for (const Charge& c : charges) {
    out += std::string(spec::Name(c.key.level)) + " " + c.key.subject + " " +
           (c.key.pool.empty() ? "*" : c.key.pool) + " " + c.key.flavor + " " +
           std::to_string(c.units) + "\n";
  }
  return out;
}

const Owner kOwner = {"u", "p", "t"};

TEST(Charges, EachFlavorOfTheWholeGangAtEachLevel) {  // S35, S40, S41
  EXPECT_EQ(Show(Charges(kOwner, Ray(CapacityType::kReserved, "shared"))),
            "tenant t shared cpu 4\nproject p shared cpu 4\nuser u shared cpu 4\n"
            "tenant t shared h100 24\nproject p shared h100 24\nuser u shared h100 24\n");
}

TEST(Charges, RolesOfOneFlavorAreSummed) {
  Candidate c = Ray(CapacityType::kReserved, "shared");
  c.roles[0].flavor = "h100";
  EXPECT_EQ(Charges(kOwner, c).size(), 3U);
  EXPECT_EQ(Charges(kOwner, c)[0].units, 28);
}

TEST(Charges, IdleIsFree) {  // S30
  EXPECT_TRUE(Charges(kOwner, Ray(CapacityType::kIdle, "")).empty());
}

TEST(Charges, SpotIsChargedToItsOwnRowsOnly) {  // D5
  for (const Charge& c : Charges(kOwner, Ray(CapacityType::kSpot, ""))) {
    EXPECT_EQ(c.key.capacity, CapacityType::kSpot);
    EXPECT_EQ(c.key.pool, "");
  }
}

TEST(Charges, OnDemandInAPoolCountsInTheLimitOfAnyPoolToo) {  // S28
  Candidate c = Ray(CapacityType::kOnDemand, "shared");
  c.roles.pop_back();
  EXPECT_EQ(Show(Charges(kOwner, c)),
            "tenant t * cpu 4\nproject p * cpu 4\nuser u * cpu 4\n"
            "tenant t shared cpu 4\nproject p shared cpu 4\nuser u shared cpu 4\n");
  for (const Charge& charge : Charges(kOwner, c)) {
    EXPECT_EQ(charge.key.capacity, CapacityType::kOnDemand) << "never reserved quota";
  }
}

}  // namespace
}  // namespace cox::model
