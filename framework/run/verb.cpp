#include "run/verb.hpp"

#include <utility>

namespace cox::run::verb {

std::string Text(const Json& args, const char* key) {
  const auto it = args.find(key);
  return it != args.end() && it->is_string() ? it->get<std::string>() : "";
}
bool Flag(const Json& args, const char* key) {
  const auto it = args.find(key);
  return it != args.end() && it->is_boolean() && it->get<bool>();
}
int64_t Number(const Json& args, const char* key, int64_t otherwise) {
  const auto it = args.find(key);
  return it != args.end() && it->is_number_integer() ? it->get<int64_t>() : otherwise;
}
std::vector<std::string> Words(const Json& args, const char* key) {
  std::vector<std::string> words;
  const auto it = args.find(key);
  if (it == args.end() || !it->is_array()) return words;
  for (const Json& word : *it) {
    if (word.is_string()) words.push_back(word.get<std::string>());
  }
  return words;
}

Result<TaskPtr> FindJob(const Desk& desk) {
  const std::string key = Text(desk.args, "job");
  if (key.empty()) return InvalidArgument("args.job: say which job, by name or id");
  // A number is the start of nothing: `stop 12` must not find a uuid.
  const bool may_be_start = key.find_first_not_of("0123456789") != std::string::npos;
  TaskPtr found;
  std::vector<TaskPtr> begun;
  for (const auto& [id, task] : desk.now_known.tasks) {
    if (!MaySee(desk.peer, *task)) continue;
    if (task->name == key || task->native_id == key) return task;
    if (task->root_uuid == key || task->attempt_uuid == key || std::to_string(id) == key) {
      found = task;
    } else if (may_be_start && (task->name.starts_with(key) ||
                                (key.size() >= 8 && task->root_uuid.starts_with(key)))) {
      begun.push_back(task);
    }
  }
  if (found == nullptr && begun.size() == 1) found = begun.front();
  if (found == nullptr && begun.size() > 1) {
    return InvalidArgument(key + " is the start of " + std::to_string(begun.size()) + " jobs, of " +
                           begun[0]->name + " and " + begun[1]->name +
                           " among them; write more of it");
  }
  if (found == nullptr && !may_be_start) {
    return NotFound("no job " + key + "; one that was accepted a moment ago is known in a second");
  }
  if (found == nullptr) return NotFound("no job named " + key);
  return found;
}

Json Findings(const std::vector<spec::Finding>& findings) {
  Json rows = Json::array();
  for (const spec::Finding& f : findings) {
    rows.push_back({{"path", f.path}, {"text", f.text}, {"rule", f.rule}});
  }
  return rows;
}

Done NameReply(const char* key, Reply reply, Json more) {
  return [key, reply = std::move(reply), more = std::move(more)](Result<std::string> done) {
    if (!done) return reply(done.error());
    Json json = more;
    if (*key != '\0') json[key] = *done;
    reply(std::move(json));
  };
}

}  // namespace cox::run::verb
