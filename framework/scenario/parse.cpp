#include "scenario/parse.hpp"

#include <algorithm>
#include <set>

#include "scenario/reading.hpp"
#include "spec/node_range.hpp"
#include "spec/parse.hpp"
#include "spec/schema.hpp"
#include "spec/text.hpp"

namespace cox::scenario {
namespace {

const Place kNowhere{};

// In every pool that names it, whose labels it has, or that says nothing about its nodes.
std::vector<std::string> PoolsOf(const std::string& node, const json& labels,
                                 const std::vector<std::string>& stated, const spec::Site& site) {
  std::vector<std::string> pools;
  for (const spec::Pool& pool : site.pools) {
    const auto has_label = [&](const auto& label) {
      return labels.contains(label.first) && labels[label.first] == label.second;
    };
    const bool selects = !pool.node_selector.empty();
    const bool in =
        std::ranges::count(stated, pool.name) + std::ranges::count(pool.nodes, node) > 0 ||
        (selects && std::ranges::all_of(pool.node_selector, has_label)) ||
        (!selects && pool.nodes.empty() && pool.partition.empty() && stated.empty());
    if (in) pools.push_back(pool.name);
  }
  return pools;
}

void ReadNodes(const Item& list, const spec::Site& site, std::vector<model::Node>& nodes,
               Complaints& complaints) {
  std::set<std::string> seen;
  for (size_t i = 0; i < list.value->size(); ++i) {
    const Item item = list.At(i);
    for (const std::string& name : Names(item, item["name"], complaints)) {
      if (!seen.insert(name).second) complaints.Add(item, name + " is there already");
      model::Node node;
      node.name = name;
      node.address = name;
      node.gpu_type = item["gpus"] > 0 ? item["gpuType"].get<std::string>() : "";
      node.capacity.gpu_milli = item["gpus"].get<int64_t>() * 1000;
      node.capacity.cpu_milli = item["cpus"].get<int64_t>() * 1000;
      node.capacity.mem_mib = item["memoryGi"].get<int64_t>() * 1024;
      node.pools = PoolsOf(name, item["labels"], item["pools"], site);
      nodes.push_back(std::move(node));
    }
  }
}

class EventReader {
 public:
  EventReader(const Item& item, const Scenario& scenario, Complaints& complaints)
      : item_(item), scenario_(scenario), complaints_(complaints) {}

  // `site`: as the events before have left it.
  std::optional<Event> Read(SiteText& site) {
    constexpr const char* kWhat[] = {"cancel", "end",    "down",   "drain",   "up",
                                     "remove", "resize", "policy", "restart", "reload",
                                     "again",  "resync", "clock"};
    std::vector<std::string> found;
    for (const char* what : kWhat) {
      if (item_.has(what)) found.emplace_back(what);
    }
    if (found.size() != 1) {
      complaints_.Add(item_, found.empty() ? "says nothing that happens; see docs/scenarios.md"
                                           : "is two things at once: " + found[0] + " and " +
                                                 found[1] + "; write two events");
      return std::nullopt;
    }
    Event event;
    event.at = item_["at"];
    event.line = item_.line;
    Fill(found.front(), event, site);
    return event;
  }

 private:
  std::string JobOf(const std::string& key) {
    std::string id = item_[key.c_str()];
    MustBeAJob(item_, id, scenario_.jobs, complaints_);
    return id;
  }

  void Fill(const std::string& what, Event& event, SiteText& site) {
    if (what == "cancel") {
      event.what = Cancel{JobOf(what)};
    } else if (what == "again") {
      event.what = Again{JobOf(what)};
    } else if (what == "end") {
      event.what = ReadEnd();
    } else if (what == "policy") {
      event.what = ReadPolicy();
    } else if (what == "restart") {
      event.what = Restart{item_["restart"]};
    } else if (what == "resync") {
      event.what = Resync{};
    } else if (what == "clock") {
      event.what = ClockJump{item_["clock"]};
    } else if (what == "reload") {
      event.what = ReadReload(site);
    } else {
      event.what = ReadNodeChange(what);
    }
  }

  End ReadEnd() {
    End end{JobOf("end"), std::nullopt};
    static const std::map<std::string, model::Cause> kCauses = {
        {"exit", model::Cause::kExit},           {"oom", model::Cause::kOutOfMemory},
        {"node", model::Cause::kNode},           {"image", model::Cause::kImage},
        {"setup", model::Cause::kSetup},         {"launch", model::Cause::kLaunch},
        {"runtime", model::Cause::kRuntime},     {"hang", model::Cause::kHang},
        {"time_limit", model::Cause::kTimeLimit}};
    model::Exit exit;
    exit.cause = kCauses.at(item_["cause"]);
    exit.exit_code = item_["exit"];
    exit.node = item_["node"];
    if (exit.cause != model::Cause::kExit || exit.exit_code != 0) end.exit = exit;
    return end;
  }

  NodeChange ReadNodeChange(const std::string& what) {
    using What = NodeChange::What;
    static const std::map<std::string, What> kChanges = {{"down", What::kDown},
                                                         {"drain", What::kDrain},
                                                         {"up", What::kUp},
                                                         {"remove", What::kRemove},
                                                         {"resize", What::kResize}};
    NodeChange change{kChanges.at(what), item_[what.c_str()], item_["gpus"]};
    if (std::ranges::count(scenario_.nodes, change.node, &model::Node::name) == 0) {
      complaints_.Add(item_, "no node has the name " + change.node);
    }
    return change;
  }

