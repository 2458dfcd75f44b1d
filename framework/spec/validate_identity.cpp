// Whose job is it, what is it called, where does it belong: S1-S3, S6, S113, S114.
#include <algorithm>

#include "spec/rules.hpp"
#include "spec/text.hpp"

namespace cox::spec {
namespace {

constexpr size_t kLongestName = 52;  // pod and service suffixes still fit DNS' 63
constexpr size_t kSuffix = 8;
constexpr size_t kLongestLabel = 63;
constexpr size_t kLongestPrefix = 253;

bool IsLower(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

void CheckName(const TrainingJob& job, Verdict& verdict) {
  const std::string& prefix = job.generate_name;
  const char* const path = "metadata.generateName";
  const bool letters =
      std::all_of(prefix.begin(), prefix.end(), [](char c) { return IsLower(c) || c == '-'; });
  const bool ends_in_two = prefix.size() > 1 && prefix.ends_with("--");
  if (prefix.empty() || !letters || !IsLower(prefix.front()) || ends_in_two) {
    Reject(verdict, path,
           Quote(prefix) +
               " is not a name prefix; use lowercase letters, digits and '-', begin "
               "with a letter or digit, end with at most one '-'",
           "S3");
  } else if (prefix.size() + kSuffix > kLongestName) {
    Reject(verdict, path,
           Quote(prefix) + " has " + std::to_string(prefix.size()) + " characters; at most " +
               std::to_string(kLongestName - kSuffix),
           "S3");
  }
}

void CheckPlace(const Case& c, Verdict& verdict) {
  if (!c.job.region.empty() && c.job.region != c.site.region) {
    Reject(verdict, "spec.region",
           Quote(c.job.region) + " is not the region of this site, " + Quote(c.site.region), "S1");
  }
  if (!c.job.cluster.empty() && c.job.cluster != c.site.cluster) {
    Reject(verdict, "spec.cluster",
           Quote(c.job.cluster) + " is not the cluster of this site, " + Quote(c.site.cluster),
           "S1");
  }
}

// Asia/Shanghai, Etc/GMT+8, UTC. Keeps everything out of TZ that is not a name, also where the site
// does not know which zones exist (decision 0011).
bool IsZone(std::string_view zone) {
  if (zone.empty() || zone.size() > 64) return false;
  bool start = true;  // of a part
  for (const char c : zone) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    const bool other = (c >= '0' && c <= '9') || c == '_' || c == '-' || c == '+';
    if (start ? !letter : !letter && !other && c != '/') return false;
    start = c == '/';
  }
  return !start;
}

void CheckLabels(const Case& c, Verdict& verdict) {
  for (const auto& [key, value] : c.job.labels) {
    if (const std::string what = LabelKeyObjection(key); !what.empty()) {
      Reject(verdict, "metadata.labels", what, "S113");
    } else if (const std::string wrong = LabelValueObjection(value); !wrong.empty()) {
      Reject(verdict, "metadata.labels." + key, wrong, "S113");
    }
  }
  const LabelPolicy& policy = c.site.label_policy;
  if (!policy.enabled) return;
  for (const auto& [key, values] : policy.keys) {
    const auto label = c.job.labels.find(key);
    if (label == c.job.labels.end()) {
      Reject(verdict, "metadata.labels." + key,
             "this site requires it; " + (values.empty() ? "any value" : "one of " + Join(values)),
             "S114");
    } else if (!values.empty() &&
               std::find(values.begin(), values.end(), label->second) == values.end()) {
      Reject(verdict, "metadata.labels." + key,
             Quote(label->second) + " is not one of " + Join(values) +
                 DidYouMean(label->second, values),
             "S114");
    }
  }
  std::vector<std::string> known;
  for (const auto& entry : policy.keys) known.push_back(entry.first);
  for (const auto& entry : c.job.labels) {
    if (policy.keys.contains(entry.first)) continue;
    Reject(verdict, "metadata.labels." + entry.first,
           "is not a label of this site; it has " + Join(known) + DidYouMean(entry.first, known),
           "S114");
  }
}

}  // namespace

bool IsHere(const Site& site, const std::string& region, const std::string& cluster) {
  return (region.empty() || region == site.region) && (cluster.empty() || cluster == site.cluster);
}

std::string LabelKeyObjection(std::string_view key) {
  const size_t slash = key.find('/');
  const bool has_prefix = slash != std::string_view::npos;
  const std::string_view name = has_prefix ? key.substr(slash + 1) : key;
  if (IsName(name, kLongestLabel) &&
      (!has_prefix || IsName(key.substr(0, slash), kLongestPrefix))) {
    return "";
  }
  return Quote(key) +
         " is not a label key; use up to 63 letters, digits, '-', '_' and '.', a letter or digit "
         "at both ends";
}

std::string LabelValueObjection(std::string_view value) {
  if (value.empty() || IsName(value, kLongestLabel)) return "";
  return Quote(value) +
         " is not a label value; use up to 63 letters, digits, '-', '_' and '.', a letter or "
         "digit at both ends";
}

void CheckIdentity(const Case& c, Verdict& verdict) {
  CheckName(c.job, verdict);
  CheckPlace(c, verdict);
  if (!c.job.project.empty() && c.job.project != c.who.project) {
    Reject(verdict, "metadata.project",
           Quote(c.job.project) + " is not the project you act for, " + Quote(c.who.project), "S2");
  }
  if (!IsZone(c.job.time_zone)) {
    Reject(verdict, "spec.timeZone",
           Quote(c.job.time_zone) + " is not the name of a time zone such as Asia/Shanghai", "S6");
  } else if (const auto& zones = c.site.time_zones;
             !zones.empty() && !std::ranges::binary_search(zones, c.job.time_zone)) {
    Reject(verdict, "spec.timeZone",
           Quote(c.job.time_zone) + " is not a time zone that this cluster knows" +
               DidYouMean(c.job.time_zone, zones),
           "S6");
  }
  CheckLabels(c, verdict);
}

}  // namespace cox::spec
