#include "tools/cox/task_text.hpp"

#include <algorithm>
#include <map>
#include <vector>

#include "tools/cox/table.hpp"
#include "tools/cox/when.hpp"

namespace cox::cli {
namespace {

TimePoint At(const Value& value) {
  return FromNanos(value.number());
}

bool IsTime(const Value& value) {
  return value.number() != 0 && At(value) != kNever;
}

std::string Stamp(const Value& value, const std::string& zone) {
  return IsTime(value) ? When(At(value), zone) : "";
}

std::string Ago(const Value& value, TimePoint now) {
  return IsTime(value) ? Span(now - At(value)) : "";
}

Tint TintOf(const std::string& state) {
  if (state == "Running" || state == "Succeeded") return Tint::kGood;
  if (state == "Failed") return Tint::kBad;
  if (state == "Stopped") return Tint::kDim;
  return state == "Pending" ? Tint::kNone : Tint::kWarn;
}

std::string Pairs(const Value& object) {
  std::string out;
  for (const auto& [key, value] : object.fields()) {
    out += (out.empty() ? "" : ", ") + key + "=" + value.text();
  }
  return out;
}

std::string Nodes(const Value& job) {  // rank order, each once
  std::vector<std::string> seen;
  std::string out;
  for (const Value& replica : job["placement"]["replicas"].rows()) {
    const std::string node = replica["node"].text();
    if (std::ranges::find(seen, node) != seen.end()) continue;
    seen.push_back(node);
    out += (out.empty() ? "" : ",") + node;
  }
  return out;
}

// S38: the flavor that it runs on with the whole job's units, "h100.1g x 16"; before that the
// choices with the units of one replica, "h100.1g:8 a100.1g:8".
std::string Flavors(const Value& job) {
  std::map<std::string, int64_t> units;
  for (const Value& role : job["placement"]["candidate"]["roles"].rows()) {
    units[role["flavor"].text()] += role["units"].number() * role["replicas"].number();
  }
  std::string out;
  for (const auto& [flavor, count] : units) {
    out += (out.empty() ? "" : ", ") + flavor + " x " + std::to_string(count);
  }
  if (!out.empty()) return out;
  for (const Value& choice : job["job"]["spec"]["scheduling"]["flavors"].rows()) {
    out += (out.empty() ? "" : " ") + choice["name"].text() + ":" + choice["count"].text();
  }
  return out;
}

std::string Capacity(const Value& job) {  // in effect, else what was asked for (S27)
  const Value& source = job["placement"]["candidate"]["source"];
  return source.empty() ? job["job"]["spec"]["scheduling"]["capacityType"].text() : source.text();
}

std::string Ahead(const Value& ahead) {
  return ahead["high"].text() + " high, " + ahead["medium"].text() + " medium, " +
         ahead["low"].text() + " low";
}

// S47. Ranks count from 0 on the wire; people count from 1.
std::string QueueText(const Value& queue) {
  if (queue.empty()) return "";
  const auto line = [](const char* where, const Value& rank, const Value& ahead) {
    return "number " + std::to_string(rank.number() + 1) + " " + where +
           (rank.number() == 0 ? "" : " (ahead: " + Ahead(ahead) + ")");
  };
  return line("in the pool", queue["rank_in_pool"], queue["ahead_in_pool"]) + ", " +
         line("of yours", queue["rank_in_user"], queue["ahead_in_user"]);
}

std::string Section(const std::string& title, const std::string& body) {
  return body.empty() ? "" : "\n" + title + ":\n" + body;
}

std::string Indented(const std::string& text) {
  std::string out;
  size_t from = 0;
  while (from < text.size()) {
    const size_t end = std::min(text.find('\n', from), text.size());
    out += "  " + text.substr(from, end - from) + "\n";
    from = end + 1;
  }
  return out;
}

std::string CandidateName(const Value& why, int64_t index) {
  const auto& candidates = why["candidates"].rows();
  if (index < 0 || index >= static_cast<int64_t>(candidates.size())) return "every choice";
  const Value& one = candidates[static_cast<size_t>(index)];
  std::string out = "choice " + std::to_string(index + 1) + ":";
  for (const Value& role : one["roles"].rows()) {
    const std::string name = " " + role["flavor"].text() + " x " + role["units"].text();
    if (out.find(name) == std::string::npos) out += name;
  }
  out += " " + one["source"].text();
  if (!one["pool"].empty()) out += " in " + one["pool"].text();
  return out;
}

// Instead of an explanation: of a task that does not wait to be placed.
std::string NoWaitText(const Value& task, TimePoint now) {
  const std::string since = Ago(task["state_since"], now), nodes = Nodes(task);
  std::string out = task["name"].text() + " waits for nothing: it is " + task["state"].text();
  if (!since.empty()) out += " for " + since;
  if (!nodes.empty()) out += ", on " + nodes;
  out += "\n";
  if (!task["reason"].empty()) {
    out += "  " + task["reason"].text();
    if (!task["message"].empty()) out += ": " + task["message"].text();
    out += "\n";
  }
  return out;
}

bool Waits(const std::string& state) {
  return state.empty() || state == "Pending" || state == "Retrying";
}

std::string AttemptsText(const Value& attempts, const std::string& zone) {
  if (attempts.rows().empty()) return "";
  Table table(
      {">ATTEMPT", "ENDED", "NODES", ">EXIT", "CLASS", "REASON", "ACTION", "WHAT HAPPENED"});
  for (const Value& a : attempts.rows()) {
    const Value& exit = a["exit"];
    const std::string code =
        exit["signal"].number() != 0 ? "signal " + exit["signal"].text() : exit["exit_code"].text();
    table.Row({a["index"].text(), Stamp(a["ended_at"], zone), CommaList(a["nodes"]), code,
               a["failure_class"].text(), a["reason"].text(), a["action"].text(),
               a["text"].text()});
  }
  return table.Text(false);
}

}  // namespace

std::string EnvText(const Value& env) {
  std::string out;
  for (const Value& variable : env.rows()) {
    const bool hidden = variable["hidden"].truth();
    out += variable["name"].text() + "=" + (hidden ? "****" : variable["value"].text()) + "\n";
  }
  return out;
}

std::string ListText(const Value& jobs, TimePoint now, bool colour) {
  Table table({"NAME", "ID", "USER", "STATE", "REASON", "TYPE", "FLAVOR", "NODES", "AGE"});
  for (const Value& job : jobs.rows()) {
    table.Row({job["name"].text(), job["native_id"].text(), job["owner"]["user"].text(),
               job["state"].text(), job["reason"].text(), Capacity(job), Flavors(job), Nodes(job),
               Ago(job["submitted_at"], now)},
              TintOf(job["state"].text()));
  }
  return table.empty() ? "no jobs\n" : table.Text(colour);
}

std::string DescribeText(const Value& job, TimePoint now, bool colour) {
  const Value& spec = job["job"]["spec"];
  const Value& owner = job["owner"];
  const std::string zone = spec["timeZone"].text();
  const std::string state = job["state"].text();
  const std::string since = Ago(job["state_since"], now);
  std::string out = Facts({
      {"Name", job["name"].text()},
      {"Id", job["native_id"].text()},
      {"Task", job["root_uuid"].text()},
      {"Owner", owner["user"].text() + " (project " + owner["project"].text() + ", tenant " +
                    owner["tenant"].text() + ")"},
      {"Labels", Pairs(job["job"]["metadata"]["labels"])},
      {"State", Paint(state, TintOf(state), colour) + (since.empty() ? "" : " for " + since)},
      {"Reason", job["reason"].text()},
      {"Message", job["message"].text()},
      {"Queue", QueueText(job["explanation"]["queue"])},
      {"Type", spec["type"].text()},
      {"Capacity", Capacity(job)},
      {"Pool", job["placement"]["candidate"]["pool"].text()},
      {"Flavor", Flavors(job)},
      {"Nodes", Nodes(job)},
      {"Submitted", Stamp(job["submitted_at"], zone)},
      {"Started", Stamp(job["started_at"], zone)},
      {"Attempt", job["attempt"].text()},
      {"Stopped by", job["stopped_by"].text()},
      {"Preempted by", job["preempted_by"].text()},
      {"Command", spec["command"].text()},
  });
  if (!job["explanation"]["blockers"].empty()) {
    out += Section("Waits for", Indented(ExplainText(job["explanation"], zone, now)));
  }
  out += Section("Attempts", Indented(AttemptsText(job["attempts"], zone)));
  out += Section("Env", Indented(EnvText(spec["env"])));
  out += Section("Events", Indented(EventsText(job["events"], zone)));
  return out;
}

std::string ExplainText(const Value& why, const std::string& zone, TimePoint now) {
  if (!Waits(why["state"].text())) return NoWaitText(why, now);
  std::string out;
  if (why["blockers"].empty()) out = "nothing is known to keep it from starting\n";
  for (const Value& blocker : why["blockers"].rows()) {
    out += blocker["code"].text() + " (" + CandidateName(why, blocker["candidate"].number()) +
           ")\n  " + blocker["text"].text() + "\n";
    if (!blocker["policy"].empty()) out += "  policy: " + blocker["policy"].text() + "\n";
    if (IsTime(blocker["retry_at"])) {
      out += "  ends by itself: " + Stamp(blocker["retry_at"], zone) + "\n";
    }
  }
  if (const std::string queue = QueueText(why["queue"]); !queue.empty()) {
    out += "queue: " + queue + "\n";
  }
  if (IsTime(why["earliest"])) {
    out += "earliest change by a timer: " + Stamp(why["earliest"], zone) + " (in " +
           Span(At(why["earliest"]) - now) + ")\n";
  }
  return out;
}

std::string EventsText(const Value& events, const std::string& zone, bool header) {
  std::string out;
  if (events.rows().empty()) return out;
  Table table({"AT", "TASK", ">ATTEMPT", "", "REASON", "MESSAGE"});
  for (const Value& event : events.rows()) {
    table.Row({Stamp(event["at"], zone), event["name"].text(), event["attempt"].text(),
               event["warning"].truth() ? "!" : " ", event["reason"].text(),
               event["message"].text()});
  }
  const std::string text = table.Text(false);
  return header ? text : text.substr(text.find('\n') + 1);
}

}  // namespace cox::cli
