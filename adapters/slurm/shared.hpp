// What the source, the actuator and the submit server have in common. Made by main(), outlives
// them; thread-safe.
#pragma once

#include <memory>
#include <mutex>
#include <set>

#include "spec/site.hpp"

namespace cox::slurm {

class Shared {
 public:
  explicit Shared(std::shared_ptr<const spec::Site> site) : site_(std::move(site)) {}

  std::shared_ptr<const spec::Site> site() const {
    std::lock_guard lock(mutex_);
    return site_;
  }
  // When the loop has taken a new one over, on its thread: it alone decides from when on it holds.
  void Use(std::shared_ptr<const spec::Site> site) {
    std::lock_guard lock(mutex_);
    site_ = std::move(site);
  }

  // Jobs that the actuator lets start just now. Whatever else is not held is held by the source:
  // nothing of ours starts unplaced, whoever released or requeued it.
  void BeginRelease(uint32_t job) {
    std::lock_guard lock(mutex_);
    releasing_.insert(job);
  }
  void EndRelease(uint32_t job) {
    std::lock_guard lock(mutex_);
    releasing_.erase(job);
  }
  bool IsReleasing(uint32_t job) const {
    std::lock_guard lock(mutex_);
    return releasing_.contains(job);
  }

  // Held by the source from reading the jobs until they are posted, and by the actuator from
  // making a job until that is posted. Why: a baseline that was read before and comes after would
  // say that the new job is gone.
  std::mutex creating;

 private:
  mutable std::mutex mutex_;
  std::shared_ptr<const spec::Site> site_;
  std::set<uint32_t> releasing_;
};

}  // namespace cox::slurm
