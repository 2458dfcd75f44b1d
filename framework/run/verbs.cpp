#include "run/verbs.hpp"

#include <map>

#include "run/verb.hpp"

namespace cox::run {
namespace {

using Reader = Result<Json> (*)(const Desk&);
const std::map<std::string, Reader> kReads = {
    {"list", verb::List},          {"get", verb::Get},
    {"describe", verb::Describe},  {"explain", verb::Explain},
    {"events", verb::Events},      {"logs", verb::Logs},
    {"pool", verb::Pools},         {"flavors", verb::Flavors},
    {"nodes", verb::Nodes},        {"quota", verb::Quota},
    {"plugins", verb::PluginList}, {"ledger_check", verb::LedgerCheck},
    {"health", verb::Health},      {"nodepolicy_list", verb::PolicyList},
};
using Writer = verb::Served (*)(const Desk&, Reply);
const std::map<std::string, Writer> kWrites = {
    {"submit", verb::Submit},
    {"judge", verb::Judge},
    {"stop", verb::Stop},
    {"reload", verb::Reload},
    {"nodepolicy_create", verb::PolicyCreate},
    {"nodepolicy_delete", verb::PolicyDelete},
};

}  // namespace

std::variant<Result<Json>, Request> Serve(const std::string& verb, const Desk& desk, Reply reply) {
  if (const auto read = kReads.find(verb); read != kReads.end()) return read->second(desk);
  if (const auto write = kWrites.find(verb); write != kWrites.end()) {
    return write->second(desk, std::move(reply));
  }
  return Result<Json>(InvalidArgument("verb \"" + verb + "\" is not known to this daemon"));
}

}  // namespace cox::run
