// The whole loop with its store, in virtual time, on a batch system that is out of luck: orders and
// answers are lost, late, doubled and contradictory, reports are lost and doubled, the scheduler
// dies between any two things that it does and comes back with what it has saved. Whatever happens:
// no attempt starts twice, no node is taken twice, quota is what runs, and when it is over every
// job has ended and nothing of it is left.
#include <gtest/gtest.h>

#include <filesystem>
#include <set>

#include "property/story.hpp"
#include "run/loop.hpp"
#include "scenario/batch.hpp"
#include "scenario/parse.hpp"

namespace cox::test {
namespace {

constexpr uint64_t kStories = 300;
constexpr TimePoint kMidnight = FromSeconds(946'684'800);
constexpr int64_t kLongest = 20'000;  // seconds; by then every job has long ended
constexpr int64_t kShowAll = 30;      // seconds between two looks at the whole batch system

class StoryClock final : public Clock {
 public:
  TimePoint Now() const override { return now; }
  TimePoint now = kMidnight;
};

// Between the loop and the batch system, both ways.
class Weather final : public Actuator, public DeltaSink {
 public:
  Weather(const Story& story, scenario::Batch& batch) : story_(story), batch_(batch) {}

  void Connect(DeltaSink* loop) {
    loop_ = loop;
    late_.clear();
    fuse_.reset();
    dead = false;
    batch_.Connect(loop == nullptr ? nullptr : this);
  }
  void DieAfter(int64_t orders) { fuse_ = orders; }
  bool armed() const { return fuse_.has_value(); }

  void Submit(std::vector<model::Action> actions) override {
    for (model::Action& action : actions) {
      if (fuse_ && (*fuse_)-- == 0) dead = true;
      if (dead) return;
      Meet(std::move(action));
    }
  }

  void Post(model::Delta delta) override {
    if (const auto* outcome = std::get_if<model::Outcome>(&delta)) return Answer(*outcome);
    if (std::holds_alternative<model::Observed>(delta)) {
      const auto fate = reports_ < story_.reports.size() ? story_.reports[reports_] : Report::kFine;
      ++reports_;
      if (fate == Report::kLost) return;
      if (fate == Report::kTwice) loop_->Post(delta);
    }
    loop_->Post(std::move(delta));
  }

  void SetTime(int64_t second) {
    second_ = second;
    for (size_t i = 0; i < late_.size(); ++i) {
      if (late_[i].first <= second) loop_->Post(late_[i].second);
    }
    std::erase_if(late_, [&](const auto& one) { return one.first <= second; });
  }
  std::optional<int64_t> NextLate() const {
    const auto first =
        std::ranges::min_element(late_, {}, [](const auto& one) { return one.first; });
    return first == late_.end() ? std::nullopt : std::optional(first->first);
  }

  bool dead = false;
  std::set<std::string> down;  // nodes: a batch system starts nothing there, whoever wants it

 private:
  using Order = Story::Order;
  using Report = Story::Report;

  void Meet(model::Action action) {
    fate_ = orders_ < story_.orders.size() ? story_.orders[orders_] : Order::kFine;
    ++orders_;
    const bool starts = std::holds_alternative<model::Place>(action.what);
    if (starts && IsDown(std::get<model::Place>(action.what).placement)) {
      if (fate_ != Order::kLost) fate_ = Order::kConflict;
    }
    // Starting what runs already is no conflict: orders are idempotent.
    if (fate_ == Order::kConflict && batch_.Runs(std::stoul(action.native_id) - 1)) {
      fate_ = Order::kFine;
    }
    if (fate_ == Order::kLost || (fate_ == Order::kConflict && !starts)) return;
    if (fate_ == Order::kConflict || fate_ == Order::kAway) {
      model::Outcome outcome;
      outcome.action = action.id;
      outcome.task = action.task;
      outcome.attempt = action.attempt;
      outcome.error = fate_ == Order::kAway ? Unavailable("not now") : Conflict("a race was lost");
      return loop_->Post(std::move(outcome));
    }
    const bool twice = fate_ == Order::kTwice;
    batch_.Submit(twice ? std::vector{action, action} : std::vector{action});
  }

