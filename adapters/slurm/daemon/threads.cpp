#include "threads.hpp"

#include <signal.h>

#include <chrono>

namespace cox::slurm {
namespace {

sigset_t Signals() {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int one : {SIGTERM, SIGINT, SIGHUP, SIGUSR1}) sigaddset(&signals, one);
  return signals;
}

void Wait(run::Loop& loop, Log& log) {
  const sigset_t signals = Signals();
  for (int got = 0; sigwait(&signals, &got) == 0;) {
    if (got != SIGHUP) return loop.Stop();
    log.Info("SIGHUP: reading the site file again");
    loop.Ask(run::ReloadRequest{[](const Result<std::string>&) {}});
  }
}

}  // namespace

SignalWaiter::SignalWaiter(run::Loop& loop, Log& log)
    : thread_([&loop, &log] { Wait(loop, log); }) {}

SignalWaiter::~SignalWaiter() {
  pthread_kill(thread_.native_handle(), SIGUSR1);  // ends the wait
  thread_.join();
}

void SignalWaiter::Block() {
  const sigset_t signals = Signals();
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
}

Starter::Starter(SlurmSource& source, DeltaSink& sink, Log& log)
    : thread_([this, &source, &sink, &log] { Try(source, sink, log); }) {}

Starter::~Starter() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
    changed_.notify_one();
  }
  thread_.join();
}

void Starter::Try(SlurmSource& source, DeltaSink& sink, Log& log) {
  for (bool said = false;; said = true) {
    const auto started = source.Start(sink);
    if (started) return log.Info("slurmctld answers");
    if (!said)
      log.Warn("slurmctld does not answer yet; trying again", {{"error", started.error().text}});
    std::unique_lock lock(mutex_);
    if (changed_.wait_for(lock, std::chrono::seconds(1), [this] { return stopping_; })) return;
  }
}

}  // namespace cox::slurm
