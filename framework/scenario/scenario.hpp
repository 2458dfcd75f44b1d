// A scenario: a small cluster, what happens to it at which second, and the right outcome. Plain
// data, made by scenario/parse.hpp from a YAML file that schema/scenario.schema.json describes
// (docs/scenarios.md is its manual). Immutable. Every line number is the file's, for messages.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "model/node.hpp"
#include "model/task.hpp"
#include "spec/site.hpp"
#include "spec/training_job.hpp"

namespace cox::scenario {

struct Job {
  std::string id, user, project;
  int64_t at = 0;
  std::optional<int64_t> run;  // seconds; none: until an event ends it
  int exit_code = 0;
  std::shared_ptr<const spec::TrainingJob> job;
};

struct Cancel {  // by its owner
  std::string job;
};
struct End {  // of the running attempt, by itself
  std::string job;
  std::optional<model::Exit> exit;  // none = success
};
struct NodeChange {
  enum class What { kDown, kDrain, kUp, kRemove, kResize } what = What::kDown;
  std::string node;
  int64_t gpus = 0;  // kResize
};
struct AddPolicy {
  spec::NodePolicy policy;  // without its end, which is `until`
  int64_t until = 0;
};
struct Restart {  // of the scheduler; the batch system goes on
  int64_t seconds = 0;
};
struct Reload {
  std::string site_text;  // the whole file as it is from then on
  std::string position;
};
struct Again {  // what was last reported of this job is reported once more
  std::string job;
};
struct Resync {};  // a Baseline
struct ClockJump {
  int64_t seconds = 0;
};

struct Event {
  int64_t at = 0, line = 0;
  std::variant<Cancel, End, NodeChange, AddPolicy, Restart, Reload, Again, Resync, ClockJump> what;
};

using Times = std::vector<int64_t>;

struct ExpectedJob {  // none = may be anything
  std::string id;
  int64_t line = 0;
  std::optional<Times> starts, ends, evicted;  // empty = never
  std::optional<int64_t> wait;
  std::optional<std::vector<std::vector<std::string>>> nodes;  // of each start, sorted
  std::optional<std::string> state;
  std::vector<std::string> says;
  std::optional<int64_t> retries, preemptions;
};

struct Moment {
  int64_t t = 0, line = 0;
  std::vector<std::pair<std::string, std::string>> says;  // job, text
  std::map<std::string, int64_t> earliest;                // by job
  std::optional<std::vector<std::string>> running;        // sorted
  std::map<std::pair<spec::QuotaLevel, std::string>, int64_t> used;
  std::map<std::string, int64_t> free_gpus;  // by node
};

struct Totals {
  std::optional<int64_t> starts, evictions, end;
  int64_t line = 0;
};

struct Expectation {
  std::vector<ExpectedJob> jobs;  // by line, then id
  std::vector<Moment> at;         // by time
  Totals totals;
};

struct Scenario {
  std::string file, title;
  std::string site_text, site_position;  // a whole site file, and where its text stands
  std::vector<model::Node> nodes;        // ready; their pools set
  std::vector<Job> jobs;                 // in the order in which they are submitted
  std::vector<Event> events;             // by time
  std::optional<int64_t> until;
  Expectation expect;
};

}  // namespace cox::scenario
