// The site of a scenario: a real site file. What a small test does not care about is filled in, so
// that three nodes and two jobs need no site at all.
#include <set>

#include "scenario/reading.hpp"
#include "spec/node_range.hpp"

namespace cox::scenario {
namespace {

constexpr const char* kTenant = "team";  // of users whom the site does not list

void Put(json& object, const char* key, json value) {
  if (!object.contains(key)) object[key] = std::move(value);
}

json OneUnit(const std::string& name, const std::string& gpu_type) {
  json flavor = {{"name", name}, {"cpus", "1"}, {"memory", "1Gi"}};
  if (gpu_type.empty()) {
    flavor["class"] = "CPU";
  } else {
    flavor["gpuType"] = gpu_type;
    flavor["gpus"] = "1";
  }
  return flavor;
}

void Complete(json& site, const json& nodes) {
  Put(site, "region", "here");
  Put(site, "cluster", "scenario");
  json flavors = json::array();
  std::set<std::string> types;
  for (const json& node : nodes) {
    const std::string type = node["gpuType"];
    if (node["gpus"] > 0 && types.insert(type).second) flavors.push_back(OneUnit(type, type));
  }
  flavors.push_back(OneUnit("cpu", ""));
  Put(site, "flavors", std::move(flavors));
  Put(site, "pools", json::array({{{"name", "main"}}}));
  if (!site.contains("users")) Put(site, "defaults", json::object());
  if (site.contains("defaults")) Put(site["defaults"], "tenant", kTenant);
  json quota = {{"path", "quota_tree.so"}};
  // Who writes no quota wants no limit.
  if (!site.contains("quotas")) {
    quota["config"] = {{"missing_quota", {{"reserved", "allow"}, {"on-demand", "allow"}}}};
  }
  Put(site, "plugins",
      json::array({quota,
                   {{"path", "priority_multifactor.so"}},
                   {{"path", "node_policy.so"}},
                   {{"path", "fault_tolerance.so"}}}));
}

// `changes` on top of a whole site file.
Result<SiteText> Replace(const std::string& text, const std::string& position,
                         const Item& changes) {
  Result<spec::Document> base = spec::ParseDocument(text, position);
  if (!base) return base.error();
  bool changed = false;
  for (const auto& [key, value] : changes.value->items()) {
    if (key == "from") continue;
    base->value[key] = value;
    changed = true;
  }
  // Untouched, every line number stays true.
  if (!changed) return SiteText{text, position};
  return SiteText{base->value.dump(), position};
}

}  // namespace

void Locate(const json& value, Place& place) {
  if (value.is_object()) {
    for (const auto& [key, member] : value.items()) {
      Place& at = place.members.try_emplace(key, Place{place.line, {}, {}, {}}).first->second;
      Locate(member, at);
    }
  } else if (value.is_array()) {
    while (place.items.size() < value.size()) place.items.push_back({place.line, {}, {}, {}});
    for (size_t i = 0; i < value.size(); ++i) Locate(value[i], place.items[i]);
  }
}

Result<SiteText> CompleteSite(const Item& root, const std::string& file,
                              const ReadFile& read_file) {
  const Item site = root.At("site");
  if (site.has("from")) {
    if (!site["from"].is_string()) {
      return InvalidArgument(file + ":" + std::to_string(site.line) +
                             ": site.from: must be the name of a site file");
    }
    std::string path = site["from"];
    const size_t slash = file.rfind('/');
    if (!path.starts_with('/') && slash != std::string::npos)
      path = file.substr(0, slash + 1) + path;
    const auto text = read_file(path);
    if (!text) return text.error();
    return Replace(*text, path, site);
  }
  json value = *site.value;
  Place place = *site.place;
  place.line = site.line;
  Complete(value, root["nodes"]);
  Locate(value, place);
  return SiteText{spec::TextOf(value, place), file + ":" + std::to_string(place.line)};
}

Result<SiteText> ChangeSite(const SiteText& site, const Item& changes) {
  return Replace(site.text, site.position, changes);
}

}  // namespace cox::scenario
