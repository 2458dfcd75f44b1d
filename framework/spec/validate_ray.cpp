// What only a RayJob has: S4, S85, S86, S88-S90, S96-S98.
#include <algorithm>

#include "spec/document.hpp"
#include "spec/rules.hpp"
#include "spec/text.hpp"

namespace cox::spec {
namespace {

void CheckAbsent(const Ray& ray, Verdict& verdict) {
  const auto reject = [&](const char* path, const char* rule) {
    Reject(verdict, path, "only a RayJob has it; this is a PyTorchJob", rule);
  };
  if (ray.shared_storage) reject("spec.ray.sharedStorage", "S88");
  if (!ray.head_flavors.empty()) reject("spec.ray.head.flavors", "S32");
  if (!ray.runtime_env_yaml.empty()) reject("spec.ray.runtimeEnvYAML", "S4");
  if (ray.autoscaling.enabled) reject("spec.ray.autoscaling.enabled", "S4");
  if (ray.debug_enabled) reject("spec.ray.debug.enabled", "S4");
}

void CheckRuntimeEnv(const std::string& yaml, Verdict& verdict) {
  const std::string path = "spec.ray.runtimeEnvYAML";
  if (yaml.find_first_not_of(" \t\r\n") == std::string::npos) return;
  const Result<Document> document = ParseDocument(yaml, "line");
  if (!document) return Reject(verdict, path, document.error().text, "S86");
  if (document->value.is_null()) return;  // nothing but comments
  if (!document->value.is_object()) {
    return Reject(verdict, path, "is not a map, such as {pip: [einops]}", "S86");
  }
  const auto env = document->value.find("env_vars");
  if (env == document->value.end()) return;
  if (!env->is_object()) return Reject(verdict, path, "env_vars: is not a map", "S86");
  for (const auto& [name, value] : env->items()) {
    if (!value.is_string()) {
      Reject(verdict, path,
             "env_vars." + name + ": Ray takes text only; write it in quotes: \"" + value.dump() +
                 "\"",
             "S86");
    }
    if (const Objection o = EnvNameObjection(name); !o.text.empty()) {
      Reject(verdict, path, "env_vars: " + o.text, o.rule);
    }
  }
}

void CheckSharedStorage(const Case& c, Verdict& verdict) {
  if (!c.job.ray.shared_storage) return;
  const std::string path = "spec.ray.sharedStorage.volume";
  const std::string& name = c.job.ray.shared_storage->volume;
  const Volume* volume = c.site.FindVolume(name);
  if (!volume) {
    std::vector<std::string> names;
    for (const Volume& v : c.site.volumes) names.push_back(v.name);
    return Reject(verdict, path,
                  Quote(name) + " is not a volume of this site" + DidYouMean(name, names), "S87");
  }
  if (!IsHere(c.site, volume->region, volume->cluster)) {
    return Reject(verdict, path,
                  "volume " + Quote(name) + " is in cluster " + Quote(volume->cluster) +
                      ", the job runs in " + Quote(c.site.cluster),
                  "S1");
  }
  if (!MayUse(*volume, c.who)) {
    Reject(verdict, path, "user " + Quote(c.who.user) + " may not mount volume " + Quote(name),
           "S89");
  }
  const auto& modes = volume->access_modes;
  if (std::find(modes.begin(), modes.end(), "ReadWriteMany") == modes.end()) {
    Reject(verdict, path,
           "volume " + Quote(name) + " is " + Join(modes) + "; shared storage needs ReadWriteMany",
           "S90");
  }
}

void CheckAutoscaling(const TrainingJob& job, Verdict& verdict) {
  const Autoscaling& scaling = job.ray.autoscaling;
  if (!scaling.enabled) return;
  const std::string path = "spec.ray.autoscaling";
  const std::string low = std::to_string(scaling.min_replicas);
  const std::string high = std::to_string(scaling.max_replicas);
  if (scaling.min_replicas < 0) Reject(verdict, path + ".minReplicas", low + " is below 0", "S96");
  if (scaling.max_replicas < 1) {
    Reject(verdict, path + ".maxReplicas", high + " is below 1", "S97");
  } else if (scaling.min_replicas > scaling.max_replicas) {
    Reject(verdict, path + ".minReplicas", low + " is above maxReplicas " + high, "S97");
  } else if (job.workers < scaling.min_replicas || job.workers > scaling.max_replicas) {
    Reject(verdict, "spec.replicas.workers",
           std::to_string(job.workers) + " is not between minReplicas " + low +
               " and maxReplicas " + high,
           "S97");
  }
  if (scaling.idle_timeout_seconds < 1) {
    Reject(verdict, path + ".idleTimeoutSeconds",
           std::to_string(scaling.idle_timeout_seconds) + " is below 1", "S98");
  }
}

}  // namespace

void CheckRay(const Case& c, Verdict& verdict) {
  if (c.job.type != TaskType::kRayJob) return CheckAbsent(c.job.ray, verdict);
  CheckFlavors(c, "spec.ray.head.flavors", c.job.ray.head_flavors, verdict);
  CheckRuntimeEnv(c.job.ray.runtime_env_yaml, verdict);
  CheckSharedStorage(c, verdict);
  CheckAutoscaling(c.job, verdict);
}

}  // namespace cox::spec
