#include <algorithm>
#include <filesystem>
#include <utility>

#include "spec/document.hpp"
#include "spec/job_fields.hpp"
#include "spec/job_json.hpp"
#include "spec/node_range.hpp"
#include "spec/parse.hpp"
#include "spec/quantity.hpp"
#include "spec/rules.hpp"
#include "spec/schema.hpp"
#include "spec/text.hpp"

namespace cox::spec {
namespace {

using nlohmann::json;

// The deepest place on the way of "pools[0].flavors[1]" that stands in the file.
int64_t LineOf(const Place& root, std::string_view path) {
  const Place* place = &root;
  while (!path.empty()) {
    const size_t end = path.find_first_of(".[", 1);
    std::string_view step = path.substr(0, end);
    path.remove_prefix(step.size());
    const Place* next = nullptr;
    if (step.front() == '[') {
      const size_t index = std::stoul(std::string(step.substr(1)));
      next = index < place->items.size() ? &place->items[index] : nullptr;
    } else {
      if (step.front() == '.') step.remove_prefix(1);
      next = Find(*place, {std::string(step)});
    }
    if (!next) break;
    place = next;
  }
  return place->line;
}

class SiteReader {
 public:
  explicit SiteReader(const Document& document) : document_(document) {}

  Site Read() {
    const json& value = document_.value;
    Reader top(value);
    top("region", site_.region);
    top("cluster", site_.cluster);
    top("org", site_.org);
    Each("flavors", [&](const json& item, const std::string& path) { ReadFlavor(item, path); });
    Each("pools", [&](const json& item, const std::string& path) { ReadPool(item, path); });
    Each("topology", [&](const json& item, const std::string& path) { ReadLevel(item, path); });
    Each("quotas", [&](const json& item, const std::string& path) { ReadQuota(item, path); });
    Each("users", [&](const json& item, const std::string&) { ReadUser(item); });
    Each("volumes", [&](const json& item, const std::string&) { ReadVolume(item); });
    Each("envProfiles", [&](const json& item, const std::string&) {
      EnvProfile& profile = site_.env_profiles.emplace_back();
      Reader read(item);
      read("user", profile.user);
      read("env", profile.env);
    });
    top.Group("labelPolicy", [&](Reader& read) { read("enabled", site_.label_policy.enabled); });
    value["labelPolicy"]["keys"].get_to(site_.label_policy.keys);
    top.Group("defaults", [&](Reader& read) {
      read("tenant", site_.default_tenant);
      read("imagePullMaxRetries", site_.default_pull_max_retries);
      read("startTimeoutSeconds", site_.start_timeout_seconds);
      read("unknownTimeoutSeconds", site_.unknown_timeout_seconds);
      read("shadowedMountPaths", site_.shadowed_mount_warnings);
    });
    top.Group("scheduling", [&](Reader& read) {
      std::string fallback;
      read("starvationBoundSeconds", site_.starvation_bound_seconds);
      read("flavorFallback", fallback);
      read("minRunSeconds", site_.min_run_seconds);
      read("spotHeadroomPercent", site_.spot_headroom_percent);
      site_.prefer_flavor_order = fallback == "prefer-order";
    });
    ReadPlugins();
    ReadAdapter();
    return std::move(site_);
  }

  std::vector<Finding>& findings() { return findings_; }

 private:
  template <class F>
  void Each(const char* list, F&& read) {
    const json& items = document_.value[list];
    for (size_t i = 0; i < items.size(); ++i) read(items[i], At(list, i));
  }

  void Complain(const std::string& path, const std::string& text) {
    findings_.push_back({path, text, ""});
  }

  // The value, or 0 and a complaint.
  int64_t Amount(Result<int64_t> amount, const std::string& path) {
    if (amount) return *amount;
    Complain(path, amount.error().text);
    return 0;
  }

  std::string Position(const Place& place) const {
    return document_.file + ":" + std::to_string(place.line);
  }

  void ReadFlavor(const json& item, const std::string& path) {
    Flavor& flavor = site_.flavors.emplace_back();
    std::string gpus, cpus, memory;
    Reader read(item);
    read("name", flavor.name);
    read("gpuType", flavor.gpu_type);
    read("rdma", flavor.rdma);
    read("gpus", gpus);
    read("cpus", cpus);
    read("memory", memory);
    flavor.gpu_class = item["class"] == "GPU";
    flavor.unit.gpu_milli = Amount(ParseMilli(gpus), path + ".gpus");
    flavor.unit.cpu_milli = Amount(ParseMilli(cpus), path + ".cpus");
    flavor.unit.mem_mib = Amount(ParseMebibytes(memory), path + ".memory");
  }

  void ReadPool(const json& item, const std::string& path) {
    Pool& pool = site_.pools.emplace_back();
    std::vector<std::string> nodes;
    Reader read(item);
    read("name", pool.name);
    ReadLocation(read, pool.region, pool.cluster);
    read("tenant", pool.tenant);
    read("capacityTypes", pool.capacity_types);
    read("flavors", pool.flavors);
    read("nodes", nodes);
    read("partition", pool.partition);
    read("nodeSelector", pool.node_selector);
    read("lendsIdle", pool.lends_idle);
    pool.dedicated = item["isolation"] == "dedicated";
    ReadNodes(nodes, path + ".nodes", pool.nodes);
  }

