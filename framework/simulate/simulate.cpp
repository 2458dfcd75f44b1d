#include "simulate/simulate.hpp"

#include <algorithm>
#include <set>

#include "scenario/simulate.hpp"
#include "simulate/engine.hpp"
#include "simulate/plan.hpp"
#include "spec/parse.hpp"

namespace cox::simulate {
namespace {

JobRecord JobOf(const scenario::Job& asked, const scenario::JobHistory& came,
                const spec::Site& site) {
  const spec::Scheduling& wanted = asked.job->scheduling;
  const spec::User* user = site.FindUser(asked.user);
  JobRecord job;
  job.id = asked.id;
  job.user = asked.user;
  job.tenant = user == nullptr ? site.default_tenant : user->tenant;
  job.group = GroupOf(*asked.job);
  job.submit = asked.at;
  job.run = asked.run.value_or(0);
  job.replicas = asked.job->workers + 1;
  job.priority = static_cast<int64_t>(wanted.priority);
  if (!wanted.flavors.empty()) {
    const spec::Flavor* flavor = site.FindFlavor(wanted.flavors.front().name);
    if (flavor != nullptr) job.need = flavor->unit * wanted.flavors.front().count;
  }
  job.evictions = static_cast<int64_t>(came.evicted.size());
  if (came.says.starts_with("Failed Rejected: ")) job.refused = came.says.substr(17);
  if (!came.runs.empty()) job.start = came.runs.front().start;
  return job;
}

bool HasEnded(const scenario::JobHistory& came) {
  return came.state == "Succeeded" || came.state == "Failed" || came.state == "Stopped";
}

Result<Record> PlayScenario(const Workload& workload, const Configuration& configuration,
                            const Settings& settings) {
  scenario::Scenario played = *workload.scenario;
  if (configuration.strict_fifo) {
    return InvalidArgument(
        "a scenario is played as it would happen; there is no strict FIFO of it");
  }
  if (!configuration.site_text.empty()) {
    played.site_text = configuration.site_text;
    played.site_position = configuration.name;
  }
  const auto site = spec::ParseSite(played.site_text, played.site_position);
  if (!site) return site.error();
  const auto history = scenario::Simulate(played, settings.host);
  if (!history) return history.error();

  Record record;
  record.name = configuration.name;
  record.origin = workload.origin;
  record.until = history->until;
  for (const model::Node& node : played.nodes) record.nodes.push_back({node.name, node.capacity});
  std::ranges::sort(record.nodes, {}, &Record::Node::name);
  for (size_t i = 0; i < played.jobs.size(); ++i) {
    const scenario::JobHistory& came = history->jobs[i];
    JobRecord job = JobOf(played.jobs[i], came, *site);
    for (const scenario::AttemptHistory& attempt : came.runs) {
      Run run;
      run.job = static_cast<uint32_t>(i);
      run.start = attempt.start;
      run.end = attempt.end < 0 ? record.until : attempt.end;
      // It leaves at the eviction or a grace period later, before anything else happens to it.
      run.evicted = std::ranges::any_of(came.evicted, [&](int64_t t) {
        return attempt.end >= 0 && t >= run.start && t <= run.end;
      });
      if (run.evicted) run.lost = run.end - run.start;
      for (const std::string& name : attempt.nodes) {
        const auto node = std::ranges::find(record.nodes, name, &Record::Node::name);
        run.nodes.push_back(static_cast<uint32_t>(node - record.nodes.begin()));
      }
      if (HasEnded(came)) job.end = run.end;
      record.runs.push_back(std::move(run));
    }
    record.jobs.push_back(std::move(job));
  }
  std::ranges::stable_sort(record.runs, {}, &Run::start);
  for (const std::string& broken : history->broken)
    record.notes.push_back("broken promise: " + broken);
  return record;
}

// The built-in plugins tell jobs apart by what queue.hpp looks at; a site's own may look at
// anything.
size_t ShownOfEqual(const host::Plugins& plugins) {
  constexpr size_t kFew = 16;  // as many as cycle/reserve.cpp looks for a date for
  const auto status = plugins.Status();
  const bool built_in = std::ranges::all_of(
      status, [](const auto& instance) { return instance.id.starts_with("io.coxswain."); });
  return built_in ? kFew : 0;
}

}  // namespace

Result<void> KeepTenant(Workload& workload, const std::string& tenant) {
  std::set<std::string> known;
  for (const TraceJob& job : workload.jobs) known.insert(job.tenant);
  if (!known.contains(tenant)) {
    std::string names;
    for (const std::string& name : known) names += (names.empty() ? "" : ", ") + name;
    return InvalidArgument("no job of " + workload.file + " is of tenant " + tenant +
                           "; there are " + names);
  }
  std::erase_if(workload.jobs, [&](const TraceJob& job) { return job.tenant != tenant; });
  return {};
}

Result<Record> Simulate(const Workload& workload, const Configuration& configuration,
                        const Settings& settings) {
  if (workload.scenario != nullptr) return PlayScenario(workload, configuration, settings);
  host::Options host = settings.host;
  host.ticks = [] { return int64_t{0}; };  // plugins are not judged by this machine's speed
  const std::string& site =
      configuration.site_text.empty() ? workload.site_text : configuration.site_text;
  auto plan = MakePlan(workload, configuration.name, site, host);
  if (!plan) return plan.error();
  EngineOptions options;
  options.strict_fifo = configuration.strict_fifo;
  options.checkpoint_seconds = settings.checkpoint_seconds;
  options.shown_of_equal = ShownOfEqual(*plan->config.plugins);
  if (settings.progress) {
    options.progress = [&](int64_t second, size_t came, size_t waiting) {
      settings.progress({configuration.name, workload.jobs.size(), came, waiting, second});
    };
  }
  return Play(workload, *plan, options);
}

}  // namespace cox::simulate
