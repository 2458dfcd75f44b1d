#include <algorithm>
#include <set>
#include <tuple>

#include "spec/rules.hpp"
#include "spec/text.hpp"

namespace cox::spec {
namespace {

using Findings = std::vector<Finding>;

template <class T>
std::vector<std::string> Names(const std::vector<T>& list) {
  std::vector<std::string> names;
  for (const T& item : list) names.push_back(item.name);
  return names;
}

void CheckUnique(const std::string& list, const char* key, const std::vector<std::string>& names,
                 Findings& findings) {
  std::set<std::string> seen;
  for (size_t i = 0; i < names.size(); ++i) {
    if (!names[i].empty() && !seen.insert(names[i]).second) {
      findings.push_back({At(list, i) + "." + key, Quote(names[i]) + " is there already", ""});
    }
  }
}

void CheckFlavors(const Site& site, Findings& findings) {
  for (size_t i = 0; i < site.flavors.size(); ++i) {
    const Flavor& flavor = site.flavors[i];
    const std::string path = At("flavors", i) + ".gpus";
    if (flavor.gpu_class && flavor.unit.gpu_milli == 0) {
      findings.push_back({path, "a flavor of class GPU has some; or write class: CPU", "S36"});
    }
    if (!flavor.gpu_class && flavor.unit.gpu_milli != 0) {
      findings.push_back({path, "a flavor of class CPU has none", "S36"});
    }
  }
}

void CheckPools(const Site& site, Findings& findings) {
  const auto flavors = Names(site.flavors);
  for (size_t i = 0; i < site.pools.size(); ++i) {
    const Pool& pool = site.pools[i];
    const std::string path = At("pools", i);
    if (pool.dedicated && pool.tenant.empty()) {
      findings.push_back({path + ".tenant", "a dedicated pool needs its tenant", "S26"});
    }
    if (!pool.dedicated && !pool.tenant.empty()) {
      findings.push_back(
          {path + ".tenant", "only a dedicated pool has one; write isolation: dedicated", "S26"});
    }
    for (size_t j = 0; j < pool.flavors.size(); ++j) {
      if (site.FindFlavor(pool.flavors[j])) continue;
      findings.push_back({At(path + ".flavors", j),
                          Quote(pool.flavors[j]) + " is not among the flavors" +
                              DidYouMean(pool.flavors[j], flavors),
                          "S36"});
    }
  }
}

void CheckQuotas(const Site& site, Findings& findings) {
  std::set<std::tuple<QuotaLevel, std::string, CapacityType, std::string, std::string>> seen;
  for (size_t i = 0; i < site.quotas.size(); ++i) {
    const Quota& quota = site.quotas[i];
    const std::string path = At("quotas", i);
    if (quota.pool.empty() && quota.capacity_type == CapacityType::kReserved) {
      findings.push_back({path + ".pool", "a reserved quota is of one pool; name it", "S40"});
    }
    if (!quota.pool.empty() && !site.FindPool(quota.pool)) {
      findings.push_back({path + ".pool",
                          Quote(quota.pool) + " is not among the pools" +
                              DidYouMean(quota.pool, Names(site.pools)),
                          "S40"});
    }
    if (!site.FindFlavor(quota.flavor)) {
      findings.push_back({path + ".flavor",
                          Quote(quota.flavor) + " is not among the flavors" +
                              DidYouMean(quota.flavor, Names(site.flavors)),
                          "S40"});
    }
    if (!seen.insert({quota.level, quota.subject, quota.capacity_type, quota.pool, quota.flavor})
             .second) {
      findings.push_back({path, "the same quota is there already", "S40"});
    }
  }
}

void CheckProfiles(const Site& site, Findings& findings) {
  for (size_t i = 0; i < site.env_profiles.size(); ++i) {
    const EnvProfile& profile = site.env_profiles[i];
    const std::string list = At("envProfiles", i) + ".env";
    std::set<std::string> seen;
    for (size_t j = 0; j < profile.env.size(); ++j) {
      const std::string& name = profile.env[j].name;
      const std::string path = At(list, j) + ".name";
      if (const Objection o = EnvNameObjection(name); !o.text.empty()) {
        findings.push_back({path, o.text, o.rule});
      } else if (!seen.insert(name).second) {
        findings.push_back({path, Quote(name) + " is there already", "S15"});
      }
    }
  }
}

void CheckLabelPolicy(const Site& site, Findings& findings) {
  for (const auto& [key, values] : site.label_policy.keys) {
    if (const std::string what = LabelKeyObjection(key); !what.empty()) {
      findings.push_back({"labelPolicy.keys", what, "S113"});
    }
    for (const std::string& value : values) {
      if (const std::string what = LabelValueObjection(value); !what.empty()) {
        findings.push_back({"labelPolicy.keys", Quote(key) + ": " + what, "S113"});
      }
    }
  }
}

}  // namespace

std::vector<Finding> CheckSite(const Site& site) {
  Findings findings;
  CheckUnique("flavors", "name", Names(site.flavors), findings);
  CheckUnique("pools", "name", Names(site.pools), findings);
  CheckUnique("users", "name", Names(site.users), findings);
  CheckUnique("volumes", "name", Names(site.volumes), findings);
  CheckUnique("plugins", "name", Names(site.plugins), findings);
  std::vector<std::string> ids, profiles;
  for (const Volume& volume : site.volumes) ids.push_back(volume.id);
  for (const EnvProfile& profile : site.env_profiles) profiles.push_back(profile.user);
  CheckUnique("volumes", "id", ids, findings);
  CheckUnique("envProfiles", "user", profiles, findings);
  CheckFlavors(site, findings);
  CheckPools(site, findings);
  CheckQuotas(site, findings);
  CheckProfiles(site, findings);
  CheckLabelPolicy(site, findings);
  return findings;
}

}  // namespace cox::spec