  bool IsDown(const model::Placement& placement) const {
    return std::ranges::any_of(placement.replicas,
                               [&](const Replica& replica) { return down.contains(replica.node); });
  }

  void Answer(model::Outcome outcome) {
    switch (fate_) {
      case Order::kMute:
        return;
      case Order::kLate:
      case Order::kVeryLate:
        late_.emplace_back(second_ + (fate_ == Order::kLate ? 40 : 90), std::move(outcome));
        return;
      case Order::kLiar:
        outcome.error = Unavailable("no answer in time");
        outcome.not_started = false;
        break;
      case Order::kEcho:
        loop_->Post(outcome);
        break;
      default:
        break;
    }
    loop_->Post(std::move(outcome));
  }

  const Story& story_;
  scenario::Batch& batch_;
  DeltaSink* loop_ = nullptr;
  size_t orders_ = 0, reports_ = 0;
  Order fate_ = Order::kFine;  // of the order that is carried out
  std::optional<int64_t> fuse_;
  std::vector<std::pair<int64_t, model::Outcome>> late_;
  int64_t second_ = 0;
};

class Telling {
 public:
  Telling(const Story& story, scenario::Scenario scenario)
      : story_(story), scenario_(std::move(scenario)), batch_(scenario_, history_) {
    for (const auto& job : scenario_.jobs) {
      history_.jobs.push_back({job.id, job.at, {}, {}, "", "", 0, 0});
    }
    std::string pattern = std::filesystem::is_directory("/dev/shm")
                              ? "/dev/shm/cox-story-XXXXXX"
                              : std::filesystem::temp_directory_path() / "cox-story-XXXXXX";
    folder_ = ::mkdtemp(pattern.data());
    options_.plugin_directory = COX_BINARY_DIR "/plugins";
    options_.ticks = [] { return int64_t{0}; };
  }
  ~Telling() {
    Down();
    std::error_code none;
    std::filesystem::remove_all(folder_, none);
  }
  Telling(const Telling&) = delete;
  Telling& operator=(const Telling&) = delete;

  int64_t deaths() const { return deaths_; }

  // What went wrong; "" = nothing.
  std::string Tell() {
    Boot();
    while (wrong_.empty() && !Over()) {
      if (second_ > kLongest) Wrong("it is not over");
      Second();
      second_ = Next();
    }
    for (const std::string& broken : history_.broken) wrong_ += broken + "\n";
    if (wrong_.empty()) NothingIsLeft();
    return wrong_;
  }

 private:
  void Wrong(const std::string& what) {
    wrong_ += "t=" + std::to_string(second_) + ": " + what + "\n";
    if (loop_ == nullptr) return;
    for (const auto& [id, task] : loop_->published()->tasks) {
      wrong_ += "  " + task->name + " attempt " + std::to_string(task->attempt) + ": " +
                model::Name(task->state) + " " + task->reason + ": " + task->message + "\n";
    }
  }

  void Boot() {
    auto store = run::Store::Open(folder_ + "/cox.db");
    auto config = run::MakeConfig(scenario_.site_text, scenario_.site_position, options_);
    if (!store || !config) return Wrong("no store, or no site");
    store_ = *std::move(store);
    run::LoopParts parts;
    parts.clock = &clock_;
    parts.store = store_.get();
    parts.actuator = &weather_;
    parts.config = *std::move(config);
    auto loop = run::Loop::Create(std::move(parts));
    if (!loop) return Wrong(loop.error().text);
    loop_ = *std::move(loop);
    weather_.Connect(&loop_->sink());
    batch_.ShowAll();
  }
  void Down() {
    weather_.Connect(nullptr);
    loop_.reset();
    store_.reset();
  }
  void Die() {
    Down();
    ++deaths_;
    back_at_ = second_ + story_.crashes[next_crash_++].away;
  }