  AddPolicy ReadPolicy() {
    const Item item = item_.At("policy");
    AddPolicy add;
    add.until = item["until"];
    add.policy.tenant_scope = item.has("tenant");
    if (item.has("tenant") == item.has("user")) {
      complaints_.Add(item, "is for one user or for one tenant; write one of the two");
    } else {
      add.policy.subject = item[item.has("user") ? "user" : "tenant"];
    }
    add.policy.type =
        item["type"] == "NodeIn" ? spec::NodePolicyType::kNodeIn : spec::NodePolicyType::kNodeNotIn;
    add.policy.node_names = Names(item, item["nodes"], complaints_);
    add.policy.reason = "scenario";
    return add;
  }

  Reload ReadReload(SiteText& site) {
    auto changed = ChangeSite(site, item_.At("reload"));
    if (changed) {
      site = *std::move(changed);
    } else {
      complaints_.Add(changed.error());
    }
    if (const auto good = spec::ParseSite(site.text, site.position); !good) {
      complaints_.Add(item_, "after this reload the site is wrong: " + good.error().text);
    }
    return {site.text, site.position};
  }

  const Item& item_;
  const Scenario& scenario_;
  Complaints& complaints_;
};

}  // namespace

Item Item::At(const std::string& key) const {
  const auto found = place->members.find(key);
  const bool written = found != place->members.end();
  return {&value->at(key), written ? &found->second : &kNowhere,
          written ? found->second.line : line, path.empty() ? key : path + "." + key};
}

Item Item::At(size_t index) const {
  const bool written = index < place->items.size();
  return {&(*value)[index], written ? &place->items[index] : &kNowhere,
          written ? place->items[index].line : line, path + "[" + std::to_string(index) + "]"};
}

void Complaints::Add(const Item& at, const std::string& what) {
  lines_.emplace_back(at.line, file_ + ":" + std::to_string(at.line) + ": " +
                                   (at.path.empty() ? "" : at.path + ": ") + what);
}

Error Complaints::Text() {
  std::ranges::stable_sort(lines_, {}, &std::pair<int64_t, std::string>::first);
  std::string all;
  for (const auto& [line, text] : lines_) all += (all.empty() ? "" : "\n") + text;
  return InvalidArgument(all);
}

std::vector<std::string> Names(const Item& at, const std::string& text, Complaints& complaints) {
  auto names = spec::ExpandNodes(text);
  if (names) return *std::move(names);
  complaints.Add(at, names.error().text);
  return {};
}

void MustBeAJob(const Item& at, const std::string& id, const std::vector<Job>& jobs,
                Complaints& complaints) {
  if (std::ranges::any_of(jobs, [&](const Job& job) { return job.id == id; })) return;
  std::vector<std::string> ids;
  ids.reserve(jobs.size());
  for (const Job& job : jobs) ids.push_back(job.id);
  complaints.Add(at, "no job has the id " + id + spec::DidYouMean(id, ids));
}

Result<Scenario> Parse(std::string_view text, const std::string& file, const ReadFile& read_file) {
  Result<spec::Document> document = spec::ParseDocument(text, file);
  if (!document) return document.error();
  static const spec::Schema schema{ScenarioSchema()};
  if (auto valid = schema.ValidateAndDefault(*document); !valid) {
    return valid.error();
  }
  const Item root{&document->value, &document->place, document->place.line, ""};
  Result<SiteText> site_text = CompleteSite(root, file, read_file);
  if (!site_text) return site_text.error();
  const auto site = spec::ParseSite(site_text->text, site_text->position);
  if (!site) return site.error();

  Scenario scenario;
  scenario.file = file;
  scenario.title = root["title"];
  scenario.site_text = site_text->text;
  scenario.site_position = site_text->position;
  if (root.has("until")) scenario.until = root["until"].get<int64_t>();
  Complaints complaints(file);
  ReadNodes(root.At("nodes"), *site, scenario.nodes, complaints);

  const bool has_defaults = root.has("defaults");
  const Item defaults = has_defaults ? root.At("defaults") : Item{};
  const JobReader jobs{*site, file, complaints};
  const Item list = root.At("jobs");
  for (size_t i = 0; i < list.value->size(); ++i) {
    jobs.Read(list.At(i), has_defaults ? &defaults : nullptr, scenario.jobs);
  }
  std::ranges::stable_sort(scenario.jobs, {}, &Job::at);
  std::set<std::string> ids;
  for (const Job& job : scenario.jobs) {
    if (!ids.insert(job.id).second) complaints.Add(list, "two jobs have the id " + job.id);
  }
  // A broken job would be reported again by everything that names it.
  if (!complaints.empty()) return complaints.Text();

  std::vector<Item> events;
  const Item event_list = root.At("events");
  for (size_t i = 0; i < event_list.value->size(); ++i) events.push_back(event_list.At(i));
  std::ranges::stable_sort(events, {}, [](const Item& e) { return e["at"].get<int64_t>(); });
  for (const Item& item : events) {
    if (auto event = EventReader(item, scenario, complaints).Read(*site_text)) {
      scenario.events.push_back(*std::move(event));
    }
  }
  scenario.expect = ReadExpectation(root.At("expect"), scenario, complaints);
  if (!complaints.empty()) return complaints.Text();
  return scenario;
}

}  // namespace cox::scenario
