#include "run/config.hpp"

#include <utility>

#include "base/file.hpp"
#include "spec/parse.hpp"

namespace cox::run {

Result<Config> LoadConfig(const std::string& site_file, const host::Options& options) {
  auto text = ReadFile(site_file);
  if (!text) return NotFound("site file " + text.error().text);
  return MakeConfig(*std::move(text), site_file, options);
}

Result<Config> MakeConfig(std::string site_text, const std::string& site_file,
                          const host::Options& options) {
  auto site = spec::ParseSite(site_text, site_file);
  if (!site) return site.error();
  auto plugins = host::Plugins::Create(site->plugins, options);
  if (!plugins) return plugins.error();
  Config config;
  config.site = std::make_shared<const spec::Site>(*std::move(site));
  config.plugins = std::make_shared<host::Plugins>(*std::move(plugins));
  config.site_file = site_file;
  config.site_text = std::move(site_text);
  return config;
}

}  // namespace cox::run
