// What grows while one looks at it: logs and events.
#include <cstdio>
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
  Value next;
  while (true) {
    Value::Fields fields;
    if (!args.target.empty()) fields.emplace_back("job", args.target);
    if (!next.empty()) fields.emplace_back("after", next);
    const auto result = context.Ask("events", std::move(fields));
    if (!result) return context.Fail(result.error());
    if (!context.Printed(args, *result)) {
      *context.out << EventsText((*result)["events"], "") << std::flush;
    }
    if (!args.follow) return kOk;
    next = (*result)["next"];
    context.wait(kLook);
  }
}

}  // namespace cox::cli
