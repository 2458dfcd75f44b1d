#include "run/config.hpp"

#include <utility>

#include "base/time_zone.hpp"
#include "run/json.hpp"
#include "spec/parse.hpp"

namespace cox::run {

Result<Config> MakeConfig(std::string site_text, const std::string& site_file,
                          const host::Options& options) {
  auto site = spec::ParseSite(site_text, site_file);
  if (!site) return site.error();
  auto plugins = host::Plugins::Create(site->plugins, options);
  if (!plugins) return plugins.error();
  site->time_zones = SystemTimeZones();
  Config config;
  config.site = std::make_shared<const spec::Site>(*std::move(site));
  config.plugins = std::make_shared<host::Plugins>(*std::move(plugins));
  config.site_file = site_file;
  config.site_text = std::move(site_text);
  return config;
}

Result<void> CheckReload(const spec::Site& running, const spec::Site& fresh) {
  std::string keys;
  const auto note = [&](const std::string& key) { keys += (keys.empty() ? "" : ", ") + key; };
  const auto compare = [&](const std::string& key, const auto& was, const auto& is) {
    if (was != is) note(key);
  };
  compare("region", running.region, fresh.region);
  compare("cluster", running.cluster, fresh.cluster);
  if (running.adapter != fresh.adapter) {
    note(running.adapter.empty() ? fresh.adapter : running.adapter);
  } else {
    // Both are whole, with their defaults, so a key that is only in one is new in the schema.
    const Json was = Json::parse(running.adapter_json, nullptr, false);
    const Json is = Json::parse(fresh.adapter_json, nullptr, false);
    for (const auto& [key, value] : is.items()) {
      if (key != "pluginDir") compare(fresh.adapter + "." + key, was.value(key, Json()), value);
    }
  }
  if (keys.empty()) return {};
  return FailedPrecondition("needs a restart: " + keys + "; nothing was reloaded");
}

}  // namespace cox::run
