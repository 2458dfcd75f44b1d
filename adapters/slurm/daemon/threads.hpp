// Two threads that the daemon keeps beside its loop: one waits for signals, one for slurmctld. Both
// begin in the constructor and end in the destructor; what they are given outlives them.
#pragma once

#include <condition_variable>
#include <mutex>
#include <thread>

#include "base/log.hpp"
#include "run/loop.hpp"
#include "slurm/source.hpp"

namespace cox::slurm {

class SignalWaiter {  // SIGTERM and SIGINT stop the loop, SIGHUP reloads
 public:
  SignalWaiter(run::Loop& loop, Log& log);
  ~SignalWaiter();

  static void Block();  // before the process has a second thread

 private:
  std::thread thread_;
};

// Starts the source as soon as slurmctld answers for the first time.
class Starter {
 public:
  Starter(SlurmSource& source, DeltaSink& sink, Log& log);
  ~Starter();

 private:
  void Try(SlurmSource& source, DeltaSink& sink, Log& log);

  std::mutex mutex_;
  std::condition_variable changed_;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace cox::slurm
