#include <algorithm>

#include "spec/text.hpp"
#include "spec/validate.hpp"

namespace cox::spec {

Result<Submitter> Resolve(const Site& site, const std::string& user, const std::string& project) {
  const User* known = site.FindUser(user);
  if (!known && site.default_tenant.empty()) {
    return Forbidden("user " + Quote(user) +
                     " is not among the users of this site; "
                     "ask its administrator");
  }
  Submitter who{.user = user,
                .tenant = known ? known->tenant : site.default_tenant,
                .org = known && !known->org.empty() ? known->org : site.org,
                .project = "",
                .admin = known && known->admin};
  // Who has no project works for the tenant's own, which bears its name.
  std::vector<std::string> projects = known ? known->projects : std::vector<std::string>();
  if (projects.empty()) projects.push_back(who.tenant);
  who.project = project.empty() ? projects.front() : project;
  if (std::find(projects.begin(), projects.end(), who.project) == projects.end()) {
    return Forbidden("user " + Quote(user) + " has no project " + Quote(project) +
                     "; has: " + Join(projects) + " (S2)");
  }
  return who;
}

std::vector<EnvVar> MergeEnv(const Site& site, const std::string& user, const TrainingJob& job) {
  std::vector<EnvVar> merged;
  for (const EnvProfile& profile : site.env_profiles) {
    if (profile.user == user) merged = profile.env;
  }
  for (const EnvVar& own : job.env) {
    const auto same = std::find_if(merged.begin(), merged.end(),
                                   [&](const EnvVar& env) { return env.name == own.name; });
    if (same == merged.end()) {
      merged.push_back(own);
    } else {
      *same = own;
    }
  }
  return merged;
}

std::string NameFor(const std::string& generate_name, uint64_t random_bits) {
  static constexpr char kBase32[] = "abcdefghijklmnopqrstuvwxyz234567";
  std::string name = generate_name;
  for (int i = 0; i < 8; ++i) name += kBase32[(random_bits >> (5 * i)) & 31];
  return name;
}

}  // namespace cox::spec
