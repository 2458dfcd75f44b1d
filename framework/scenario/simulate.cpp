#include "scenario/simulate.hpp"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <random>
#include <set>

#include "run/loop.hpp"
#include "scenario/batch.hpp"

namespace cox::scenario {
namespace {

// Second 0. Texts for people show it as 2000-01-01T00:00:00Z, which is easy to count from.
constexpr TimePoint kEpoch = FromSeconds(946'684'800);
constexpr int kMostTurns = 10'000;            // at one second; more means that it never rests
constexpr int64_t kQuiet = 3'600;             // without an `until`: so long after the last change
constexpr int64_t kMostSeconds = 31'536'000;  // a year

class Clock final : public cox::Clock {
 public:
  TimePoint Now() const override { return now; }
  TimePoint now = kEpoch;
};

class Folder {
 public:
  Folder() {
    namespace fs = std::filesystem;
    std::error_code none;
    // The store waits for the disk at each save; in memory that costs nothing.
    const bool in_memory = std::getenv("TMPDIR") == nullptr && fs::is_directory("/dev/shm", none);
    const fs::path root = in_memory ? fs::path("/dev/shm") : fs::temp_directory_path(none);
    std::string pattern = root / "cox-scenario-XXXXXX";
    if (::mkdtemp(pattern.data()) != nullptr) path_ = pattern;
  }
  ~Folder() {
    std::error_code none;
    if (!path_.empty()) std::filesystem::remove_all(path_, none);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

std::string SaysOf(const model::Task& task) {
  return std::string(model::Name(task.state)) + " " + task.reason + ": " + task.message;
}

class Simulation {
 public:
  Simulation(const Scenario& scenario, host::Options options, uint64_t shuffle)
      : scenario_(scenario),
        options_(std::move(options)),
        shuffle_(shuffle),
        dice_(shuffle),
        batch_(scenario, history_) {
    options_.ticks = [] { return int64_t{0}; };  // plugins are not judged by this machine's speed
    site_text_ = scenario.site_text;
    for (const Job& job : scenario.jobs)
      history_.jobs.push_back({job.id, job.at, {}, {}, "", "", 0, 0});
    history_.moments.resize(scenario.expect.at.size());
  }

  Result<History> Run() {
    if (folder_.path().empty()) return Unavailable("no folder for temporary files can be made");
    if (auto booted = Boot(); !booted) return booted.error();
    while (true) {
      if (auto done = Second(); !done) return done.error();
      const std::optional<int64_t> next = Next();
      if (!next) break;
      second_ = *next;
    }
    history_.until = second_;
    Finish();
    return std::move(history_);
  }

 private:
  // What may arrive in any order within a second, and what keeps its own.
  enum class Kind { kFree, kSubmission, kRequest };
  struct Happening {
    Kind kind = Kind::kFree;
    std::function<Result<void>()> what;
  };

  TimePoint Now() const { return kEpoch + std::chrono::seconds(second_ + ahead_); }

  // ---- The scheduler ----

  Result<void> Boot() {
    auto store = run::Store::Open(folder_.path() + "/cox.db");
    if (!store) return store.error();
    auto config = run::MakeConfig(site_text_, scenario_.site_position, options_);
    if (!config) return config.error();
    store_ = *std::move(store);
    run::LoopParts parts;
    parts.clock = &clock_;
    parts.store = store_.get();
    parts.actuator = &batch_;
    parts.config = *std::move(config);
    parts.reload = [this] {
      return run::MakeConfig(site_text_, scenario_.site_position, options_);
    };
    parts.keep_ended = scenario_.jobs.size();
    auto loop = run::Loop::Create(std::move(parts));
    if (!loop) return loop.error();
    loop_ = *std::move(loop);
    seen_generation_ = 0;
    batch_.Connect(&loop_->sink());
    batch_.ShowAll();
    return {};
  }

  void Down() {  // as after kill -9: everything in memory is gone
    batch_.Connect(nullptr);
    loop_.reset();
    store_.reset();
  }

  // Turns until nothing moves any more at this second.
  Result<void> Rest() {
    for (int turn = 0; loop_ != nullptr; ++turn) {
      if (turn == kMostTurns) {
        return Internal(scenario_.file + ": at t=" + std::to_string(second_) +
                        " the scheduler does not come to rest; this is a bug of Coxswain");
      }
      batch_.TakePosted();
      const TimePoint next = loop_->Turn(clock_.now);
      wake_ = next;
      Look();
      if (!batch_.TakePosted() && next > clock_.now) return {};
    }
    return {};
  }

  // ---- One second ----

  Result<void> Second() {
    clock_.now = Now();
    batch_.SetTime(second_, clock_.now);
    std::vector<Happening> happenings = Due();
    do {
      Shuffle(happenings);
      for (const Happening& h : happenings) {
        if (auto done = h.what(); !done) return done;
      }
      if (auto rested = Rest(); !rested) return rested;
      happenings.clear();  // what has run for no time at all
      for (const size_t job : batch_.Due()) happenings.push_back(RunsOut(job));
    } while (!happenings.empty());
    const auto& moments = scenario_.expect.at;
    for (size_t i = 0; i < moments.size(); ++i) {
      if (moments[i].t == second_) history_.moments[i] = Picture(moments[i]);
    }
    return {};
  }

  Happening RunsOut(size_t job) {
    return {Kind::kFree, [this, job] {
              batch_.RunOut(job);
              return Result<void>();
            }};
  }

  std::vector<Happening> Due() {
    std::vector<Happening> due;
    if (back_at_ && *back_at_ <= second_) {
      back_at_.reset();
      due.push_back({Kind::kRequest, [this] { return Boot(); }});
    }
    for (const size_t job : batch_.Due()) due.push_back(RunsOut(job));
    for (; next_event_ < scenario_.events.size() && scenario_.events[next_event_].at <= second_;
         ++next_event_) {
      const Event& event = scenario_.events[next_event_];
      std::visit([&](const auto& what) { due.push_back(On(what)); }, event.what);
    }
    for (; next_job_ < scenario_.jobs.size() && scenario_.jobs[next_job_].at <= second_;
         ++next_job_) {
      due.push_back({Kind::kSubmission, [this, job = next_job_] {
                       batch_.Submit(job);
                       return Result<void>();
                     }});
    }
    if (!due.empty()) changed_at_ = second_;
    return due;
  }

  // Everything gets another place, but among themselves submissions and requests keep their order.
  void Shuffle(std::vector<Happening>& happenings) {
    if (shuffle_ == 0) return;
    std::vector<Happening> mixed = happenings;
    for (size_t i = mixed.size(); i > 1; --i) std::swap(mixed[i - 1], mixed[dice_() % i]);
    for (const Kind kind : {Kind::kSubmission, Kind::kRequest}) {
      size_t next = 0;
      for (Happening& place : mixed) {
        if (place.kind != kind) continue;
        while (happenings[next].kind != kind) ++next;
        place = happenings[next++];
      }
    }
    happenings = std::move(mixed);
  }

  // ---- Events ----

  template <class F>
  static Happening Do(Kind kind, F what) {
    return {kind, [what] {
              what();
              return Result<void>();
            }};
  }

  Happening On(const Cancel& e) {
    return Do(Kind::kRequest, [this, &e] {
      const auto task = TaskOf(Index(e.job));
      if (task == nullptr) return;
      loop_->Ask(run::StopRequest{task->id, task->owner.user, {}});
    });
  }
  Happening On(const End& e) {
    return Do(Kind::kFree, [this, &e] { batch_.End(Index(e.job), e.exit); });
  }
  Happening On(const NodeChange& e) {
    return Do(Kind::kFree, [this, &e] { batch_.Change(e); });
  }
  Happening On(const Again& e) {
    return Do(Kind::kFree, [this, &e] { batch_.ShowAgain(Index(e.job)); });
  }
  Happening On(const Resync&) {
    return Do(Kind::kFree, [this] { batch_.ShowAll(); });
  }
  Happening On(const AddPolicy& e) {
    return Do(Kind::kRequest, [this, &e] {
      if (loop_ == nullptr) return;
      run::CreatePolicyRequest request{e.policy, {}};
      request.policy.expires_at = kEpoch + std::chrono::seconds(e.until);
      loop_->Ask(std::move(request));
    });
  }
  Happening On(const Restart& e) {
    return {Kind::kRequest, [this, &e]() -> Result<void> {
              Down();
              if (e.seconds == 0) return Boot();
              back_at_ = second_ + e.seconds;
              return {};
            }};
  }
  Happening On(const Reload& e) {
    return Do(Kind::kRequest, [this, &e] {
      site_text_ = e.site_text;
      if (loop_ != nullptr) loop_->Ask(run::ReloadRequest{{}});
    });
  }
  Happening On(const ClockJump& e) {
    ahead_ += e.seconds;  // for all that happens at this second
    clock_.now = Now();
    batch_.SetTime(second_, clock_.now);
    return Do(Kind::kFree, [] {});
  }

  // ---- When is the next second? ----

  std::optional<int64_t> Next() {
    std::optional<int64_t> next;
    const auto at = [&](int64_t t) {
      if (t > second_ && (!next || t < *next)) next = t;
    };
    if (next_event_ < scenario_.events.size()) at(scenario_.events[next_event_].at);
    if (next_job_ < scenario_.jobs.size()) at(scenario_.jobs[next_job_].at);
    for (const Moment& moment : scenario_.expect.at) at(moment.t);
    if (back_at_) at(*back_at_);
    if (const auto end = batch_.NextEnd()) at(*end);
    const bool more = next.has_value();
    if (loop_ != nullptr) {
      const auto wait = std::chrono::ceil<std::chrono::seconds>(wake_ - clock_.now).count();
      at(second_ + std::max<int64_t>(wait, 1));
    }
    if (scenario_.until) {
      if (next && *next > *scenario_.until) next.reset();
      if (!next && second_ < *scenario_.until) next = *scenario_.until;
      return next;
    }
    const bool quiet = !more && (AllEnded() || second_ - changed_at_ >= kQuiet);
    if (quiet || second_ >= kMostSeconds) return std::nullopt;
    return next;
  }

  bool AllEnded() const {
    if (loop_ == nullptr) return false;
    const auto view = loop_->published();
    return std::ranges::all_of(view->tasks,
                               [](const auto& t) { return model::IsTerminal(t.second->state); });
  }

  // ---- What is seen ----

  size_t Index(const std::string& id) const {
    return static_cast<size_t>(std::ranges::find(scenario_.jobs, id, &Job::id) -
                               scenario_.jobs.begin());
  }
  static size_t IndexOf(const model::Task& task) {
    size_t number = 0;
    std::from_chars(task.native_id.data(), task.native_id.data() + task.native_id.size(), number);
    return number - 1;
  }
  std::shared_ptr<const model::Task> TaskOf(size_t job) const {
    if (loop_ == nullptr) return nullptr;
    const auto view = loop_->published();
    for (const auto& [id, task] : view->tasks) {
      if (IndexOf(*task) == job) return task;
    }
    return nullptr;
  }

  void Broken(const std::string& what) {
    const std::string line = "t=" + std::to_string(second_) + ": " + what;
    if (std::ranges::count(history_.broken, line) == 0) history_.broken.push_back(line);
  }

  // After each turn: what has been decided, and the promises that hold in every scenario.
  void Look() {
    const auto view = loop_->published();
    if (view->generation != seen_generation_) {
      seen_generation_ = view->generation;
      for (const model::Eviction& eviction : view->decision->evictions) {
        history_.jobs[IndexOf(*view->tasks.at(eviction.victim.value))].evicted.push_back(second_);
      }
    }
    if (!view->ledger_error.empty()) Broken(view->ledger_error);
    if (!view->degraded.empty()) Broken(view->degraded);
    std::map<model::LedgerKey, int64_t> used;
    for (const auto& [id, task] : view->tasks) {
      const bool charged = model::IsCharged(task->state);
      if (charged != task->placement.has_value()) {
        Broken(task->name + " is " + model::Name(task->state) + " and holds " +
               (charged ? "no nodes" : "nodes"));
      }
      if (task->placement) {
        for (const auto& charge : model::Charges(task->owner, task->placement->candidate)) {
          used[charge.key] += charge.units;
        }
      }
      const bool terminal = model::IsTerminal(task->state);
      if (terminal) ended_.insert(id);
      if (!terminal && ended_.contains(id)) Broken(task->name + " had ended and lives again");
    }
    for (const auto& [key, row] : view->ledger->rows()) {
      if (row.used != used[key]) {
        Broken(std::string(spec::Name(key.level)) + " " + key.subject + " is charged " +
               std::to_string(row.used) + " units, its jobs have " + std::to_string(used[key]));
      }
    }
    Remember(*view);
  }

  void Remember(const run::Published& view) {
    uint64_t versions = 0;
    for (const auto& [id, task] : view.tasks) versions += task->version;
    if (versions != versions_) changed_at_ = second_;
    versions_ = versions;
  }

  MomentHistory Picture(const Moment& moment) const {
    MomentHistory seen;
    for (const auto& [name, gpus] : moment.free_gpus) {
      seen.free_gpus[name] = batch_.Free(name).gpu_milli / 1000;
    }
    if (loop_ == nullptr) return seen;
    const auto view = loop_->published();
    for (const auto& [id, task] : view->tasks) {
      seen.says[task->name] = SaysOf(*task);
      if (task->placement) seen.running.push_back(task->name);
    }
    std::ranges::sort(seen.running);
    for (const auto& [key, row] : view->ledger->rows()) {
      seen.used[{key.level, key.subject}] += row.used;
    }
    for (const model::Explanation& waiting : view->decision->waiting) {
      const auto task = view->tasks.find(waiting.task.value);
      if (task == view->tasks.end() || !waiting.earliest) continue;
      seen.earliest[task->second->name] = ToSeconds(*waiting.earliest) - ToSeconds(kEpoch) - ahead_;
    }
    return seen;
  }

  void Finish() {
    if (loop_ == nullptr) return;
    const auto view = loop_->published();
    for (const auto& [id, task] : view->tasks) {
      JobHistory& job = history_.jobs[IndexOf(*task)];
      job.state = model::Name(task->state);
      job.says = SaysOf(*task);
      job.retries = task->retries_used;
      job.preemptions = task->preemptions;
    }
  }

  const Scenario& scenario_;
  host::Options options_;
  const uint64_t shuffle_;
  std::mt19937_64 dice_;
  Folder folder_;
  History history_;
  Batch batch_;
  Clock clock_;
  std::unique_ptr<run::Store> store_;
  std::unique_ptr<run::Loop> loop_;
  std::string site_text_;

  int64_t second_ = 0, changed_at_ = 0;
  int64_t ahead_ = 0;  // of the scheduler's clock, by jumps
  size_t next_event_ = 0, next_job_ = 0;
  std::optional<int64_t> back_at_;  // when a killed scheduler comes back
  TimePoint wake_ = kNever;
  uint64_t seen_generation_ = 0, versions_ = 0;
  std::set<uint64_t> ended_;
};

}  // namespace

Result<History> Simulate(const Scenario& scenario, const host::Options& options, uint64_t shuffle) {
  return Simulation(scenario, options, shuffle).Run();
}

}  // namespace cox::scenario
