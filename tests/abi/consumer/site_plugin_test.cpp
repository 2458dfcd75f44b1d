// The site's own plugin, built outside of this tree by consumer.cmake, in a real decision: the same
// cluster and job, another node, by nothing but the site file.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "cycle/decide.hpp"
#include "host/plugins.hpp"
#include "support/world.hpp"

namespace cox::test {
namespace {

// Where a job of one GPU lands, with n1 the fullest of four nodes.
std::string Lands(const std::vector<std::string>& configs) {
  World world;
  for (const char* name : {"n1", "n2", "n3", "n4"}) world.Node(name, 8);
  world.Running("a", {1, 6}, {"n1"});
  world.Running("b", {1, 4}, {"n2"});
  world.Running("c", {1, 3}, {"n3"});
  world.Pending("j", {});
  std::vector<spec::PluginConfig> site;
  for (const std::string& config : configs) {
    spec::PluginConfig plugin;
    plugin.name = "prefer" + std::to_string(site.size());
    plugin.path = COX_SITE_PLUGIN;
    plugin.config_json = config;
    site.push_back(plugin);
  }
  auto plugins = host::Plugins::Create(site, host::Options{});
  if (!plugins) return plugins.error().text;
  const model::Decision decision = cycle::Decide(world.Freeze(), *plugins);
  return decision.starts.empty() ? "nowhere" : decision.starts[0].placement.replicas[0].node;
}

TEST(SitePlugin, ChangesWhereAJobLands) {
  EXPECT_EQ(Lands({}), "n1") << "the core packs";
  EXPECT_EQ(Lands({"{}"}), "n4") << "the plugin spreads";
  EXPECT_EQ(Lands({R"({"prefer": ["n2"]})"}), "n2") << "and obeys its configuration";
}

TEST(SitePlugin, AMistakeInItsConfigurationIsFoundBeforeItRuns) {
  EXPECT_NE(Lands({R"({"perfer": ["n2"]})"}).find("perfer"), std::string::npos);
}

}  // namespace
}  // namespace cox::test
