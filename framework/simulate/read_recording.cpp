// What `cox-slurm --record` wrote (run/recorder): each cycle's snapshot and decision. A job ran
// from its last start until the first cycle that no longer shows it.
#include <map>
#include <set>

#include "run/json.hpp"
#include "simulate/readers.hpp"

namespace cox::simulate {
namespace {

struct Seen {
  TraceJob job;
  TimePoint submitted{}, started{}, last{};
  bool runs = false;  // in the last cycle
};

// The job as its candidates tell it: all that a scheduler saw of it.
template <class Row>
std::shared_ptr<spec::TrainingJob> JobOf(const Row& row, const model::Candidate& first) {
  auto job = std::make_shared<spec::TrainingJob>();
  job->generate_name = "job-";
  job->command = "true";
  job->project = row.owner.project;
  job->scheduling.capacity_type = row.capacity;
  job->scheduling.queue = first.pool;
  job->scheduling.priority = row.priority;
  job->scheduling.preemptible = !row.guaranteed;
  int64_t replicas = 0;
  for (const model::RoleDemand& role : first.roles) replicas += role.replicas;
  job->workers = replicas - 1;
  return job;
}

void AddFlavor(spec::TrainingJob& job, const model::Candidate& candidate) {
  if (candidate.roles.empty()) return;
  const model::RoleDemand& role = candidate.roles.back();
  for (const spec::FlavorChoice& known : job.scheduling.flavors) {
    if (known.name == role.flavor) return;
  }
  job.scheduling.flavors.push_back({role.flavor, role.units});
}

class Recording {
 public:
  void See(const model::Snapshot& snapshot) {
    for (const model::Node& node : snapshot.nodes) nodes_[node.name] = node;
    for (const model::PendingJob& row : snapshot.pending) {
      if (!row.candidates.empty()) Pending(row);
    }
    for (auto& [id, seen] : jobs_) seen.runs = false;
    for (const model::RunningJob& row : snapshot.running) Running(row, snapshot.now);
    for (auto& [id, seen] : jobs_) {
      const bool gone = !seen.runs && seen.started != TimePoint{} && running_.contains(id);
      if (gone) seen.last = snapshot.now;
    }
    running_.clear();
    for (const auto& [id, seen] : jobs_) {
      if (seen.runs) running_.insert(id);
    }
  }

  void Tell(Workload& workload, LeftOut& left_out) {
    for (auto& [name, node] : nodes_) {
      node.unmanaged = {};
      node.ready = true;
      workload.nodes.push_back(node);
    }
    for (auto& [id, seen] : jobs_) {
      if (seen.started == TimePoint{}) {
        left_out.Add(0, "had not started when the recording ended");
        continue;
      }
      seen.job.submit = ToSeconds(seen.submitted);
      seen.job.run = ToSeconds(seen.last) - ToSeconds(seen.started);
      workload.jobs.push_back(seen.job);
    }
    if (!running_.empty()) {
      workload.notes.push_back(
          std::to_string(running_.size()) +
          " jobs still ran when the recording ended; that counts as their end");
    }
  }

 private:
  template <class Row>
  Seen& Known(const Row& row, const model::Candidate& first) {
    const auto [at, fresh] = jobs_.try_emplace(row.id.value);
    Seen& seen = at->second;
    if (!fresh) return seen;
    seen.submitted = row.submitted_at;
    seen.job.id = row.name;
    seen.job.user = row.owner.user;
    seen.job.project = row.owner.project;
    seen.job.tenant = row.owner.tenant;
    asked_[row.id.value] = JobOf(row, first);
    seen.job.job = asked_[row.id.value];
    return seen;
  }
  void Pending(const model::PendingJob& row) {
    const bool fresh = !jobs_.contains(row.id.value);
    Seen& seen = Known(row, row.candidates.front());
    if (!fresh) return;
    spec::TrainingJob& job = *asked_[row.id.value];
    job.time_limit_seconds = row.time_limit_seconds;
    seen.job.wall = row.time_limit_seconds;
    for (const model::Candidate& candidate : row.candidates) {
      AddFlavor(job, candidate);
      const bool idle = candidate.source == spec::CapacityType::kIdle;
      if (idle && row.capacity == spec::CapacityType::kReserved) {
        job.scheduling.idle = {true, row.candidates.front().source == candidate.source,
                               candidate.min_stability};
      }
    }
  }
  void Running(const model::RunningJob& row, TimePoint now) {
    const bool fresh = !jobs_.contains(row.id.value);
    Seen& seen = Known(row, row.placement.candidate);
    if (fresh) AddFlavor(*asked_[row.id.value], row.placement.candidate);
    seen.runs = true;
    seen.started = row.started_at == TimePoint{} ? now : row.started_at;
    seen.last = now;
  }

  std::map<std::string, model::Node> nodes_;
  std::map<uint64_t, Seen> jobs_;  // by task
  std::map<uint64_t, std::shared_ptr<spec::TrainingJob>> asked_;
  std::set<uint64_t> running_;  // in the last cycle
};

}  // namespace

Result<Workload> ReadRecording(const Source& source) {
  Workload workload;
  LeftOut left_out(source.file);
  Recording recording;
  const auto no_site = std::make_shared<const spec::Site>();  // its limits are the planner's affair
  int64_t number = 0;
  for (const std::string& text : SplitAt(source.text, '\n')) {
    ++number;
    const auto line = run::ParseJson(text, source.file + ":" + std::to_string(number));
    if (!line) {
      left_out.Add(number, "is cut short");
      continue;
    }
    const std::string kind = line->is_object() ? line->value("kind", "") : "";
    if (kind == "site" && line->contains("text") && workload.site_text.empty()) {
      workload.site_text = line->value("text", "");
    } else if (kind == "cycle" && line->contains("snapshot")) {
      const auto snapshot = run::SnapshotFrom((*line)["snapshot"], no_site);
      if (!snapshot) {
        return InvalidArgument(source.file + ":" + std::to_string(number) + ": " +
                               snapshot.error().text);
      }
      recording.See(*snapshot);
    } else if (kind != "site") {
      return InvalidArgument(source.file + ":" + std::to_string(number) +
                             ": is neither a site nor a cycle of a recording");
    }
  }
  recording.Tell(workload, left_out);
  return Finish(std::move(workload), left_out);
}

}  // namespace cox::simulate
