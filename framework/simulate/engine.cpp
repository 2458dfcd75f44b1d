#include "simulate/engine.hpp"

#include <algorithm>
#include <charconv>
#include <queue>
#include <tuple>
#include <utility>

#include "cycle/decide.hpp"
#include "lifecycle/step.hpp"
#include "run/accept.hpp"
#include "run/rows.hpp"
#include "simulate/queue.hpp"

namespace cox::simulate {
namespace {

using model::State;

std::string Uuid(uint64_t number) {  // nobody looks at it; random ones would cost a system call
  const std::string digits = std::to_string(number);
  return "00000000-0000-4000-8000-" + std::string(12 - digits.size(), '0') + digits;
}

class Engine {
 public:
  Engine(const Workload& workload, Plan& plan, const EngineOptions& options)
      : workload_(workload),
        plan_(plan),
        options_(options),
        queue_(snapshot_.pending, options.shown_of_equal),
        natives_(workload.jobs.size()) {
    snapshot_.site = plan.config.site;
    snapshot_.seed = 1;
    snapshot_.nodes = plan.nodes;
    std::ranges::sort(snapshot_.nodes, {}, &model::Node::name);
    snapshot_.ledger.SetLimits(plan.config.site->quotas);
    limits_.start_timeout = std::chrono::seconds(plan.config.site->start_timeout_seconds);
    limits_.unknown_timeout = std::chrono::seconds(plan.config.site->unknown_timeout_seconds);
    Begin();
  }

  Record Run() {
    while (const std::optional<int64_t> next = Next()) {
      second_ = *next;
      snapshot_.now = Time(second_);
      while (next_job_ < natives_.size() && workload_.jobs[next_job_].submit <= second_) {
        Submit(next_job_++);
      }
      for (; !events_.empty() && events_.top().at <= second_; events_.pop()) Happen(events_.top());
      Decide();
      Tell();
    }
    Finish();
    return std::move(record_);
  }

 private:
  struct Native {  // the job as the batch system has it
    model::Task task;
    model::Observation shown;
    int64_t done = 0;           // seconds of its run that need not be done again
    std::optional<size_t> run;  // row in record_.runs while it runs
  };
  struct Event {
    int64_t at = 0;
    enum class What { kEnd, kDeadline } what = What::kEnd;
    size_t job = 0;
    int64_t attempt = 0;
    friend bool operator>(const Event& a, const Event& b) {
      return std::tie(a.at, a.what, a.job) > std::tie(b.at, b.what, b.job);
    }
  };

  TimePoint Time(int64_t second) const { return FromSeconds(workload_.origin + second); }
  int64_t Second(TimePoint t) const {
    return std::chrono::ceil<std::chrono::seconds>(t).time_since_epoch().count() - workload_.origin;
  }

  void Begin() {
    record_.name = plan_.name;
    record_.origin = workload_.origin;
    record_.notes = plan_.notes;
    for (const model::Node& node : snapshot_.nodes)
      record_.nodes.push_back({node.name, node.capacity});
    for (size_t i = 0; i < natives_.size(); ++i) {
      const TraceJob& asked = workload_.jobs[i];
      const Plan::Job& planned = plan_.jobs[i];
      JobRecord job;
      job.id = asked.id.empty() ? std::to_string(i + 1) : asked.id;
      job.user = planned.user;
      job.tenant = planned.tenant;
      job.group = GroupOf(*planned.job);
      job.priority = static_cast<int64_t>(planned.job->scheduling.priority);
      job.submit = asked.submit;
      job.run = asked.run;
      job.need = planned.need;
      job.replicas = planned.replicas;
      record_.jobs.push_back(std::move(job));
    }
  }

  std::optional<int64_t> Next() {
    std::optional<int64_t> next;
    const auto at = [&](int64_t t) { next = std::min(next.value_or(t), t); };
    if (next_job_ < natives_.size()) at(workload_.jobs[next_job_].submit);
    if (!events_.empty()) at(events_.top().at);
    // Where nothing else will ever happen, timers are given some chances to change something.
    constexpr int kChances = 100;
    idle_ = next ? 0 : idle_ + 1;
    if (wake_ != kNever && idle_ < kChances) at(std::max(Second(wake_), second_ + 1));
    return next;
  }

  // ---- The life of a job ----

