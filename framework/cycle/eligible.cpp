#include "cycle/round.hpp"
#include "cycle/text.hpp"

namespace cox::cycle {

std::optional<model::Blocker> NotNow(const Round& round, uint32_t row) {
  const model::PendingJob& job = round.snapshot.pending[row];
  model::Blocker blocker;
  if (!job.held.empty()) {
    blocker.code = "Held";
    blocker.text = job.held;
    return blocker;
  }
  if (round.snapshot.now < job.not_before) {
    blocker.code = "BackoffAfterFailure";
    blocker.text = "attempt " + std::to_string(job.attempt) + " may start at " +
                   Utc(job.not_before) + ": back-off after a failure";
    blocker.retry_at = job.not_before;
    return blocker;
  }
  const std::string& level = job.topology.required;
  if (!level.empty() && round.snapshot.site->FindTopologyLevel(level) == nullptr) {
    blocker.code = "InsufficientResources";
    blocker.text = "requires one " + level + ", which is no longer a level of the site's topology";
    return blocker;
  }
  if (job.candidates.empty()) {
    blocker.code = "InsufficientResources";
    blocker.text = "no pool offers any of its flavors for " + std::string(Name(job.capacity)) +
                   " jobs; see `cox flavors`";
    return blocker;
  }
  return std::nullopt;
}

}  // namespace cox::cycle
