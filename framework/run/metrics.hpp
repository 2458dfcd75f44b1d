// The scheduler's own numbers and the endpoints of running jobs, for monitor plugins (S121-S126).
// Pure functions of what the loop published. The Observer calls the plugins with them, on a thread
// of its own: a slow plugin delays nobody, it only sees fewer pictures.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/time.hpp"
#include "run/published.hpp"

namespace cox::run {

using Labels = std::vector<std::pair<std::string, std::string>>;

struct Sample {
  std::string name, help;
  uint32_t kind = 0;  // COX_GAUGE, COX_COUNTER
  double value = 0;   // of counters: the total since the process started
  Labels labels;
};

struct Target {  // S122: only jobs that run and asked for it
  std::string address, path;
  Labels labels;  // the nine of S123, then role and rank (D14)
};

std::vector<Sample> Samples(const Published& published);
std::vector<Target> Targets(const Published& published);

class Observer {
 public:
  using Look = std::function<std::shared_ptr<const Published>()>;  // Loop::published

  // Looks every `interval` and once more at its end, so that what ended with the process is seen.
  Observer(Look look, Duration interval);
  ~Observer();

  uint64_t observed() const { return observed_.load(); }  // pictures given to the plugins
  uint64_t skipped() const { return skipped_.load(); }    // pictures that came and went between

 private:
  void Run(Duration interval);
  void Observe();

  Look look_;
  uint64_t last_turn_ = 0;
  std::atomic<uint64_t> observed_ = 0, skipped_ = 0;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool stop_ = false;
  std::thread thread_;
};

}  // namespace cox::run
