// The checks behind Validate(), one file a topic; and the few questions that several topics ask.
// Internal to spec/. Pure.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "spec/site.hpp"
#include "spec/training_job.hpp"
#include "spec/validate.hpp"

namespace cox::spec {

struct Case {
  const TrainingJob& job;
  const Site& site;
  const Submitter& who;
};

void CheckIdentity(const Case& c, Verdict& verdict);       // S1-S3, S6, S113, S114
void CheckEnvironment(const Case& c, Verdict& verdict);    // S9, S12, S23, D12
void CheckMounts(const Case& c, Verdict& verdict);         // S1, S17-S21, S87, S89, D21
void CheckScheduling(const Case& c, Verdict& verdict);     // S25-S38, S44, matrix 3.2, D3, D8
void CheckRay(const Case& c, Verdict& verdict);            // S4, S85, S86, S88-S90, S96-S98
void CheckFailure(const Case& c, Verdict& verdict);        // S66, S67, S76, S108, 2.1
void CheckMonitoring(const Case& c, Verdict& verdict);     // S70, S121
void CheckJobNodePolicy(const Case& c, Verdict& verdict);  // S71-S76, D11

// What is wrong with a site beyond its schema: names that are written twice or do not exist, and
// the rules that its objects share with jobs.
std::vector<Finding> CheckSite(const Site& site);

inline void Reject(Verdict& verdict, std::string path, std::string text, std::string rule) {
  verdict.errors.push_back({std::move(path), std::move(text), std::move(rule)});
}
inline void Warn(Verdict& verdict, std::string path, std::string text, std::string rule) {
  verdict.warnings.push_back({std::move(path), std::move(text), std::move(rule)});
}

// "spec.env[3]"
inline std::string At(const std::string& list, size_t index) {
  return list + "[" + std::to_string(index) + "]";
}

// S1: does an object of this region and cluster belong to the site? Empty = the site's own.
bool IsHere(const Site& site, const std::string& region, const std::string& cluster);

// S26: a dedicated pool serves its own tenant only.
bool MayUse(const Pool& pool, const Submitter& who);

// S89: a volume whose list of users and projects is empty is everybody's.
bool MayUse(const Volume& volume, const Submitter& who);

// S12, D12: what is wrong with the name of a variable, and the rule that says so; "" if nothing.
struct Objection {
  std::string text, rule;
};
Objection EnvNameObjection(std::string_view name);

// S37, S38: flavors of a role, each one known, counted, offered by a pool of the job's type.
void CheckFlavors(const Case& c, const std::string& path, const std::vector<FlavorChoice>& flavors,
                  Verdict& verdict);

// S113: as Kubernetes has it, so that a label can be one there. "" if nothing is wrong.
std::string LabelKeyObjection(std::string_view key);
std::string LabelValueObjection(std::string_view value);

// S76: 1 minute to 72 hours.
constexpr int64_t kMinPolicySeconds = 60;
constexpr int64_t kMaxPolicySeconds = 72 * 3600;

}  // namespace cox::spec
