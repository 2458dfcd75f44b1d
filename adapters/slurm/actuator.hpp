// The framework's orders, carried out on Slurm by one thread, in the order in which they came.
// Every order first reads the job and checks that it is the attempt that is meant; a job that has
// moved on is a Conflict, one that has got there already a success, so orders may be repeated.
//
// Place lets a held job start and answers when it runs on its nodes; what does not run there in
// time is held again and answered as a Conflict. Slurm decides when a released job starts, so a
// release is a request.
#pragma once

#include <chrono>
#include <memory>

#include "adapter.hpp"
#include "base/log.hpp"
#include "slurm/shared.hpp"
#include "slurm/slurm_api.hpp"

namespace cox::slurm {

struct ActuatorParts {  // all outlive the actuator
  Api* api = nullptr;
  Shared* shared = nullptr;
  const Clock* clock = nullptr;
  Log* log = nullptr;
  std::chrono::milliseconds verify{3000};
};

class SlurmActuator final : public Actuator {
 public:
  explicit SlurmActuator(ActuatorParts parts);
  ~SlurmActuator() override;

  void Start(DeltaSink& sink);  // orders that came before are carried out now
  void Stop();

  void Submit(std::vector<model::Action> actions) override;

  // What the thread does again and again; tests call it instead. Returns whether releases are
  // still being watched.
  bool Turn(DeltaSink& sink);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace cox::slurm
