// The key of every member of a TrainingJob, written once; a Reader and a Writer walk it. Internal
// to spec/. Archive A is called as a("key", member), or as a.Group("key", [&](A& inner) {...}) for
// a level that the structs do not have.
#pragma once

#include "spec/training_job.hpp"

namespace cox::spec {

template <class A>
void Fields(A& a, Image& image) {
  a("ref", image.ref);
  a("pullSecret", image.pull_secret);
  a.Group("pullPolicy", [&](A& policy) { policy("maxRetries", image.pull_max_retries); });
}

template <class A>
void Fields(A& a, EnvVar& env) {
  a("name", env.name);
  a("value", env.value);
  a("hidden", env.hidden);
}

template <class A>
void Fields(A& a, Mount& mount) {
  const bool volume = mount.kind == Mount::Kind::kVolume;
  a(volume ? "volume" : "name", mount.source);
  if (!volume) a("version", mount.version);
  a("mountPath", mount.path);
  a("readOnly", mount.read_only);
}

template <class A>
void Fields(A& a, FlavorChoice& choice) {
  a("name", choice.name);
  a("count", choice.count);
}

template <class A>
void Fields(A& a, JobNodePolicy& policy) {
  a("type", policy.type);
  a("nodeNames", policy.node_names);
  a("ttlSeconds", policy.ttl_seconds);
}

template <class A>
void Fields(A& a, IdlePolicy& idle) {
  a("accept", idle.accept);
  a("prefer", idle.prefer);
  a("minStability", idle.min_stability);
}

template <class A>
void Fields(A& a, Topology& topology) {
  a("required", topology.required);
  a("preferred", topology.preferred);
}

template <class A>
void Fields(A& a, Scheduling& scheduling) {
  a("capacityType", scheduling.capacity_type);
  a("queue", scheduling.queue);
  a("flavors", scheduling.flavors);
  a("priorityClassName", scheduling.priority);
  a("preemptible", scheduling.preemptible);
  a("idle", scheduling.idle);
  a("nodePolicy", scheduling.node_policy);
  a("topology", scheduling.topology);
  a("spread", scheduling.spread);
  a("terminationGracePeriodSeconds", scheduling.termination_grace_period_seconds);
}

template <class A>
void Fields(A& a, SharedStorage& storage) {
  a("volume", storage.volume);
  a("cleanupOnExit", storage.cleanup_on_exit);
}

template <class A>
void Fields(A& a, Autoscaling& scaling) {
  a("enabled", scaling.enabled);
  a("minReplicas", scaling.min_replicas);
  a("maxReplicas", scaling.max_replicas);
  a("idleTimeoutSeconds", scaling.idle_timeout_seconds);
  a("upscalingMode", scaling.mode);
}

template <class A>
void Fields(A& a, Ray& ray) {
  a.Group("head", [&](A& head) { head("flavors", ray.head_flavors); });
  a("runtimeEnvYAML", ray.runtime_env_yaml);
  a("sharedStorage", ray.shared_storage);
  a("autoscaling", ray.autoscaling);
  a.Group("debug", [&](A& debug) {
    debug("enabled", ray.debug_enabled);
    debug("holdSeconds", ray.debug_hold_seconds);
  });
}

template <class A>
void Fields(A& a, FailureRule& rule) {
  a("onExitCodes", rule.on_exit_codes);
  a("onSignals", rule.on_signals);
  a("onLog", rule.on_log);
  a("action", rule.action);
}

template <class A>
void Fields(A& a, HangDetection& hang) {
  a("enabled", hang.enabled);
  a("logSilenceSeconds", hang.log_silence_seconds);
  a("gpuSignature", hang.gpu_signature);
  a.Group("heartbeat", [&](A& heartbeat) {
    heartbeat("firstSeconds", hang.heartbeat_first_seconds);
    heartbeat("laterSeconds", hang.heartbeat_seconds);
  });
  a("exitHangSeconds", hang.exit_hang_seconds);
  a("action", hang.action);
}

template <class A>
void Fields(A& a, FailurePolicy& failure) {
  a("enabled", failure.enabled);
  a("maxRetries", failure.max_retries);
  a("policy", failure.policy);
  a("rules", failure.rules);
  a.Group("excludeFailedNodes", [&](A& exclude) {
    exclude("enabled", failure.exclude_failed_nodes);
    exclude("ttlSeconds", failure.exclude_ttl_seconds);
  });
  a("maxPreemptionRetries", failure.max_preemption_retries);
  a("hangDetection", failure.hang_detection);
}

template <class A>
void Fields(A& a, Metrics& metrics) {
  a("enabled", metrics.enabled);
  a("port", metrics.port);
  a("path", metrics.path);
}

template <class A>
void Fields(A& a, Notification& notification) {
  a("on", notification.on);
  a("webhook", notification.webhook);
  a("email", notification.email);
}

template <class A>
void Fields(A& a, TrainingJob& job) {
  a.Group("metadata", [&](A& metadata) {
    metadata("generateName", job.generate_name);
    metadata("project", job.project);
    metadata("labels", job.labels);
  });
  a.Group("spec", [&](A& spec) {
    spec("type", job.type);
    spec("region", job.region);
    spec("cluster", job.cluster);
    spec("visibility", job.visibility);
    spec("timeZone", job.time_zone);
    spec("image", job.image);
    spec("command", job.command);
    spec("env", job.env);
    spec.Mounts("volumeMounts", Mount::Kind::kVolume, job.mounts);
    spec.Mounts("datasets", Mount::Kind::kDataset, job.mounts);
    spec.Mounts("models", Mount::Kind::kModel, job.mounts);
    spec("scheduling", job.scheduling);
    spec.Group("replicas", [&](A& replicas) { replicas("workers", job.workers); });
    if (job.type == TaskType::kRayJob || A::kReads) spec("ray", job.ray);
    spec("failurePolicy", job.failure_policy);
    spec.Group("ssh", [&](A& ssh) { ssh("enabled", job.ssh); });
    spec("metrics", job.metrics);
    spec("notifications", job.notifications);
    spec("timeLimitSeconds", job.time_limit_seconds);
  });
}

}  // namespace cox::spec