  void ReadNodes(const std::vector<std::string>& ranges, const std::string& path,
                 std::vector<std::string>& nodes) {
    for (size_t i = 0; i < ranges.size(); ++i) {
      const auto names = ExpandNodes(ranges[i]);
      if (names) {
        nodes.insert(nodes.end(), names->begin(), names->end());
      } else {
        Complain(At(path, i), names.error().text);
      }
    }
  }

  void ReadLevel(const json& item, const std::string& path) {
    TopologyLevel& level = site_.topology.emplace_back();
    Reader top(item);
    top("level", level.level);
    const json& domains = item["domains"];
    for (size_t i = 0; i < domains.size(); ++i) {
      TopologyDomain& domain = level.domains.emplace_back();
      std::vector<std::string> nodes;
      Reader read(domains[i]);
      read("name", domain.name);
      read("nodes", nodes);
      ReadNodes(nodes, At(path + ".domains", i) + ".nodes", domain.nodes);
    }
  }

  void ReadLocation(Reader& read, std::string& region, std::string& cluster) {
    read("region", region);
    read("cluster", cluster);
    if (region.empty()) region = site_.region;
    if (cluster.empty()) cluster = site_.cluster;
  }

  void ReadQuota(const json& item, const std::string& path) {
    Quota& quota = site_.quotas.emplace_back();
    Reader read(item);
    size_t subjects = 0;
    for (const QuotaLevel level : {QuotaLevel::kTenant, QuotaLevel::kProject, QuotaLevel::kUser}) {
      if (!item.contains(Name(level))) continue;
      quota.level = level;
      read(Name(level), quota.subject);
      ++subjects;
    }
    if (subjects != 1 || quota.subject.empty()) {
      Complain(path, "names " + std::to_string(subjects) +
                         " subjects; write exactly one of tenant, project, user");
    }
    read("capacityType", quota.capacity_type);
    read("pool", quota.pool);
    read("flavor", quota.flavor);
    read("units", quota.units);
  }

  void ReadUser(const json& item) {
    User& user = site_.users.emplace_back();
    Reader read(item);
    read("name", user.name);
    read("tenant", user.tenant);
    read("org", user.org);
    read("projects", user.projects);
    read("admin", user.admin);
    if (user.org.empty()) user.org = site_.org;
  }

  void ReadVolume(const json& item) {
    Volume& volume = site_.volumes.emplace_back();
    Reader read(item);
    read("name", volume.name);
    read("id", volume.id);
    ReadLocation(read, volume.region, volume.cluster);
    read("path", volume.path);
    read("accessModes", volume.access_modes);
    read.Group("acl", [&](Reader& acl) {
      acl("users", volume.users);
      acl("projects", volume.projects);
    });
  }

  void ReadPlugins() {
    Each("plugins", [&](const json& item, const std::string& path) {
      const Place* list = Find(document_.place, {"plugins"});
      const Place& place = list->items[site_.plugins.size()];
      PluginConfig& plugin = site_.plugins.emplace_back();
      Reader read(item);
      read("name", plugin.name);
      read("path", plugin.path);
      read("optional", plugin.optional);
      read("onError", plugin.on_error);
      read("budgetMs", plugin.budget_ms);
      read("maxErrors", plugin.max_errors);
      read("weight", plugin.weight);
      if (plugin.name.empty()) plugin.name = std::filesystem::path(plugin.path).stem().string();
      const Place* config = Find(place, {"config"});
      plugin.position = Position(config ? *config : place) + ": " + path + ".config";
      plugin.path_position = Position(*Find(place, {"path"})) + ": " + path + ".path";
      if (config) plugin.config_json = TextOf(item["config"], *config);
    });
  }

  void ReadAdapter() {
    for (const char* adapter : {"slurm", "kubernetes"}) {
      const Place* place = Find(document_.place, {adapter});
      if (!place) continue;
      if (!site_.adapter.empty()) {
        Complain(adapter, "a cluster has one adapter; " + site_.adapter + " is configured, too");
      }
      site_.adapter = adapter;
      site_.adapter_json = document_.value[adapter].dump();
      site_.adapter_position = Position(*place);
      site_.plugin_dir = document_.value[adapter].value("pluginDir", "");
    }
  }

  const Document& document_;
  Site site_;
  std::vector<Finding> findings_;
};

}  // namespace

Result<Site> ParseSite(std::string_view text, std::string_view file) {
  Result<Document> document = ParseDocument(text, file);
  if (!document) return document.error();
  static const Schema schema{SiteSchema()};
  if (auto valid = schema.ValidateAndDefault(*document); !valid) return valid.error();

  SiteReader reader(*document);
  Site site = reader.Read();
  std::vector<Finding> findings = std::move(reader.findings());
  if (findings.empty()) findings = CheckSite(site);
  if (findings.empty()) return site;

  std::vector<std::pair<int64_t, std::string>> lines;
  for (const Finding& finding : findings) {
    const int64_t line = LineOf(document->place, finding.path);
    lines.emplace_back(line, document->file + ":" + std::to_string(line) + ": " + finding.Line());
  }
  std::stable_sort(lines.begin(), lines.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::string all;
  for (const auto& [line, message] : lines) all += (all.empty() ? "" : "\n") + message;
  return InvalidArgument(all);
}

}  // namespace cox::spec
