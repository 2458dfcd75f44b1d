// One function a verb of the control socket, by what they are about: verb_jobs.cpp, verb_capacity,
// verb_policies, verb_daemon. verbs.cpp has the table of them. Internal to run/.
#pragma once

#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "run/verbs.hpp"

namespace cox::run::verb {

// ---- What they share (verb.cpp) ----

using TaskPtr = std::shared_ptr<const model::Task>;
using Served = std::variant<Result<Json>, Request>;

// An argument of the request; empty, false or `otherwise` when it is missing or of another type.
std::string Text(const Json& args, const char* key);
bool Flag(const Json& args, const char* key);
int64_t Number(const Json& args, const char* key, int64_t otherwise);
std::vector<std::string> Words(const Json& args, const char* key);

// args.job: by name, id, native id or uuid; or by the start of its name, or eight characters of its
// uuid, when only one fits. One that may not be seen is not there (S5).
Result<TaskPtr> FindJob(const Desk& desk);

Json Findings(const std::vector<spec::Finding>& findings);

// A write's answer: what the loop made, under `key`, beside `more`.
Done NameReply(const char* key, Reply reply, Json more = Json::object());

// ---- Jobs ----

Result<Json> List(const Desk& desk);
Result<Json> Get(const Desk& desk);
Result<Json> Describe(const Desk& desk);
Result<Json> Explain(const Desk& desk);
Result<Json> Events(const Desk& desk);
Result<Json> Logs(const Desk& desk);
Served Submit(const Desk& desk, Reply reply);
Served Judge(const Desk& desk, Reply reply);
Served Stop(const Desk& desk, Reply reply);

// ---- Capacity ----

Result<Json> Pools(const Desk& desk);
Result<Json> Flavors(const Desk& desk);
Result<Json> Nodes(const Desk& desk);
Result<Json> Quota(const Desk& desk);
Result<Json> LedgerCheck(const Desk& desk);

// ---- Node policies ----

Result<Json> PolicyList(const Desk& desk);
Served PolicyCreate(const Desk& desk, Reply reply);
Served PolicyDelete(const Desk& desk, Reply reply);

// ---- The daemon ----

Result<Json> PluginList(const Desk& desk);
Result<Json> Health(const Desk& desk);
Served Reload(const Desk& desk, Reply reply);

}  // namespace cox::run::verb