  void Submit(size_t i) {
    const Plan::Job& planned = plan_.jobs[i];
    model::Submission submission;
    submission.native_id = std::to_string(i + 1);
    submission.root_uuid = Uuid(i + 1);
    submission.user = planned.user;
    submission.project = planned.job->project;
    submission.name = record_.jobs[i].id;
    submission.job = planned.job;
    submission.submitted_at = snapshot_.now;
    run::Accepted accepted = run::Accept(submission, *snapshot_.site, *plan_.config.plugins,
                                         TaskId{i + 1}, snapshot_.now);
    record_.jobs[i].refused = accepted.refused;
    natives_[i].shown.native_id = submission.native_id;
    natives_[i].shown.root_uuid = submission.root_uuid;
    if (accepted.refused.empty()) Take(i, std::move(accepted.begun));
  }

  void Step(size_t i, const lifecycle::Event& event) {
    const auto judge = [&](const cox_failure& failure) {
      return plan_.config.plugins->Judge(failure);
    };
    Take(i, lifecycle::Step(std::move(natives_[i].task), event, snapshot_.now, limits_, judge));
  }

  // The snapshot follows the task, as run::Cluster makes it from its tasks; then its orders.
  void Take(size_t i, lifecycle::StepResult result) {
    Native& native = natives_[i];
    native.task = std::move(result.task);
    const model::Task& task = native.task;
    const auto put = [&](auto& rows, bool there, auto make) {
      const auto at =
          std::ranges::lower_bound(rows, task.id, {}, [](const auto& r) { return r.id; });
      const bool found = at != rows.end() && at->id == task.id;
      if (there && found) *at = make();
      if (there && !found) rows.insert(at, make());
      if (!there && found) rows.erase(at);
    };
    const bool placed = task.placement.has_value();
    if (task.state == State::kPending) {
      queue_.Put(run::PendingRow(task));
    } else {
      queue_.Drop(task.id);
    }
    put(snapshot_.running, placed, [&] { return run::RunningRow(task, snapshot_.now); });
    if (placed && !snapshot_.ledger.Holds(task.id)) {
      snapshot_.ledger.Allocate(task.id, model::Charges(task.owner, task.placement->candidate));
    } else if (!placed) {
      snapshot_.ledger.Release(task.id);
    }
    if (task.leaving && task.deadline != kNever) {
      events_.push({Second(task.deadline), Event::What::kDeadline, i, task.attempt});
    }
    if (task.state == State::kPending) wake_ = std::min(wake_, task.not_before);
    for (const model::Action& order : result.actions) Carry(i, order);
  }

  // ---- The batch system ----

  void Carry(size_t i, const model::Action& order) {
    Native& native = natives_[i];
    if (const auto* place = std::get_if<model::Place>(&order.what))
      return Start(i, place->placement);
    if (std::holds_alternative<model::Kill>(order.what)) return Stop(i);
    if (const auto* requeue = std::get_if<model::Requeue>(&order.what)) {
      native.shown.attempt = requeue->next;
      native.shown.phase = model::Observation::Phase::kHeld;
      native.shown.nodes.clear();
      native.shown.exit.reset();
      Step(i, native.shown);
    }
  }

  void Start(size_t i, const model::Placement& placement) {
    Native& native = natives_[i];
    JobRecord& job = record_.jobs[i];
    simulate::Run run;
    run.job = static_cast<uint32_t>(i);
    run.start = second_;
    native.shown.nodes.clear();
    for (const model::Replica& replica : placement.replicas) {
      const auto node =
          std::ranges::lower_bound(snapshot_.nodes, replica.node, {}, &model::Node::name);
      run.nodes.push_back(static_cast<uint32_t>(node - snapshot_.nodes.begin()));
      native.shown.nodes.push_back(replica.node);
    }
    if (job.start < 0) job.start = second_;
    native.run = record_.runs.size();
    record_.runs.push_back(std::move(run));
    events_.push(
        {second_ + LimitedRun(i) - native.done, Event::What::kEnd, i, native.shown.attempt});
    native.shown.phase = model::Observation::Phase::kRunning;
    native.shown.started_at = snapshot_.now;
    Step(i, native.shown);
  }

  int64_t LimitedRun(size_t i) const {
    const int64_t run = workload_.jobs[i].run;
    return std::min(run, plan_.jobs[i].job->time_limit_seconds.value_or(run));
  }

  // Its processes are gone.
  void Leave(size_t i, std::optional<model::Exit> exit) {
    Native& native = natives_[i];
    if (!native.run) return;
    simulate::Run& run = record_.runs[*std::exchange(native.run, std::nullopt)];
    run.end = second_;
    record_.jobs[i].end = second_;
    native.shown.phase = model::Observation::Phase::kEnded;
    native.shown.ended_at = snapshot_.now;
    native.shown.exit = std::move(exit);
    Step(i, native.shown);
  }