  void Second() {
    clock_.now = kMidnight + std::chrono::seconds(second_);
    batch_.SetTime(second_, clock_.now);
    weather_.SetTime(second_);
    if (loop_ == nullptr && second_ >= back_at_) Boot();
    if (second_ >= next_look_) {
      if (loop_ != nullptr) batch_.ShowAll();
      next_look_ = second_ + kShowAll;
    }
    for (const size_t job : batch_.Due()) batch_.RunOut(job);
    for (; next_event_ < scenario_.events.size() && scenario_.events[next_event_].at <= second_;
         ++next_event_) {
      std::visit([this](const auto& what) { On(what); }, scenario_.events[next_event_].what);
    }
    for (; next_job_ < scenario_.jobs.size() && scenario_.jobs[next_job_].at <= second_;
         ++next_job_) {
      batch_.Submit(next_job_);
    }
    Rest();
  }

  void Rest() {
    for (int turn = 0; loop_ != nullptr; ++turn) {
      if (turn == 1000) return Wrong("it does not come to rest");
      if (next_crash_ < story_.crashes.size() && story_.crashes[next_crash_].at <= second_ &&
          !weather_.armed()) {
        if (story_.crashes[next_crash_].orders < 0) return Die();
        weather_.DieAfter(story_.crashes[next_crash_].orders);
      }
      batch_.TakePosted();
      const TimePoint next = loop_->Turn(clock_.now);
      if (weather_.dead) return Die();
      Look();
      wake_ = next;
      if (!batch_.TakePosted() && next > clock_.now) return;
    }
  }

  void On(const scenario::Cancel& e) {
    const auto job = std::ranges::find(scenario_.jobs, e.job, &scenario::Job::id);
    for (const auto& [id, task] : Tasks()) {
      if (task->name == job->id) loop_->Ask(run::StopRequest{task->id, task->owner.user, {}});
    }
  }
  void On(const scenario::End& e) { batch_.End(Index(e.job), e.exit); }
  void On(const scenario::NodeChange& e) {
    if (e.what == scenario::NodeChange::What::kUp) weather_.down.erase(e.node);
    if (e.what == scenario::NodeChange::What::kDown) weather_.down.insert(e.node);
    batch_.Change(e);
  }
  void On(const scenario::Again& e) {
    if (loop_ != nullptr) batch_.ShowAgain(Index(e.job));
  }
  void On(const scenario::Resync&) {
    if (loop_ != nullptr) batch_.ShowAll();
  }
  template <class Other>
  void On(const Other&) {
    Wrong("no such event in a story");
  }

  size_t Index(const std::string& id) const {
    return static_cast<size_t>(std::ranges::find(scenario_.jobs, id, &scenario::Job::id) -
                               scenario_.jobs.begin());
  }
  std::map<uint64_t, std::shared_ptr<const model::Task>> Tasks() const {
    if (loop_ == nullptr) return {};
    return loop_->published()->tasks;
  }

  void Look() {
    const auto view = loop_->published();
    if (!view->ledger_error.empty()) Wrong(view->ledger_error);
    if (!view->degraded.empty()) Wrong(view->degraded);
    for (const auto& [id, task] : view->tasks) {
      if (model::IsCharged(task->state) != task->placement.has_value()) {
        Wrong(task->name + " is charged without nodes, or holds nodes for nothing");
      }
      const bool ended = model::IsTerminal(task->state);
      if (ended) ended_.insert(id);
      if (!ended && ended_.contains(id)) Wrong(task->name + " had ended and lives again");
    }
  }

  bool Over() const {
    if (loop_ == nullptr || next_job_ < scenario_.jobs.size() ||
        next_event_ < scenario_.events.size()) {
      return false;
    }
    // Once more round after all have ended, so that the last orders are carried out.
    const auto tasks = Tasks();
    return second_ > settled_ + 200 && tasks.size() == scenario_.jobs.size();
  }

