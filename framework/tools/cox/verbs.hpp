// One function a verb. Each prints its result to the context and returns an ExitCode.
#pragma once

#include "tools/cox/arguments.hpp"
#include "tools/cox/context.hpp"

namespace cox::cli {

// job_verbs.cpp
int Submit(const Context& context, const Arguments& args);
int List(const Context& context, const Arguments& args);
int Get(const Context& context, const Arguments& args);
int Describe(const Context& context, const Arguments& args);
int Explain(const Context& context, const Arguments& args);
int Stop(const Context& context, const Arguments& args);

// output_verbs.cpp
int Logs(const Context& context, const Arguments& args);
int Events(const Context& context, const Arguments& args);

// capacity_verbs.cpp
int Quota(const Context& context, const Arguments& args);
int Pool(const Context& context, const Arguments& args);
int Flavors(const Context& context, const Arguments& args);
int Nodes(const Context& context, const Arguments& args);
int LedgerCheck(const Context& context, const Arguments& args);

// node_policy_verbs.cpp
int NodePolicyCreate(const Context& context, const Arguments& args);
int NodePolicyList(const Context& context, const Arguments& args);
int NodePolicyDelete(const Context& context, const Arguments& args);

// site_verbs.cpp
int ConfigCheck(const Context& context, const Arguments& args);  // asks no daemon
int PluginLs(const Context& context, const Arguments& args);
int PluginInspect(const Context& context, const Arguments& args);  // runs no plugin code
int PluginSchema(const Context& context, const Arguments& args);   // likewise
int PluginCheck(const Context& context, const Arguments& args);
int Reload(const Context& context, const Arguments& args);
int Health(const Context& context, const Arguments& args);

// scenario_verbs.cpp
int ScenarioRun(const Context& context, const Arguments& args);  // asks no daemon

// simulate_verb.cpp
int Simulate(const Context& context, const Arguments& args);  // asks no daemon

// manual_verbs.cpp: ask no daemon
int Completion(const Context& context, const Arguments& args);
int Man(const Context& context, const Arguments& args);

// Parses the words after "cox" and does what they say.
int Run(Context context, const std::vector<std::string>& words);

}  // namespace cox::cli
