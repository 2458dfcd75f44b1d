#include <algorithm>
#include <map>
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
  names.reserve(list.size());
  for (const T& item : list) names.push_back(item.name);
  return names;
}

// Whom this site knows. Where `defaults.tenant` takes in whoever is not listed, any user may be
// named; he works for that tenant and for the project that bears its name (Resolve). A file that
// knows nobody at all is not yet, or never, a daemon's: those whom it names come with a trace.
class People {
 public:
  People(const Site& site, Findings& findings)
      : guests_(!site.default_tenant.empty()),
        nobody_(site.users.empty() && !guests_),
        findings_(findings) {
    for (const User& user : site.users) {
      users_.push_back(user.name);
      tenants_.push_back(user.tenant);
      projects_.insert(projects_.end(), user.projects.begin(), user.projects.end());
      if (user.projects.empty()) projects_.push_back(user.tenant);
    }
    if (!guests_) return;
    tenants_.push_back(site.default_tenant);
    projects_.push_back(site.default_tenant);
  }

  void CheckUser(const std::string& path, const std::string& name, const char* rule) const {
    if (!guests_) Check(path, name, users_, " is not among the users", rule);
  }
  void CheckProject(const std::string& path, const std::string& name, const char* rule) const {
    Check(path, name, projects_, " is no user's project", rule);
  }
  void CheckTenant(const std::string& path, const std::string& name, const char* rule) const {
    Check(path, name, tenants_, " is no user's tenant", rule);
  }

 private:
  void Check(const std::string& path, const std::string& name,
             const std::vector<std::string>& known, const char* what, const char* rule) const {
    if (nobody_ || std::ranges::find(known, name) != known.end()) return;
    findings_.push_back({path, Quote(name) + what + DidYouMean(name, known), rule});
  }

  const bool guests_, nobody_;
  Findings& findings_;
  std::vector<std::string> users_, projects_, tenants_;
};

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

void CheckPools(const Site& site, const People& people, Findings& findings) {
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
    } else if (pool.dedicated && !pool.tenant.empty()) {
      people.CheckTenant(path + ".tenant", pool.tenant, "S26");
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

// A node without a domain is out of reach for who requires one; no harm in that.
void CheckTopology(const Site& site, Findings& findings) {
  for (size_t i = 0; i < site.topology.size(); ++i) {
    const TopologyLevel& level = site.topology[i];
    const std::string path = At("topology", i) + ".domains";
    CheckUnique(path, "name", Names(level.domains), findings);
    std::map<std::string, std::string> home;  // of a node: domain
    for (size_t j = 0; j < level.domains.size(); ++j) {
      const TopologyDomain& domain = level.domains[j];
      for (const std::string& node : domain.nodes) {
        const auto [known, fresh] = home.emplace(node, domain.name);
        if (fresh) continue;
        findings.push_back({At(path, j) + ".nodes",
                            Quote(node) + " is in " + Quote(known->second) +
                                " already; a node is in one domain of a level",
                            ""});
      }
    }
  }
}

void CheckSubject(const Quota& quota, const std::string& path, const People& people) {
  switch (quota.level) {
    case QuotaLevel::kTenant:
      return people.CheckTenant(path + ".tenant", quota.subject, "S40");
    case QuotaLevel::kProject:
      return people.CheckProject(path + ".project", quota.subject, "S40");
    case QuotaLevel::kUser:
      return people.CheckUser(path + ".user", quota.subject, "S40");
  }
}

void CheckQuotas(const Site& site, const People& people, Findings& findings) {
  std::set<std::tuple<QuotaLevel, std::string, CapacityType, std::string, std::string>> seen;
  for (size_t i = 0; i < site.quotas.size(); ++i) {
    const Quota& quota = site.quotas[i];
    const std::string path = At("quotas", i);
    CheckSubject(quota, path, people);
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

void CheckVolumes(const Site& site, const People& people) {
  for (size_t i = 0; i < site.volumes.size(); ++i) {
    const Volume& volume = site.volumes[i];
    const std::string acl = At("volumes", i) + ".acl";
    for (size_t j = 0; j < volume.users.size(); ++j) {
      people.CheckUser(At(acl + ".users", j), volume.users[j], "S89");
    }
    for (size_t j = 0; j < volume.projects.size(); ++j) {
      people.CheckProject(At(acl + ".projects", j), volume.projects[j], "S89");
    }
  }
}

void CheckProfiles(const Site& site, const People& people, Findings& findings) {
  for (size_t i = 0; i < site.env_profiles.size(); ++i) {
    const EnvProfile& profile = site.env_profiles[i];
    people.CheckUser(At("envProfiles", i) + ".user", profile.user, "S15");
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
  std::vector<std::string> ids, profiles, levels;
  for (const Volume& volume : site.volumes) ids.push_back(volume.id);
  for (const EnvProfile& profile : site.env_profiles) profiles.push_back(profile.user);
  for (const TopologyLevel& level : site.topology) levels.push_back(level.level);
  CheckUnique("volumes", "id", ids, findings);
  CheckUnique("topology", "level", levels, findings);
  CheckUnique("envProfiles", "user", profiles, findings);
  CheckFlavors(site, findings);
  const People people(site, findings);
  CheckPools(site, people, findings);
  CheckTopology(site, findings);
  CheckQuotas(site, people, findings);
  CheckVolumes(site, people);
  CheckProfiles(site, people, findings);
  CheckLabelPolicy(site, findings);
  return findings;
}

}  // namespace cox::spec
