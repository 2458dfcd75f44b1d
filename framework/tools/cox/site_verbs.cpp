#include <filesystem>

#include "host/loader.hpp"
#include "host/plugins.hpp"
#include "spec/parse.hpp"
#include "tools/cox/capacity_text.hpp"
#include "tools/cox/plugin_options.hpp"
#include "tools/cox/table.hpp"
#include "tools/cox/verbs.hpp"

namespace cox::cli {
namespace {

std::string Absolute(const std::string& path) {
  std::error_code none;
  return std::filesystem::absolute(path, none).lexically_normal().string();
}

std::string Joined(const std::vector<std::string>& words) {
  std::string out;
  for (const std::string& word : words) out += (out.empty() ? "" : ", ") + word;
  return out;
}

}  // namespace

int ConfigCheck(const Context& context, const Arguments& args) {
  const auto text = context.read_file(args.target);
  if (!text) return context.Fail(text.error());
  const auto site = spec::ParseSite(*text, args.target);
  if (!site) return context.Fail(site.error());
  // As the daemon does; a file that is no daemon's yet has the plugins beside this program.
  const auto plugins = host::Plugins::Create(site->plugins, PluginOptions(args, site->plugin_dir));
  if (!plugins) return context.Fail(plugins.error());

  Value result;
  result.Set("pools", static_cast<int64_t>(site->pools.size()));
  result.Set("flavors", static_cast<int64_t>(site->flavors.size()));
  result.Set("quotas", static_cast<int64_t>(site->quotas.size()));
  result.Set("users", static_cast<int64_t>(site->users.size()));
  result.Set("plugins", static_cast<int64_t>(site->plugins.size()));
  if (!context.Printed(args, result)) {
    std::string counts;
    for (const auto& [what, count] : result.fields()) {
      counts += (counts.empty() ? "" : ", ") + count.text() + " " + what;
    }
    *context.out << args.target << ": right (" << counts << ")\n";
  }
  return kOk;
}

int PluginLs(const Context& context, const Arguments& args) {
  const auto result = context.Ask("plugins", {});
  if (!result) return context.Fail(result.error());
  if (!context.Printed(args, *result)) {
    *context.out << PluginsText((*result)["instances"], context.colour);
  }
  return kOk;
}

int PluginInspect(const Context& context, const Arguments& args) {
  const auto manifest = host::Inspect(Absolute(args.target));
  if (!manifest) return context.Fail(manifest.error());
  Value result;
  result.Set("path", manifest->path);
  result.Set("id", manifest->id);
  result.Set("version", manifest->version);
  result.Set("summary", manifest->summary);
  result.Set("abi",
             std::to_string(manifest->abi_major) + "." + std::to_string(manifest->abi_minor));
  result.Set("exports", Value::List(manifest->exports.begin(), manifest->exports.end()));
  if (!context.Printed(args, result)) {
    *context.out << Facts({{"Path", manifest->path},
                           {"Id", manifest->id},
                           {"Version", manifest->version},
                           {"Summary", manifest->summary},
                           {"ABI", result["abi"].text()},
                           {"Exports", Joined(manifest->exports)}});
  }
  return kOk;
}

int PluginSchema(const Context& context, const Arguments& args) {
  const auto manifest = host::Inspect(Absolute(args.target));
  if (!manifest) return context.Fail(manifest.error());
  const auto schema = Value::Parse(manifest->config_schema);
  if (!schema)
    return context.Fail(Internal(args.target + ": its schema is " + schema.error().text));
  if (!context.Printed(args, *schema)) *context.out << schema->ToJson() << "\n";
  return kOk;
}

int PluginCheck(const Context& context, const Arguments& args) {
  spec::PluginConfig config;
  config.path = Absolute(args.target);
  config.name = std::filesystem::path(config.path).stem().string();
  config.position = "--config";
  if (!args.plugin_config.empty()) config.config_json = args.plugin_config;
  const auto checked = host::Check(config);
  if (!checked) return context.Fail(checked.error());
  Value result;
  result.Set("id", checked->id);
  result.Set("version", checked->version);
  result.Set("points", Value::List(checked->points.begin(), checked->points.end()));
  result.Set("config",
             Value::Parse(checked->config_json) ? *Value::Parse(checked->config_json) : Value());
  if (!context.Printed(args, result)) {
    *context.out << Facts({{"Id", checked->id},
                           {"Version", checked->version},
                           {"Offers", Joined(checked->points)},
                           {"Config", checked->config_json}});
  }
  return kOk;
}

int Reload(const Context& context, const Arguments& args) {
  const auto result = context.Ask("reload", {});
  if (!result) return context.Fail(result.error());
  if (!context.Printed(args, *result)) *context.out << "reloaded\n";
  return kOk;
}

int Health(const Context& context, const Arguments& args) {
  const auto result = context.Ask("health", {});
  if (!result) return context.Fail(result.error());
  const std::string not_ready = (*result)["not_ready"].text();
  const std::string degraded = (*result)["degraded"].text();
  if (!context.Printed(args, *result)) {
    *context.out << (!not_ready.empty()  ? "not ready: " + not_ready
                     : !degraded.empty() ? "degraded: " + degraded
                                         : "deciding")
                 << "\n";
  }
  return not_ready.empty() && degraded.empty() ? kOk : kFailed;
}

}  // namespace cox::cli
