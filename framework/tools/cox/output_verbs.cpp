// What grows while one looks at it: logs and events.
#include <algorithm>
#include <fstream>

#include "tools/cox/task_text.hpp"
#include "tools/cox/verbs.hpp"

namespace cox::cli {
namespace {

constexpr Duration kLook = std::chrono::milliseconds(500);

// Prints `path` from `offset` on. Returns where it ended.
std::streamoff Copy(const std::string& path, std::streamoff offset, std::ostream& out) {
  std::ifstream file(path, std::ios::binary);
  file.seekg(offset);
  char block[1 << 16];
  while (file.read(block, sizeof block), file.gcount() > 0) {
    out.write(block, file.gcount());
    offset += file.gcount();
  }
  out.flush();
  return offset;
}

bool HasEnded(const std::string& state) {
  return state == "Succeeded" || state == "Failed" || state == "Stopped";
}

}  // namespace

int Logs(const Context& context, const Arguments& args) {
  Value::Fields fields = {{"job", args.target}};
  if (!args.role.empty()) fields.emplace_back("role", args.role);
  if (args.attempt) fields.emplace_back("attempt", *args.attempt);
  const auto result = context.Ask("logs", std::move(fields));
  if (!result) return context.Fail(result.error());
  if (context.Printed(args, *result)) return kOk;
  const std::string path = (*result)["path"].text();
  std::streamoff offset = 0;
  while (args.follow) {
    // The state first: what was written before the end is then printed after it.
    const auto job = context.Ask("get", {{"job", args.target}});
    if (!job) return context.Fail(job.error());
    offset = Copy(path, offset, *context.out);
    if (HasEnded((*job)["state"].text())) return kOk;
    context.wait(kLook);
  }
  if (!std::ifstream(path)) {
    return context.Fail(NotFound(path + ": cannot be read; the task may not have started yet, or "
                                        "its output is on another machine"));
  }
  Copy(path, offset, *context.out);
  return kOk;
}

int Events(const Context& context, const Arguments& args) {
  const bool of_one_task = !args.target.empty();
  int64_t after = 0;   // of all tasks: the sequence number to go on from
  size_t printed = 0;  // of one task: the daemon sends all of them each time
  for (bool first = true;; first = false) {
    Value::List fresh;
    for (bool more = true; more;) {
      Value::Fields fields;
      if (of_one_task) fields.emplace_back("job", args.target);
      if (after != 0) fields.emplace_back("after", after);
      const auto result = context.Ask("events", std::move(fields));
      if (!result) return context.Fail(result.error());
      const Value::List& rows = (*result)["events"].rows();
      const size_t old = of_one_task ? std::min(printed, rows.size()) : 0;
      fresh.insert(fresh.end(), rows.begin() + static_cast<std::ptrdiff_t>(old), rows.end());
      printed = rows.size();
      const int64_t next = (*result)["next"].number();
      more = !of_one_task && next != after;  // the daemon answers page by page
      after = next;
    }
    if ((first || !fresh.empty()) && !context.Printed(args, fresh)) {
      *context.out << EventsText(fresh, "", first);
    }
    context.out->flush();
    if (!args.follow) return kOk;
    context.wait(kLook);
  }
}

}  // namespace cox::cli
