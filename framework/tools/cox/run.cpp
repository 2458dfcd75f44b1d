#include <algorithm>

#include "tools/cox/verbs.hpp"

namespace cox::cli {
namespace {

struct Verb {
  const char* name;
  int (*run)(const Context&, const Arguments&);
};

constexpr Verb kVerbs[] = {
    {"submit", Submit},
    {"list", List},
    {"get", Get},
    {"describe", Describe},
    {"explain", Explain},
    {"logs", Logs},
    {"stop", Stop},
    {"events", Events},
    {"quota", Quota},
    {"pool", Pool},
    {"flavors", Flavors},
    {"nodes", Nodes},
    {"ledger check", LedgerCheck},
    {"nodepolicy create", NodePolicyCreate},
    {"nodepolicy list", NodePolicyList},
    {"nodepolicy delete", NodePolicyDelete},
    {"config check", ConfigCheck},
    {"plugin ls", PluginLs},
    {"plugin inspect", PluginInspect},
    {"plugin schema", PluginSchema},
    {"plugin check", PluginCheck},
    {"reload", Reload},
    {"health", Health},
    {"scenario run", ScenarioRun},
    {"simulate", Simulate},
    {"completion", Completion},
    {"man", Man},
};

}  // namespace

int Run(Context context, const std::vector<std::string>& words) {
  const auto arguments = ParseArguments(words);
  if (const auto* leave = std::get_if<Leave>(&arguments)) {
    *context.out << leave->out;
    *context.err << leave->err;
    return leave->code;
  }
  const auto& args = std::get<Arguments>(arguments);
  context.socket = args.socket;
  const auto* verb = std::ranges::find(kVerbs, args.verb, &Verb::name);
  return verb->run(context, args);
}

}  // namespace cox::cli