  void Stop(size_t i) {
    Native& native = natives_[i];
    if (!native.run) return;
    simulate::Run& run = record_.runs[*native.run];
    const int64_t ran = second_ - run.start;
    const int64_t step = options_.checkpoint_seconds;
    const int64_t saved = step > 0 ? (native.done + ran) / step * step : 0;
    run.evicted = true;
    run.lost = native.done + ran - std::max(saved, native.done);
    if (saved < native.done) run.lost = ran;
    native.done = std::max(native.done, saved);
    ++record_.jobs[i].evictions;
    model::Exit exit;
    exit.exit_code = 137;
    exit.signal = 9;
    Leave(i, std::move(exit));
  }

  void Happen(const Event& event) {
    const Native& native = natives_[event.job];
    if (event.attempt != native.task.attempt) return;
    if (event.what == Event::What::kEnd) {
      if (!native.task.leaving) Leave(event.job, std::nullopt);  // else its Kill will come
      return;
    }
    if (native.task.leaving) Step(event.job, lifecycle::Tick{});
  }

  // ---- The scheduler ----

  void Decide() {
    constexpr int kMost = 1'000;  // decisions at one second; each but the last has an effect
    bool again = true;
    for (int i = 0; again && i < kMost; ++i) {
      if (snapshot_.pending.empty()) {
        snapshot_.nominations.clear();
        wake_ = kNever;
        return;
      }
      again = options_.strict_fifo ? DecideFifo() : DecideOnce();
    }
  }

  model::Decision Ask() {
    ++snapshot_.generation;
    ++record_.cycles;
    host::Plugins& plugins = *plan_.config.plugins;
    model::Decision made = cycle::Decide(snapshot_, plugins);
    while (queue_.More(made)) made = cycle::Decide(snapshot_, plugins);
    plugins.EndCycle();
    return made;
  }

  void Admit(const model::Decision& made) {
    for (const model::Start& start : made.starts) {
      Step(start.task.value - 1, lifecycle::Admit{start.placement});
    }
  }

  // True: deciding again at this second may start more.
  bool DecideOnce() {
    const model::Decision made = Ask();
    for (const model::Eviction& eviction : made.evictions) {
      const size_t victim = eviction.victim.value - 1;
      const std::string by = natives_[eviction.preemptor.value - 1].task.name;
      Step(victim, lifecycle::Preempt{eviction.message, by, eviction.spot_reclaim});
    }
    wake_ = made.wake_at.value_or(kNever);
    snapshot_.nominations = made.nominations;
    Admit(made);
    const bool changed = !made.starts.empty() || !made.evictions.empty();
    if (changed) idle_ = 0;
    return changed && wake_ <= snapshot_.now;
  }

  // With the first job of each pool alone; true: they start, the next ones are the first now.
  bool DecideFifo() {
    std::vector<model::PendingJob> all = std::exchange(snapshot_.pending, {});
    std::vector<std::string> seen;
    for (const model::PendingJob& job : all) {
      const std::string& pool = job.candidates.empty() ? job.name : job.candidates.front().pool;
      if (std::ranges::count(seen, pool) > 0) continue;
      seen.push_back(pool);
      snapshot_.pending.push_back(job);
    }
    ++snapshot_.generation;
    ++record_.cycles;
    const model::Decision made = cycle::Decide(snapshot_, *plan_.config.plugins);
    snapshot_.pending = std::move(all);
    Admit(made);
    wake_ = kNever;
    return !made.starts.empty();
  }

  void Tell() {
    constexpr uint64_t kCycles = 256;
    if (options_.progress && record_.cycles / kCycles != told_) {
      told_ = record_.cycles / kCycles;
      options_.progress(second_, next_job_, queue_.size());
    }
  }

  void Finish() {
    record_.until = second_;
    for (size_t i = 0; i < natives_.size(); ++i) {
      if (!model::IsTerminal(natives_[i].task.state)) record_.jobs[i].end = -1;
    }
  }

  const Workload& workload_;
  Plan& plan_;
  const EngineOptions& options_;
  Record record_;
  model::Snapshot snapshot_;  // kept up to date row by row, not made anew for each cycle
  Queue queue_;
  lifecycle::Limits limits_;
  std::vector<Native> natives_;  // as in the workload
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  size_t next_job_ = 0;
  int64_t second_ = 0;
  TimePoint wake_ = kNever;
  int idle_ = 0;  // seconds in a row at which only a timer ran
  uint64_t told_ = 0;
};

}  // namespace

Result<Record> Play(const Workload& workload, Plan& plan, const EngineOptions& options) {
  return Engine(workload, plan, options).Run();
}

}  // namespace cox::simulate
