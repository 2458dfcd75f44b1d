// Volumes, data sets and models in the job: S1, S17-S21, S87, S89, D21.
#include <algorithm>
#include <map>

#include "spec/rules.hpp"
#include "spec/text.hpp"

namespace cox::spec {
namespace {

constexpr const char* kRayShared = "/tmp/ray";  // S87

// "/a/b" for "/a/b/"; "" unless it is an absolute path without "..", "." and empty steps. ':' and
// ',' separate mounts on the command lines of container runtimes.
std::string CleanPath(std::string_view path) {
  while (path.size() > 1 && path.ends_with('/')) path.remove_suffix(1);
  if (path.size() < 2 || path.size() > 4095 || path[0] != '/') return "";
  const bool plain = std::none_of(path.begin(), path.end(), [](char c) {
    return c == ':' || c == ',' || (c >= 0 && c < ' ') || c == 0x7F;
  });
  if (!plain) return "";
  for (size_t begin = 1; begin <= path.size();) {
    const size_t end = std::min(path.find('/', begin), path.size());
    const std::string_view step = path.substr(begin, end - begin);
    if (step.empty() || step == "." || step == "..") return "";
    begin = end + 1;
  }
  return std::string(path);
}

bool IsOnOrBelow(std::string_view path, std::string_view top) {
  return path == top || (path.starts_with(top) && path.size() > top.size() &&
                         (top.ends_with('/') || path[top.size()] == '/'));
}

const char* ListOf(Mount::Kind kind) {
  switch (kind) {
    case Mount::Kind::kVolume:
      return "spec.volumeMounts";
    case Mount::Kind::kDataset:
      return "spec.datasets";
    case Mount::Kind::kModel:
      return "spec.models";
  }
  return "spec.volumeMounts";
}

void CheckVolume(const Case& c, const std::string& path, const Mount& mount, Verdict& verdict) {
  const Volume* volume = c.site.FindVolume(mount.source);
  if (!volume) {
    std::vector<std::string> names;
    for (const Volume& v : c.site.volumes) names.push_back(v.name);
    Reject(verdict, path,
           Quote(mount.source) + " is not a volume of this site" + DidYouMean(mount.source, names),
           "S17");
  } else if (!IsHere(c.site, volume->region, volume->cluster)) {
    Reject(verdict, path,
           "volume " + Quote(mount.source) + " is in cluster " + Quote(volume->cluster) +
               ", the job runs in " + Quote(c.site.cluster),
           "S1");
  } else if (!MayUse(*volume, c.who)) {
    Reject(verdict, path,
           "user " + Quote(c.who.user) + " may not mount volume " + Quote(mount.source), "S89");
  }
}

void CheckPath(const Case& c, const std::string& at, const std::string& path, Verdict& verdict) {
  for (const std::string& shadowed : c.site.shadowed_mount_warnings) {
    if (!IsOnOrBelow(path, shadowed)) continue;
    Warn(verdict, at,
         "MountPathShadowsImage: " + Quote(path) +
             " hides a part of the image; better use a "
             "directory of its own below /volume or /mnt",
         "S21");
    return;
  }
  if (c.job.ray.shared_storage && IsOnOrBelow(path, kRayShared)) {
    Reject(verdict, at, Quote(path) + " is taken by the job's shared storage", "S87");
  }
}

}  // namespace

bool MayUse(const Volume& volume, const Submitter& who) {
  const auto has = [](const std::vector<std::string>& list, const std::string& name) {
    return std::find(list.begin(), list.end(), name) != list.end();
  };
  return (volume.users.empty() && volume.projects.empty()) || has(volume.users, who.user) ||
         has(volume.projects, who.project);
}

void CheckMounts(const Case& c, Verdict& verdict) {
  std::map<std::string, const Mount*> taken;
  std::map<Mount::Kind, size_t> next;  // the index in the list that the user wrote
  for (const Mount& mount : c.job.mounts) {
    const std::string at = At(ListOf(mount.kind), next[mount.kind]++);
    if (mount.kind == Mount::Kind::kVolume) CheckVolume(c, at + ".volume", mount, verdict);
    const std::string path = CleanPath(mount.path);
    if (path.empty()) {
      Reject(verdict, at + ".mountPath",
             Quote(mount.path) +
                 " is not a mount path; write an absolute one such as /volume/a, "
                 "without '..', ':' and ','",
             "S17");
      continue;
    }
    const auto [first, is_new] = taken.emplace(path, &mount);
    if (is_new) {
      CheckPath(c, at + ".mountPath", path, verdict);
    } else if (first->second->kind == mount.kind && first->second->source == mount.source) {
      Reject(verdict, at + ".mountPath",
             Quote(mount.source) + " is mounted at " + Quote(path) + " already", "S18");
    } else {
      Reject(verdict, at + ".mountPath",
             Quote(path) + " is taken by " + Quote(first->second->source), "D21");
    }
  }
}

}  // namespace cox::spec
