#include "run/config.hpp"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>
#include <utility>

#include "spec/parse.hpp"

namespace cox::run {

Result<Config> LoadConfig(const std::string& site_file, const host::Options& options) {
  std::ifstream in(site_file, std::ios::binary);
  std::ostringstream text;
  if (in) text << in.rdbuf();
  if (!in) return NotFound("site file " + site_file + ": " + std::strerror(errno));
  return MakeConfig(std::move(text).str(), site_file, options);
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
