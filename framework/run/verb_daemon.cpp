#include <utility>

#include "run/verb.hpp"

namespace cox::run::verb {

Result<Json> PluginList(const Desk& desk) {
  Json instances = Json::array();
  for (const auto& status : desk.now_known.instances) instances.push_back(ToJson(status));
  return Json{{"instances", std::move(instances)}};
}

Result<Json> Health(const Desk& desk) {
  const Published& p = desk.now_known;
  return Json{{"turns", desk.loop.turns()},
              {"generation", p.generation},
              {"not_ready", p.not_ready},
              {"degraded", p.degraded},
              {"at", ToNanos(p.now)},
              {"cycles", p.counters.cycles},
              {"store_errors", p.counters.store_errors}};
}

Served Reload(const Desk& desk, Reply reply) {
  if (!desk.peer.who.admin) {
    return Result<Json>(Forbidden("only an administrator may reload the configuration"));
  }
  return ReloadRequest{NameReply("", std::move(reply))};
}

}  // namespace cox::run::verb
