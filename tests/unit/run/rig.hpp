// A scheduler on a made-up batch system: the real loop, store, plugins; a clock that only a test
// moves; nodes n1..n4 with 8 GPUs each. The batch system remembers what runs, so that a second
// start of an attempt, or a start on nodes that are taken, is caught where it happens.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <deque>
#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "run/loop.hpp"
#include "run/recorder.hpp"
#include "spec/parse.hpp"

namespace cox::run::test {

using model::Observation;
using model::State;
using Phase = Observation::Phase;

class HandClock final : public Clock {
 public:
  TimePoint Now() const override { return now; }
  TimePoint now = FromSeconds(1'000'000);
};

class TempDir {
 public:
  TempDir() {
    std::string pattern = testing::TempDir() + "coxXXXXXX";
    path_ = ::mkdtemp(pattern.data());
  }
  ~TempDir() { std::filesystem::remove_all(path_); }
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

inline std::string SiteText(int quota = 16, const std::string& extra = "") {
  return R"(
region: north
cluster: auriga
org: example
flavors:
  - {name: h100.1g, class: GPU, gpuType: h100, gpus: 1, cpus: 4, memory: 16Gi}
pools:
  - {name: train, partition: train, capacityTypes: [reserved, spot, idle], flavors: [h100.1g]}
quotas:
  - {tenant: lab, pool: train, flavor: h100.1g, units: )" +
         std::to_string(quota) + R"(}
users:
  - {name: alice, tenant: lab, projects: [nlp]}
  - {name: bob, tenant: lab, projects: [nlp, vision]}
  - {name: carol, tenant: other, projects: [cv]}
  - {name: root, tenant: lab, projects: [nlp], admin: true}
envProfiles:
  - user: alice
    env: [{name: PROFILE, value: "1"}, {name: LR, value: "0"}]
defaults: {tenant: "", startTimeoutSeconds: 300}
plugins:
  - {path: quota_tree.so}
  - {path: priority_multifactor.so}
  - {path: node_policy.so}
  - {path: fault_tolerance.so}
)" + extra;
}

inline host::Options PluginOptions() {
  host::Options options;
  options.plugin_directory = COX_PLUGIN_DIR;
  return options;
}

inline Config SiteConfig(const std::string& text = SiteText()) {
  auto config = MakeConfig(text, "site.yaml", PluginOptions());
  if (!config) {
    ADD_FAILURE() << config.error().text;
    std::abort();
  }
  return *std::move(config);
}

inline std::string JobText(const std::string& more = "", int workers = 1, int count = 8) {
  return R"(
apiVersion: coxswain.io/v1alpha1
kind: TrainingJob
metadata: {generateName: llama-, project: nlp}
spec:
  type: PyTorchJob
  command: train
  env: [{name: LR, value: "1"}, {name: TOKEN, value: s3cret, hidden: true}]
  scheduling:
    capacityType: reserved
    queue: train
    flavors: [{name: h100.1g, count: )" +
         std::to_string(count) + R"(}]
  replicas: {workers: )" +
         std::to_string(workers) + "}\n" + more;
}

inline std::shared_ptr<const spec::TrainingJob> Job(const std::string& text = JobText()) {
  auto job = spec::ParseTrainingJob(text, "job.yaml");
  if (!job) {
    ADD_FAILURE() << job.error().text;
    std::abort();
  }
  return std::make_shared<const spec::TrainingJob>(*std::move(job));
}

// ---- The batch system ----

class FakeBatch final : public Actuator {
 public:
  struct Native {
    std::string root_uuid;
    Observation shown;
    std::set<int64_t> started;  // attempts that have ever run
    bool discarded = false;
  };

  // How the next orders of a kind are treated; default: carried out and answered.
  enum class Mood { kWilling, kDeaf, kMute, kConflict, kAway, kTwice };
  Mood mood = Mood::kWilling;
  DeltaSink* sink = nullptr;
  std::map<std::string, Native> natives;
  std::vector<model::Action> orders;         // all that ever came
  std::map<std::string, std::string> notes;  // last annotation by native id

  void Submit(std::vector<model::Action> actions) override {
    for (model::Action& action : actions) {
      orders.push_back(action);
      if (mood == Mood::kDeaf) continue;  // lost on the way
      model::Outcome outcome;
      outcome.action = action.id;
      outcome.task = action.task;
      outcome.attempt = action.attempt;
      if (mood == Mood::kAway) {
        outcome.error = Unavailable("controller away");
      } else if (mood == Mood::kConflict && std::holds_alternative<model::Place>(action.what)) {
        outcome.error = Conflict("n1 is taken");
      } else {
        Carry(action, outcome);
      }
      if (mood == Mood::kMute || sink == nullptr) continue;  // done, but the answer is lost
      sink->Post(outcome);
      if (mood == Mood::kTwice) sink->Post(outcome);
    }
  }

  Native& Only() { return natives.begin()->second; }
  std::string OnlyId() const { return natives.begin()->first; }

  // A job that came by the batch system's own door, held.
  model::Submission Native_(const std::string& id, const std::string& user = "alice",
                            const std::string& text = JobText()) {
    Native& native = natives[id];
    native.root_uuid = "00000000-0000-4000-8000-" + std::string(12 - id.size(), '0') + id;
    native.shown.native_id = id;
    native.shown.root_uuid = native.root_uuid;
    model::Submission s;
    s.native_id = id;
    s.root_uuid = native.root_uuid;
    s.user = user;
    s.project = "nlp";
    s.job = Job(text);
    return s;
  }

  void Shows(const std::string& id, Phase phase) {
    natives.at(id).shown.phase = phase;
    Post(id);
  }
  void Ends(const std::string& id, int exit_code) {
    Native& native = natives.at(id);
    native.shown.phase = Phase::kEnded;
    native.shown.exit.reset();
    if (exit_code != 0) {
      native.shown.exit = model::Exit{};
      native.shown.exit->exit_code = exit_code;
      native.shown.exit->node = native.shown.nodes.empty() ? "" : native.shown.nodes.back();
    }
    Post(id);
  }
  void Post(const std::string& id) {
    if (sink != nullptr) sink->Post(model::Observed{natives.at(id).shown});
  }

  model::Baseline All() const {
    model::Baseline all;
    for (int i = 1; i <= 4; ++i) {
      model::Node node;
      node.name = "n" + std::to_string(i);
      node.address = "10.0.0." + std::to_string(i);
      node.pools = {"train"};
      node.gpu_type = "h100";
      node.capacity = {64'000, 512 * 1024, 8'000};
      all.nodes.push_back(node);
    }
    for (const auto& [id, native] : natives) all.attempts.push_back(native.shown);
    return all;
  }

  int64_t Count(size_t kind) const {
    return std::count_if(orders.begin(), orders.end(),
                         [&](const auto& a) { return a.what.index() == kind; });
  }

 private:
  void Carry(const model::Action& action, model::Outcome& outcome) {
    if (const auto* create = std::get_if<model::Create>(&action.what)) {
      for (const auto& [id, native] : natives) {
        if (native.root_uuid == action.root_uuid) {  // idempotent
          outcome.native_id = id;
          return;
        }
      }
      const std::string id = std::to_string(100 + natives.size());
      natives[id].root_uuid = action.root_uuid;
      natives[id].shown.native_id = id;
      natives[id].shown.root_uuid = action.root_uuid;
      outcome.native_id = id;
      static_cast<void>(create);
      return;
    }
    const auto it = natives.find(action.native_id);
    if (it == natives.end()) {
      outcome.error = NotFound("no such job");
      return;
    }
    Native& native = it->second;
    Observation& shown = native.shown;
    if (const auto* note = std::get_if<model::Annotate>(&action.what)) {
      notes[it->first] = note->state + " " + note->reason + ": " + note->message;
      return;
    }
    if (std::holds_alternative<model::Discard>(action.what)) {
      native.discarded = true;
      if (shown.phase != Phase::kEnded) {
        shown.phase = Phase::kEnded;
        Post(it->first);
      }
      return;
    }
    if (action.attempt != shown.attempt) {  // the precondition
      outcome.error = Conflict("another attempt");
      return;
    }
    if (const auto* place = std::get_if<model::Place>(&action.what)) return Start(native, *place);
    if (std::holds_alternative<model::Kill>(action.what)) {
      if (shown.phase == Phase::kHeld || shown.phase == Phase::kReleased) {
        shown.phase = Phase::kHeld;
        outcome.not_started = true;
      } else if (shown.phase != Phase::kEnded) {
        Ends(it->first, 137);
      }
      return;
    }
    if (const auto* requeue = std::get_if<model::Requeue>(&action.what)) {
      if (shown.attempt == requeue->next) return;  // idempotent
      shown.attempt = requeue->next;
      shown.phase = Phase::kHeld;
      shown.nodes.clear();
      shown.exit.reset();
      Post(it->first);
    }
  }

  void Start(Native& native, const model::Place& place) {
    Observation& shown = native.shown;
    if (shown.phase == Phase::kRunning || shown.phase == Phase::kReleased) return;  // idempotent
    EXPECT_FALSE(native.discarded) << "an ended task was started";
    EXPECT_TRUE(native.started.insert(shown.attempt).second)
        << "attempt " << shown.attempt << " of " << shown.native_id << " was started twice";
    for (const auto& replica : place.placement.replicas) {
      for (const auto& [id, other] : natives) {
        if (other.shown.phase != Phase::kRunning) continue;
        EXPECT_FALSE(std::ranges::count(other.shown.nodes, replica.node))
            << replica.node << " is in use by " << id;
      }
    }
    shown.nodes.clear();
    for (const auto& replica : place.placement.replicas) shown.nodes.push_back(replica.node);
    shown.phase = Phase::kRunning;
    Post(shown.native_id);
  }
};

// ---- The scheduler on it ----

struct Rig {
  explicit Rig(const std::string& site = SiteText()) : site_text(site) { Boot(); }

  TempDir dir;
  HandClock clock;
  FakeBatch batch;
  std::string site_text;
  std::string reload_text;                                  // "" = the same
  std::vector<std::shared_ptr<const spec::Site>> reloaded;  // as the loop took them over
  std::function<std::string(const spec::TrainingJob&)> unsupported = [](const auto&) { return ""; };
  size_t keep_ended = 100;
  std::unique_ptr<Log> log;  // none: nothing is logged; takes effect with the next Boot()
  std::unique_ptr<Recorder> recorder;
  std::unique_ptr<Store> store;
  std::unique_ptr<Loop> loop;

  std::string store_file() const { return dir / "cox.db"; }

  void Boot(bool baseline = true) {
    auto opened = Store::Open(store_file());
    ASSERT_TRUE(opened) << opened.error().text;
    store = *std::move(opened);
    LoopParts parts;
    parts.clock = &clock;
    parts.store = store.get();
    parts.actuator = &batch;
    parts.recorder = recorder.get();
    parts.keep_ended = keep_ended;
    parts.log = log.get();
    parts.config = SiteConfig(site_text);
    parts.reload = [this] {
      return MakeConfig(reload_text.empty() ? site_text : reload_text, "site.yaml",
                        PluginOptions());
    };
    parts.unsupported = [this](const spec::TrainingJob& job) { return unsupported(job); };
    parts.reloaded = [this](const Config& config) { reloaded.push_back(config.site); };
    auto made = Loop::Create(std::move(parts));
    ASSERT_TRUE(made) << made.error().text;
    loop = *std::move(made);
    batch.sink = &loop->sink();
    if (baseline) loop->sink().Post(batch.All());
  }
  // As after kill -9: everything in memory is gone.
  void Restart(bool baseline = true) {
    batch.sink = nullptr;
    loop.reset();
    store.reset();
    Boot(baseline);
  }

  TimePoint Turn() { return loop->Turn(clock.now); }
  // Turns until nothing moves any more.
  void Settle(int turns = 8) {
    for (int i = 0; i < turns; ++i) Turn();
  }
  void Later(int64_t seconds) { clock.now += std::chrono::seconds(seconds); }

  Result<std::string> Submit(const std::string& text = JobText(),
                             const std::string& user = "alice") {
    model::Submission s;
    s.user = user;
    s.job = Job(text);
    Result<std::string> answer = Unavailable("no answer");
    loop->Ask(SubmitRequest{s, [&](Result<std::string> r) { answer = std::move(r); }});
    Turn();
    return answer;
  }
  Result<std::string> Stop(const model::Task& task, const std::string& by = "alice") {
    Result<std::string> answer = Unavailable("no answer");
    loop->Ask(StopRequest{task.id, by, [&](Result<std::string> r) { answer = std::move(r); }});
    Turn();
    return answer;
  }

  std::shared_ptr<const Published> view() const { return loop->published(); }
  const model::Task& Task(size_t row = 0) const {
    held_ = view();  // keeps the record alive for the caller
    return *std::next(held_->tasks.begin(), static_cast<std::ptrdiff_t>(row))->second;
  }
  int64_t Used() const {
    int64_t used = 0;
    for (const auto& [key, row] : view()->ledger->rows()) {
      if (key.level == spec::QuotaLevel::kTenant) used += row.used;
    }
    return used;
  }

 private:
  mutable std::shared_ptr<const Published> held_;
};

}  // namespace cox::run::test
