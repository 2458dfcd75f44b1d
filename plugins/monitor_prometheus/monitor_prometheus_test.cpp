#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cox/conformance.hpp>
#include <cox/harness.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace {

using cox::harness::ParseJson;
using cox::harness::Plugin;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

cox_str Text(const char* text) {
  return {text, std::strlen(text)};
}

// Two samples of one counter with a label, and a gauge between them.
struct Samples {
  std::vector<cox_str> name = {Text("cox_cycles_total"), Text("cox_pending"),
                               Text("cox_cycles_total")};
  std::vector<cox_str> help = {Text("Cycles."), Text("Jobs that wait."), Text("Cycles.")};
  std::vector<uint32_t> kind = {COX_COUNTER, COX_GAUGE, COX_COUNTER}, begin = {0, 1, 1, 2};
  std::vector<double> value = {41, 7, 3};
  std::vector<cox_str> key = {Text("result"), Text("result")}, label = {Text("ok"), Text("a\"b")};
  cox_samples abi = {sizeof abi,   3,          name.data(), help.data(), kind.data(), value.data(),
                     begin.data(), key.data(), label.data()};
};

struct Targets {
  std::vector<cox_str> address = {Text("n1:9100"), Text("n2:9100")};
  std::vector<cox_str> path = {Text("/metrics"), Text("/m")};
  std::vector<uint32_t> begin = {0, 2, 3};
  std::vector<cox_str> key = {Text("task_uuid"), Text("user"), Text("user")};
  std::vector<cox_str> value = {Text("u-1"), Text("al\"ice\n"), Text("bob")};
  cox_targets abi = {sizeof abi,   2,          address.data(), path.data(),
                     begin.data(), key.data(), value.data()};
};
const uint32_t kNoLabels[] = {0};
const cox_targets kNoTargets = {sizeof kNoTargets, 0,       nullptr, nullptr,
                                kNoLabels,         nullptr, nullptr};

// The port that the plugin says it listens at.
int PortOf(const Plugin& plugin) {
  const std::string& line = plugin.log().at(0);
  return std::atoi(line.c_str() + line.find(':', line.find("//")) + 1);
}

