// Slurm's state, flowing in: one thread that polls (slurmctld has no subscriptions), sooner when
// kicked. Each look that shows a change is posted as one whole Baseline, and one every 30 s anyway,
// so no delta can be missed. While slurmctld is away nothing is posted: silence is not emptiness.
//
// It also keeps the adapter's one invariant, which is no decision: a job of ours is held unless
// the actuator is releasing it. Running ones too, so that whatever requeues them (a node failure,
// an administrator, their user) leaves them waiting, also while this daemon is down.
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "adapter.hpp"
#include "base/log.hpp"
#include "base/time.hpp"
#include "slurm/shared.hpp"
#include "slurm/slurm_api.hpp"

namespace cox::slurm {

struct SourceParts {  // all outlive the source
  Api* api = nullptr;
  Shared* shared = nullptr;
  const Clock* clock = nullptr;
  Log* log = nullptr;
  std::chrono::milliseconds poll{500};
};

enum class MayChange { kDone, kStarted, kNotHis, kLater };

class SlurmSource final : public Source {
 public:
  explicit SlurmSource(SourceParts parts);
  ~SlurmSource() override;

  Result<void> Start(DeltaSink& sink) override;
  void Kick() override;
  void Stop() override;

  // A job that job_submit is being told to accept: looks soon, and again until it is seen, so that
  // whoever asks about it a moment later finds it.
  void Expect(const std::string& uuid);

  // A person's `scontrol hold` or `release` of a waiting job, from job_submit; slurmctld waits for
  // the answer, so this only says whether it can be done, and the thread does it at once after.
  // kLater: not seen yet. Decision 0055.
  MayChange Change(const std::string& uuid, uint32_t uid, bool hold);

  // One look, as the thread does it; posts when something changed. Tests call it without Start().
  Result<void> Look(DeltaSink& sink);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace cox::slurm
