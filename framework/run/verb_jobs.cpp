#include <algorithm>
#include <map>
#include <utility>

#include "run/verb.hpp"
#include "spec/parse.hpp"

namespace cox::run::verb {
namespace {

constexpr char kMask[] = "****";  // S13
constexpr int kMostEvents = 1000;

Json Record(const Desk& desk, const model::Task& task) {
  Json json = ToJson(task);
  if (MaySeeHidden(desk.peer, task)) return json;
  Json& spec = json["job"]["spec"];
  if (!spec.contains("env")) return json;
  for (Json& variable : spec["env"]) {
    if (variable.value("hidden", false)) variable["value"] = kMask;
  }
  return json;
}

bool HasLabels(const model::Task& task, const Json& args) {
  const auto wanted = args.find("labels");
  if (wanted == args.end() || !wanted->is_object()) return true;
  for (const auto& [key, value] : wanted->items()) {  // S116: all of them
    const auto it = task.job->labels.find(key);
    if (it == task.job->labels.end() || !value.is_string() || it->second != value) return false;
  }
  return true;
}

Json Explanation(const Desk& desk, const model::Task& task) {
  Json json = {{"blockers", Json::array()}, {"earliest", nullptr}};
  for (const model::Explanation& e : desk.now_known.decision->waiting) {
    if (e.task == task.id && task.state == model::State::kPending) json = ToJson(e);
  }
  json["name"] = task.name;
  json["state"] = model::Name(task.state);
  json["reason"] = task.reason;
  json["message"] = task.message;
  json["state_since"] = ToNanos(task.state_since);
  json["placement"] = task.placement ? ToJson(*task.placement) : Json();
  json["candidates"] = ToJson(task.candidates);
  return json;
}

Json EventRow(const model::TaskEvent& event, const model::Task& task) {
  Json json = ToJson(event);
  json["name"] = task.name;
  return json;
}

Result<Json> EventsOf(const Desk& desk, const model::Task& task) {
  auto reader = StoreReader::Open(desk.options.store_file);
  if (!reader) return reader.error();
  auto events = (*reader)->Events(task.id);
  if (!events) return events.error();
  Json rows = Json::array();
  for (const model::TaskEvent& event : *events) rows.push_back(EventRow(event, task));
  return rows;
}

// S83: whose output there is, by the type of the job.
Result<void> CheckRole(const model::Task& task, const std::string& role) {
  if (role.empty()) return {};
  const bool ray = task.job->type == spec::TaskType::kRayJob;
  const std::vector<std::string> roles =
      ray ? std::vector<std::string>{"submitter", "head", "worker"}
          : std::vector<std::string>{"master", "worker"};
  if (std::ranges::find(roles, role) == roles.end()) {
    return InvalidArgument("\"" + role + "\" is no role of a " + spec::Name(task.job->type) +
                           "; it has " + (ray ? "submitter, head, worker" : "master, worker"));
  }
  if (role == "worker" && task.job->workers == 0) {
    return NotFound(task.name + " has no workers; its master does all");
  }
  return {};
}

Result<spec::TrainingJob> JobFrom(const Desk& desk) {
  const std::string file = Text(desk.args, "file");
  return spec::ParseTrainingJob(Text(desk.args, "text"), file.empty() ? "<stdin>" : file);
}

Served Judged(const Desk& desk, const std::string& user, Reply reply) {
  auto job = JobFrom(desk);
  if (!job) {
    return Result<Json>(
        Json{{"accepted", false}, {"refused", job.error().text}, {"warnings", Json::array()}});
  }
  return JudgeRequest{user, *std::move(job), [reply = std::move(reply)](const Judgement& judged) {
                        reply(Json{{"accepted", judged.refused.empty()},
                                   {"refused", judged.refused},
                                   {"warnings", Findings(judged.warnings)}});
                      }};
}

}  // namespace

Result<Json> List(const Desk& desk) {
  const std::vector<std::string> states = Words(desk.args, "states");
  Json jobs = Json::array();
  for (const auto& [id, task] : desk.now_known.tasks) {
    if (!MaySee(desk.peer, *task) || !HasLabels(*task, desk.args)) continue;
    if (Flag(desk.args, "mine") && task->owner.user != desk.peer.who.user) continue;
    if (!states.empty()) {
      if (std::ranges::find(states, model::Name(task->state)) == states.end()) continue;
    } else if (model::IsTerminal(task->state) && !Flag(desk.args, "all")) {
      continue;
    }
    Json json = Record(desk, *task);
    json.erase("attempts");
    json["job"]["spec"].erase("env");
    jobs.push_back(std::move(json));
  }
  return Json{{"jobs", std::move(jobs)}};
}

Result<Json> Get(const Desk& desk) {
  auto task = FindJob(desk);
  if (!task) return task.error();
  return Record(desk, **task);
}

Result<Json> Explain(const Desk& desk) {
  auto task = FindJob(desk);
  if (!task) return task.error();
  return Explanation(desk, **task);
}

Result<Json> Describe(const Desk& desk) {
  auto task = FindJob(desk);
  if (!task) return task.error();
  auto events = EventsOf(desk, **task);
  if (!events) return events.error();
  Json json = Record(desk, **task);
  json["events"] = *std::move(events);
  json["explanation"] = Explanation(desk, **task);
  return json;
}

Result<Json> Events(const Desk& desk) {
  if (desk.args.contains("job")) {
    auto task = FindJob(desk);
    if (!task) return task.error();
    auto rows = EventsOf(desk, **task);
    if (!rows) return rows.error();
    return Json{{"events", *std::move(rows)}, {"next", 0}};
  }
  auto reader = StoreReader::Open(desk.options.store_file);
  if (!reader) return reader.error();
  auto next = static_cast<uint64_t>(std::max<int64_t>(0, Number(desk.args, "after", 0)));
  const int64_t limit = std::clamp<int64_t>(Number(desk.args, "limit", 100), 1, kMostEvents);
  auto page = (*reader)->EventsAfter(next, static_cast<int>(limit));
  if (!page) return page.error();
  Json rows = Json::array();
  for (const auto& [sequence, event] : *page) {
    next = sequence;
    const auto task = desk.now_known.tasks.find(event.task.value);
    if (task == desk.now_known.tasks.end() || !MaySee(desk.peer, *task->second)) continue;
    Json row = EventRow(event, *task->second);
    row["sequence"] = sequence;
    rows.push_back(std::move(row));
  }
  return Json{{"events", std::move(rows)}, {"next", next}};
}

Result<Json> Logs(const Desk& desk) {
  auto task = FindJob(desk);
  if (!task) return task.error();
  if (!desk.options.log_path) {
    return FailedPrecondition("this daemon does not know where output is kept");
  }
  const int64_t attempt = Number(desk.args, "attempt", (*task)->attempt);
  if (attempt < 0 || attempt > (*task)->attempt) {
    return NotFound((*task)->name + " has no attempt " + std::to_string(attempt) +
                    "; its last one is " + std::to_string((*task)->attempt) +
                    ", and the first one is 0");
  }
  const std::string role = Text(desk.args, "role");
  if (auto known = CheckRole(**task, role); !known) return known.error();
  auto path = desk.options.log_path(**task, attempt, role);
  if (!path) return path.error();
  return Json{{"path", *path}};
}

Served Submit(const Desk& desk, Reply reply) {
  if (Flag(desk.args, "dry_run")) return Judged(desk, desk.peer.who.user, std::move(reply));
  auto job = JobFrom(desk);
  if (!job) return Result<Json>(job.error());
  model::Submission submission;
  submission.user = desk.peer.who.user;
  submission.job = std::make_shared<const spec::TrainingJob>(*std::move(job));
  return SubmitRequest{std::move(submission), NameReply("name", std::move(reply))};
}

Served Judge(const Desk& desk, Reply reply) {
  const std::string asked = Text(desk.args, "user");
  if (!asked.empty() && asked != desk.peer.who.user && !desk.peer.who.admin) {
    return Result<Json>(Forbidden("only an administrator may judge for another user"));
  }
  return Judged(desk, asked.empty() ? desk.peer.who.user : asked, std::move(reply));
}

Served Stop(const Desk& desk, Reply reply) {
  auto task = FindJob(desk);
  if (!task) return Result<Json>(task.error());
  if (!MayStop(desk.peer, **task)) {
    return Result<Json>(Forbidden((*task)->name + " belongs to " + (*task)->owner.user +
                                  "; only its owner and administrators may stop it"));
  }
  return StopRequest{(*task)->id, desk.peer.who.user,
                     NameReply("name", std::move(reply), {{"state", "Stopping"}})};
}

}  // namespace cox::run::verb
