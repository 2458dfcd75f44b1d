#include "run/inbox.hpp"

#include <algorithm>
#include <utility>

namespace cox::run {

void Inbox::Post(model::Delta delta) {
  {
    const std::lock_guard lock(mutex_);
    contents_.deltas.push_back(std::move(delta));
  }
  changed_.notify_one();
}

void Inbox::Ask(Request request) {
  {
    const std::lock_guard lock(mutex_);
    contents_.requests.push_back(std::move(request));
  }
  changed_.notify_one();
}

void Inbox::Wake() {
  {
    const std::lock_guard lock(mutex_);
    woken_ = true;
  }
  changed_.notify_one();
}

Inbox::Contents Inbox::Drain() {
  const std::lock_guard lock(mutex_);
  woken_ = false;
  return std::exchange(contents_, {});
}

void Inbox::Wait(TimePoint until) {
  std::unique_lock lock(mutex_);
  const auto something = [&] {
    return woken_ || !contents_.deltas.empty() || !contents_.requests.empty();
  };
  while (!something()) {
    const TimePoint now = clock_.Now();
    if (now >= until) return;
    const Duration rest = until - now;
    changed_.wait_for(lock, std::min<Duration>(rest, std::chrono::seconds(1)));
  }
}

}  // namespace cox::run