std::string Get(int port, const std::string& path) {
  const int fd = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  EXPECT_EQ(connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  const std::string request = "GET " + path + " HTTP/1.0\r\nHost: localhost\r\n\r\n";
  EXPECT_EQ(write(fd, request.data(), request.size()), static_cast<ssize_t>(request.size()));
  std::string answer;
  char buffer[4096];
  for (ssize_t n = 0; (n = read(fd, buffer, sizeof buffer)) > 0;)
    answer.append(buffer, static_cast<size_t>(n));
  close(fd);
  return answer;
}

TEST(MonitorPrometheus, ServesTheLastSamples) {
  Plugin plugin(COX_PLUGIN_UNDER_TEST, R"({"port": 0})");
  Samples samples;
  plugin.Observe(samples.abi, kNoTargets);
  const int port = PortOf(plugin);
  EXPECT_GT(port, 0);
  EXPECT_THAT(Get(port, "/metrics"),
              AllOf(HasSubstr("200 OK"), HasSubstr("# HELP cox_cycles_total Cycles."),
                    HasSubstr("# TYPE cox_cycles_total counter"),
                    HasSubstr("cox_cycles_total{result=\"ok\"} 41"),
                    HasSubstr("cox_cycles_total{result=\"a\\\"b\"} 3"),
                    HasSubstr("# TYPE cox_pending gauge"), HasSubstr("cox_pending 7")));
  samples.value[1] = 8;
  plugin.Observe(samples.abi, kNoTargets);
  EXPECT_THAT(Get(port, "/metrics"),
              AllOf(HasSubstr("cox_pending 8"), Not(HasSubstr("pending 7"))));
}

TEST(MonitorPrometheus, AReloadTakesThePortOver) {
  auto old = std::make_unique<Plugin>(COX_PLUGIN_UNDER_TEST, R"({"port": 0})");
  Samples samples;
  old->Observe(samples.abi, kNoTargets);
  const int port = PortOf(*old);
  Plugin fresh(COX_PLUGIN_UNDER_TEST, R"({"port": )" + std::to_string(port) + "}");
  try {
    fresh.Observe(samples.abi, kNoTargets);
    FAIL() << "two instances on one port";
  } catch (const std::runtime_error& x) {
    EXPECT_THAT(x.what(), HasSubstr("cannot listen at 127.0.0.1:" + std::to_string(port)));
  }
  old.reset();
  fresh.Observe(samples.abi, kNoTargets);
  EXPECT_THAT(Get(port, "/metrics"), HasSubstr("cox_pending 7"));
}

class TargetsFileTest : public testing::Test {
 protected:
  TargetsFileTest() {
    char name[] = "/tmp/cox-targets-XXXXXX";
    dir_ = mkdtemp(name);
  }
  ~TargetsFileTest() override { std::filesystem::remove_all(dir_); }
  std::string Config() const {
    return R"({"port": 0, "targets_file": ")" + dir_ + R"(/targets.json"})";
  }
  std::string Read() const {
    std::ifstream in(dir_ + "/targets.json");
    return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  }
  std::string dir_;
};

TEST_F(TargetsFileTest, HoldsEachTargetWithItsLabels) {
  Plugin plugin(COX_PLUGIN_UNDER_TEST, Config());
  Targets targets;
  plugin.Observe(Samples().abi, targets.abi);
  const auto json = ParseJson(Read());
  ASSERT_EQ(json.items.size(), 2U);
  EXPECT_EQ(json.At("0.targets.0")->text, "n1:9100");
  EXPECT_EQ(json.At("0.labels.task_uuid")->text, "u-1");
  EXPECT_EQ(json.At("0.labels.user")->text, "al\"ice\n") << "escaped, not spoofed";
  EXPECT_EQ(json.At("1.labels.__metrics_path__")->text, "/m");
  EXPECT_EQ(json.At("1.labels.task_uuid"), nullptr);
}

TEST_F(TargetsFileTest, IsEmptyAgainWhenNoJobRuns) {  // S122
  Plugin plugin(COX_PLUGIN_UNDER_TEST, Config());
  plugin.Observe(Samples().abi, Targets().abi);
  plugin.Observe(Samples().abi, kNoTargets);
  EXPECT_EQ(Read(), "[]\n");
}

TEST_F(TargetsFileTest, IsReplacedAsAWholeAndOnlyWhenItChanges) {
  Plugin plugin(COX_PLUGIN_UNDER_TEST, Config());
  Targets targets;
  plugin.Observe(Samples().abi, targets.abi);
  std::filesystem::create_hard_link(dir_ + "/targets.json", dir_ + "/old");
  plugin.Observe(Samples().abi, targets.abi);
  EXPECT_TRUE(std::filesystem::equivalent(dir_ + "/targets.json", dir_ + "/old"));
  plugin.Observe(Samples().abi, kNoTargets);
  EXPECT_FALSE(std::filesystem::equivalent(dir_ + "/targets.json", dir_ + "/old"));
  EXPECT_FALSE(std::filesystem::exists(dir_ + "/targets.json.new"));
}

TEST_F(TargetsFileTest, ADirectoryThatIsNotThereIsAnErrorThatNamesTheFile) {
  Plugin plugin(COX_PLUGIN_UNDER_TEST, R"({"port": 0, "targets_file": "/nonexistent/t.json"})");
  try {
    plugin.Observe(Samples().abi, Targets().abi);
    FAIL() << "wrote it";
  } catch (const std::runtime_error& x) {
    EXPECT_THAT(x.what(), HasSubstr("cannot write /nonexistent/t.json (No such file"));
  }
}

TEST(MonitorPrometheus, Conforms) {
  EXPECT_EQ(cox::conformance::Failures(COX_PLUGIN_UNDER_TEST, R"({"port": 0})"), "");
}

}  // namespace
