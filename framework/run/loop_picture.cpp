#include <utility>

#include "run/loop_state.hpp"
#include "run/recorder.hpp"

namespace cox::run {

Published Loop::State::Picture(TimePoint now) const {
  Published p;
  p.now = now;
  p.generation = generation;
  p.not_ready = NotReady();
  p.degraded = degraded;
  p.site = parts.config.site;
  p.plugins = parts.config.plugins;
  p.instances = parts.config.plugins->Status();
  p.nodes = cluster.nodes();
  p.tasks = cluster.tasks();
  for (const auto& [id, policy] : cluster.policies()) p.policies.push_back(policy);
  p.ledger = std::make_shared<const model::Ledger>(cluster.ledger());
  if (const auto checked = cluster.CheckLedger(); !checked) p.ledger_error = checked.error().text;
  p.decision = decision;
  p.counters = counters;
  p.counters.actions = outbox.sent();
  p.counters.actions_overdue = outbox.overdue();
  p.counters.late_outcomes = outbox.late();
  p.counters.recorder_dropped = parts.recorder == nullptr ? 0 : parts.recorder->dropped();
  return p;
}

void Loop::State::Publish(TimePoint now) {
  auto picture = std::make_shared<const Published>(Picture(now));
  const std::lock_guard lock(view_mutex);
  view.swap(picture);
}

void Loop::State::LogNotices() {
  for (const host::Notice& notice : parts.config.plugins->TakeNotices()) {
    if (parts.log == nullptr) continue;
    const Log::Fields fields = {{"plugin", notice.instance}, {"text", notice.text}};
    switch (notice.level) {
      case host::Notice::Level::kError:
        parts.log->Error("plugin", fields);
        break;
      case host::Notice::Level::kWarn:
        parts.log->Warn("plugin", fields);
        break;
      case host::Notice::Level::kInfo:
        parts.log->Info("plugin", fields);
        break;
      case host::Notice::Level::kDebug:
        parts.log->Debug("plugin", fields);
        break;
    }
  }
}

}  // namespace cox::run
