#include "scenario/batch.hpp"

#include <algorithm>
#include <charconv>
#include <csignal>
#include <utility>

namespace cox::scenario {
namespace {

using Phase = model::Observation::Phase;

model::Exit Killed() {
  model::Exit exit;
  exit.exit_code = 128 + SIGKILL;
  exit.signal = SIGKILL;
  return exit;
}

}  // namespace

Batch::Batch(const Scenario& scenario, History& history)
    : scenario_(scenario), history_(history), jobs_(scenario.jobs.size()) {
  for (const model::Node& node : scenario.nodes) nodes_[node.name] = node;
  for (size_t i = 0; i < jobs_.size(); ++i) {
    const std::string id = NativeId(i);
    jobs_[i].shown.native_id = id;
    jobs_[i].shown.root_uuid = "00000000-0000-4000-8000-" + std::string(12 - id.size(), '0') + id;
  }
}

void Batch::Broken(const std::string& what) {
  history_.broken.push_back("t=" + std::to_string(second_) + ": " + what);
}

void Batch::Post(model::Delta delta) {
  if (sink_ == nullptr) return;
  sink_->Post(std::move(delta));
  posted_ = true;
}

void Batch::Show(size_t job) {
  Post(model::Observed{jobs_[job].shown});
}

void Batch::ShowAgain(size_t job) {
  if (jobs_[job].submitted) Show(job);
}

model::Submission Batch::SubmissionOf(size_t job) const {
  const Job& asked = scenario_.jobs[job];
  model::Submission submission;
  submission.native_id = jobs_[job].shown.native_id;
  submission.root_uuid = jobs_[job].shown.root_uuid;
  submission.user = asked.user;
  submission.project = asked.project;
  submission.name = asked.id;
  submission.job = asked.job;
  submission.submitted_at = jobs_[job].submitted_at;
  return submission;
}

void Batch::Submit(size_t job) {
  jobs_[job].submitted = true;
  jobs_[job].submitted_at = now_;
  Post(SubmissionOf(job));
}

void Batch::ShowAll() {
  model::Baseline all;
  for (const auto& [name, node] : nodes_) all.nodes.push_back(node);
  for (size_t i = 0; i < jobs_.size(); ++i) {
    if (!jobs_[i].submitted) continue;
    all.attempts.push_back(jobs_[i].shown);
    if (jobs_[i].shown.phase == Phase::kHeld) all.submissions.push_back(SubmissionOf(i));
  }
  Post(std::move(all));
}

// ---- What happens by itself ----

void Batch::Leave(size_t job, std::optional<model::Exit> exit) {
  Native& native = jobs_[job];
  native.shown.phase = Phase::kEnded;
  native.shown.exit = std::move(exit);
  native.shown.ended_at = now_;
  native.replicas.clear();
  native.ends.reset();
  history_.jobs[job].runs.back().end = second_;
  Show(job);
}

void Batch::End(size_t job, const std::optional<model::Exit>& exit) {
  if (!Runs(job)) return;
  std::optional<model::Exit> known = exit;
  if (known && known->node.empty()) known->node = jobs_[job].shown.nodes.front();
  Leave(job, std::move(known));
}

std::vector<size_t> Batch::Due() const {
  std::vector<size_t> due;
  for (size_t i = 0; i < jobs_.size(); ++i) {
    if (jobs_[i].ends && *jobs_[i].ends <= second_) due.push_back(i);
  }
  return due;
}

std::optional<int64_t> Batch::NextEnd() const {
  std::optional<int64_t> next;
  for (const Native& native : jobs_) {
    if (native.ends && (!next || *native.ends < *next)) next = native.ends;
  }
  return next;
}

void Batch::RunOut(size_t job) {
  const Job& asked = scenario_.jobs[job];
  const auto& limit = asked.job->time_limit_seconds;
  std::optional<model::Exit> exit;
  if (limit && (!asked.run || *asked.run > *limit)) {
    exit.emplace().cause = model::Cause::kTimeLimit;
  } else if (asked.exit_code != 0) {
    exit.emplace().exit_code = asked.exit_code;
  }
  End(job, exit);
}

void Batch::Change(const NodeChange& change) {
  using What = NodeChange::What;
  const auto found = nodes_.find(change.node);
  if (found == nodes_.end()) return;
  model::Node& node = found->second;
  if (change.what == What::kDown || change.what == What::kRemove) {
    for (size_t i = 0; i < jobs_.size(); ++i) {
      if (!Runs(i) || std::ranges::count(jobs_[i].shown.nodes, node.name) == 0) continue;
      model::Exit exit;
      exit.cause = model::Cause::kNode;
      exit.node = node.name;
      Leave(i, exit);
    }
  }
  if (change.what == What::kRemove) {
    Post(model::NodeGone{node.name});
    nodes_.erase(found);
    return;
  }
  if (change.what == What::kResize) {
    node.capacity.gpu_milli = change.gpus * 1000;
  } else {
    node.ready = change.what == What::kUp;
    node.not_ready_reason = change.what == What::kUp      ? ""
                            : change.what == What::kDrain ? "drained"
                                                          : "down";
    node.ready_since = now_;
  }
  Post(model::NodeUpdate{node});
}

// ---- What is ordered ----

Resources Batch::Free(const std::string& node) const {
  const auto found = nodes_.find(node);
  Resources free = found == nodes_.end() ? Resources{} : found->second.capacity;
  for (const Native& native : jobs_) {
    for (const model::Replica& replica : native.replicas) {
      if (replica.node == node) free -= replica.resources;
    }
  }
  return free;
}

void Batch::Submit(std::vector<model::Action> actions) {
  for (const model::Action& action : actions) {
    model::Outcome outcome;
    outcome.action = action.id;
    outcome.task = action.task;
    outcome.attempt = action.attempt;
    Carry(action, outcome);
    Post(std::move(outcome));
  }
}

void Batch::Carry(const model::Action& action, model::Outcome& outcome) {
  size_t job = 0;
  std::from_chars(action.native_id.data(), action.native_id.data() + action.native_id.size(), job);
  if (job == 0 || job-- > jobs_.size()) {
    outcome.error = NotFound("no such job");
    return;
  }
  Native& native = jobs_[job];
  if (std::holds_alternative<model::Discard>(action.what)) {
    if (Runs(job)) Leave(job, Killed());
    native.shown.phase = Phase::kEnded;
    return;
  }
  if (std::holds_alternative<model::Annotate>(action.what)) return;
  if (const auto* requeue = std::get_if<model::Requeue>(&action.what)) {
    if (native.shown.attempt == requeue->next) return;
    native.shown.attempt = requeue->next;
    native.shown.phase = Phase::kHeld;
    native.shown.nodes.clear();
    native.shown.exit.reset();
    return Show(job);
  }
  if (action.attempt != native.shown.attempt) {  // the precondition
    outcome.error = Conflict("another attempt");
    return;
  }
  if (const auto* place = std::get_if<model::Place>(&action.what)) {
    Place(job, place->placement);
  } else if (std::holds_alternative<model::Kill>(action.what)) {
    Kill(job, outcome);
  }  // Terminate: its processes take all the time that they are given
}

void Batch::Kill(size_t job, model::Outcome& outcome) {
  if (Runs(job)) return Leave(job, Killed());
  outcome.not_started = jobs_[job].shown.phase == Phase::kHeld;
}

void Batch::Place(size_t job, const model::Placement& placement) {
  Native& native = jobs_[job];
  const Job& asked = scenario_.jobs[job];
  if (Runs(job)) return;  // idempotent
  if (native.shown.phase == Phase::kEnded) return Broken(asked.id + " was started after its end");
  if (!native.started.insert(native.shown.attempt).second) {
    return Broken("attempt " + std::to_string(native.shown.attempt) + " of " + asked.id +
                  " was started twice");
  }
  AttemptHistory run;
  run.start = second_;
  native.shown.nodes.clear();
  for (const model::Replica& replica : placement.replicas) {
    const auto node = nodes_.find(replica.node);
    if (node == nodes_.end() || !node->second.ready) {
      Broken(asked.id + " was started on " + replica.node + ", which is not ready");
    } else if (!replica.resources.FitsIn(Free(replica.node))) {
      Broken(asked.id + " was started on " + replica.node + ", which has no room for it");
    }
    native.replicas.push_back(replica);
    native.shown.nodes.push_back(replica.node);
  }
  run.nodes = native.shown.nodes;
  std::ranges::sort(run.nodes);
  history_.jobs[job].runs.push_back(std::move(run));
  native.shown.phase = Phase::kRunning;
  native.shown.started_at = now_;
  const auto& limit = asked.job->time_limit_seconds;
  if (asked.run || limit) {
    native.ends = second_ + std::min(asked.run.value_or(INT64_MAX), limit.value_or(INT64_MAX));
  }
  Show(job);
}

}  // namespace cox::scenario