  int64_t Next() {
    const auto tasks = Tasks();
    const bool all_ended = std::ranges::all_of(
        tasks, [](const auto& one) { return model::IsTerminal(one.second->state); });
    if (!all_ended || tasks.size() != scenario_.jobs.size()) settled_ = second_;
    int64_t next = next_look_;
    const auto at = [&](std::optional<int64_t> t) {
      if (t && *t < next) next = *t;
    };
    if (next_event_ < scenario_.events.size()) at(scenario_.events[next_event_].at);
    if (next_job_ < scenario_.jobs.size()) at(scenario_.jobs[next_job_].at);
    at(batch_.NextEnd());
    at(weather_.NextLate());
    if (loop_ == nullptr) at(back_at_);
    if (loop_ != nullptr && wake_ != kNever) {
      at(std::chrono::ceil<std::chrono::seconds>(wake_ - kMidnight).count());
    }
    if (next_crash_ < story_.crashes.size() && story_.crashes[next_crash_].at > second_) {
      at(story_.crashes[next_crash_].at);
    }
    return std::max(next, second_ + 1);
  }

  void NothingIsLeft() {
    for (size_t job = 0; job < scenario_.jobs.size(); ++job) {
      if (batch_.Runs(job)) Wrong(scenario_.jobs[job].id + " still runs");
    }
    for (const auto& [key, row] : loop_->published()->ledger->rows()) {
      if (row.used != 0) Wrong(key.subject + " is still charged");
    }
    const bool calm = scenario_.events.empty();
    for (const auto& [id, task] : Tasks()) {
      const auto& asked = scenario_.jobs[Index(task->name)];
      if (calm && asked.exit_code == 0 && task->state == model::State::kFailed &&
          task->preemptions == 0) {
        Wrong(task->name + " has failed, but nothing was wrong with it");
      }
    }
  }

  const Story& story_;
  const scenario::Scenario scenario_;
  scenario::History history_;
  scenario::Batch batch_;
  Weather weather_{story_, batch_};
  StoryClock clock_;
  host::Options options_;
  std::string folder_, wrong_;
  std::unique_ptr<run::Store> store_;
  std::unique_ptr<run::Loop> loop_;
  int64_t second_ = 0, settled_ = 0, next_look_ = kShowAll, back_at_ = 0, deaths_ = 0;
  size_t next_event_ = 0, next_job_ = 0, next_crash_ = 0;
  TimePoint wake_ = kNever;
  std::set<uint64_t> ended_;
};

std::string WhatGoesWrong(const Story& story, int64_t* deaths = nullptr) {
  const auto none = [](const std::string& path) -> Result<std::string> { return NotFound(path); };
  auto scenario = scenario::Parse(story.Text(), "story.yaml", none);
  if (!scenario) return "no scenario: " + scenario.error().text;
  Telling telling(story, *std::move(scenario));
  std::string wrong = telling.Tell();
  if (deaths != nullptr) *deaths += telling.deaths();
  return wrong;
}

Story SmallestThatFails(Story story) {
  while (true) {
    const std::vector<Story> smaller = Smaller(story);
    const auto fails = std::ranges::find_if(smaller, [](const Story& less) {
      const std::string wrong = WhatGoesWrong(less);
      return !wrong.empty() && !wrong.starts_with("no scenario");
    });
    if (fails == smaller.end()) return story;
    story = *fails;
  }
}

TEST(Property, NothingIsLostDoubledOrLeakedWhateverFailsAndDies) {
  int64_t deaths = 0;
  for (uint64_t seed = 0; seed < Cases(kStories); ++seed) {
    const Story story = RandomStory(seed);
    if (WhatGoesWrong(story, &deaths).empty()) continue;
    const Story small = SmallestThatFails(story);
    FAIL() << "seed " << seed << ": " << WhatGoesWrong(small) << small.Whole();
  }
  EXPECT_GT(deaths, 200);
}

}  // namespace
}  // namespace cox::test
