// A job of a scenario: the short keys become a job file, which the real parser judges; complaints
// about it name the line of the scenario that it came from.
#include <charconv>
#include <initializer_list>

#include "scenario/reading.hpp"
#include "spec/parse.hpp"

namespace cox::scenario {
namespace {

constexpr int64_t kLongestBlock = 72 * 3600;  // S76: a NodeNotIn must end

// A job file in the making.
class JobFile {
 public:
  explicit JobFile(int64_t line) : value_(json::object()) { place_.line = line; }

  // Where nothing is written yet: `spec` was written by hand and wins.
  void Put(std::initializer_list<const char*> keys, json leaf, int64_t line) {
    json* value = &value_;
    Place* place = &place_;
    for (const char* key : keys) {
      place = &place->members.try_emplace(key, Place{line, {}, {}, {}}).first->second;
      if (value->is_null()) *value = json::object();
      if (!value->is_object()) return;  // the schema of jobs will say what is wrong
      value = &(*value)[key];
    }
    if (!value->is_null()) return;
    *value = std::move(leaf);
    Locate(*value, *place);
  }
  void Take(const json& spec, const Place& place) {
    value_["spec"] = spec;
    place_.members["spec"] = place;
  }
  std::string Text() const { return spec::TextOf(value_, place_); }

 private:
  json value_;
  Place place_;
};

// The key as the job says it, else as the defaults do, else the schema's default.
class Choice {
 public:
  Choice(const Item& job, const Item* defaults) : job_(job), defaults_(defaults) {}

  const Item& From(const char* key) const {
    const bool theirs = !job_.written(key) && defaults_ != nullptr && defaults_->written(key);
    return theirs ? *defaults_ : job_;
  }
  bool has(const char* key) const { return From(key).has(key); }
  const json& operator[](const char* key) const { return From(key)[key]; }
  int64_t line(const char* key) const {
    const Item& item = From(key);
    return item.written(key) ? item.place->members.at(key).line : job_.line;
  }

 private:
  const Item& job_;
  const Item* defaults_;
};

int64_t Number(std::string_view text) {
  int64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

}  // namespace

void JobReader::Read(const Item& item, const Item* defaults, std::vector<Job>& jobs) const {
  const Choice job(item, defaults);
  if (!item.has("id")) return complaints.Add(item, "needs an id");

  JobFile text(item.line);
  const Item& spec_from = job.From("spec");
  if (spec_from.written("spec")) {
    text.Take(spec_from["spec"], spec_from.place->members.at("spec"));
  }
  const int64_t line = item.line;
  text.Put({"metadata", "generateName"}, "job-", line);
  text.Put({"metadata", "project"}, job["project"], job.line("project"));
  text.Put({"spec", "type"}, "PyTorchJob", line);
  text.Put({"spec", "command"}, "train", line);

  const std::string size = job["size"];
  const size_t x = size.find('x');
  text.Put({"spec", "replicas", "workers"}, Number(size.substr(0, x)) - 1, job.line("size"));
  json flavors = json::array();
  for (const json& name : job["flavors"]) flavors.push_back({{"name", name}});
  if (flavors.empty() && !site.flavors.empty()) flavors = {{{"name", site.flavors.front().name}}};
  for (json& flavor : flavors) flavor["count"] = Number(size.substr(x + 1));
  text.Put({"spec", "scheduling", "flavors"}, flavors, job.line("size"));
  text.Put({"spec", "scheduling", "capacityType"}, job["capacity"], job.line("capacity"));
  std::string pool = job["pool"];
  if (pool.empty() && job["capacity"] == "reserved" && !site.pools.empty()) {
    pool = site.pools.front().name;
  }
  if (!pool.empty()) text.Put({"spec", "scheduling", "queue"}, pool, job.line("pool"));
  // Written keys count, even with their default: an idle job may have neither (S31).
  if (job.has("priority")) {
    text.Put({"spec", "scheduling", "priorityClassName"}, job["priority"], job.line("priority"));
  }
  if (job["guaranteed"]) {
    text.Put({"spec", "scheduling", "preemptible"}, false, job.line("guaranteed"));
  }
  text.Put({"spec", "scheduling", "terminationGracePeriodSeconds"}, job["grace"],
           job.line("grace"));
  if (job.has("only") && job.has("not"))
    complaints.Add(item, "has both only and not; a job has one rule");
  for (const char* key : {"only", "not"}) {
    if (!job.has(key)) continue;
    const bool only = std::string_view(key) == "only";
    json rule = {{"type", only ? "NodeIn" : "NodeNotIn"},
                 {"nodeNames", Names(item, job[key], complaints)}};
    if (!only) rule["ttlSeconds"] = kLongestBlock;
    text.Put({"spec", "scheduling", "nodePolicy"}, std::move(rule), job.line(key));
  }
  if (job.has("retries")) {
    text.Put({"spec", "failurePolicy", "enabled"}, true, job.line("retries"));
    text.Put({"spec", "failurePolicy", "maxRetries"}, job["retries"], job.line("retries"));
  }
  const bool no_wall = job.has("wall") && job["wall"].is_string();
  if (no_wall && job["wall"] != "unknown") {
    complaints.Add(item, "wall is a number of seconds, or the word unknown");
  }
  const char* wall = job.has("wall") ? "wall" : "run";
  if (!no_wall && job.has(wall) && job[wall] > 0) {
    text.Put({"spec", "timeLimitSeconds"}, job[wall], job.line(wall));
  }

  auto parsed = spec::ParseTrainingJob(text.Text(), file + ":" + std::to_string(line));
  if (!parsed) return complaints.Add(parsed.error());
  Job made;
  made.user = job["user"];
  made.project = job["project"];
  made.exit_code = job["exit"];
  made.job = std::make_shared<const spec::TrainingJob>(*std::move(parsed));
  const char* run = job.has("run") ? "run" : "wall";
  if (job.has(run) && job[run].is_number()) made.run = job[run].get<int64_t>();
  const int64_t count = job.has("repeat") ? job["repeat"].get<int64_t>() : 1;
  for (int64_t i = 0; i < count; ++i) {
    made.id = item["id"].get<std::string>() + (job.has("repeat") ? std::to_string(i) : "");
    made.at = job["at"].get<int64_t>() + i * job["every"].get<int64_t>();
    jobs.push_back(made);
  }
}

}  // namespace cox::scenario
