#include "tools/cox/arguments.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace cox::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;
using testing::StartsWith;
using Words = std::vector<std::string>;

Arguments Accepted(const Words& words) {
  const auto result = ParseArguments(words);
  const auto* leave = std::get_if<Leave>(&result);
  EXPECT_EQ(leave, nullptr) << (leave != nullptr ? leave->err : "");
  return leave != nullptr ? Arguments{} : std::get<Arguments>(result);
}

Leave Refused(const Words& words) {
  const auto result = ParseArguments(words);
  EXPECT_TRUE(std::holds_alternative<Leave>(result));
  return std::holds_alternative<Leave>(result) ? std::get<Leave>(result) : Leave{};
}

TEST(Arguments, VerbAndTarget) {
  const Arguments args = Accepted({"describe", "llama-1"});
  EXPECT_EQ(args.verb, "describe");
  EXPECT_EQ(args.target, "llama-1");
  EXPECT_EQ(args.format, Format::kTable);
}

TEST(Arguments, VerbsInGroups) {
  EXPECT_EQ(Accepted({"ledger", "check"}).verb, "ledger check");
  EXPECT_EQ(Accepted({"plugin", "ls"}).verb, "plugin ls");
  EXPECT_EQ(Accepted({"plugin", "check", "x.so", "--config", "{}"}).plugin_config, "{}");
  EXPECT_EQ(Accepted({"config", "check", "site.yaml"}).target, "site.yaml");
}

TEST(Arguments, SocketAndOutputMayStandAnywhere) {
  const Arguments args = Accepted({"quota", "ann", "-o", "json", "--socket", "/tmp/x"});
  EXPECT_EQ(args.format, Format::kJson);
  EXPECT_EQ(args.socket, "/tmp/x");
  EXPECT_EQ(Accepted({"-o", "yaml", "quota"}).format, Format::kYaml);
}

TEST(Arguments, SocketComesFromTheEnvironmentOrTheDefault) {
  unsetenv("COX_SOCKET");
  EXPECT_EQ(Accepted({"pool"}).socket, "/run/coxswain/cox.sock");
  setenv("COX_SOCKET", "/tmp/env.sock", 1);
  EXPECT_EQ(Accepted({"pool"}).socket, "/tmp/env.sock");
  EXPECT_EQ(Accepted({"pool", "--socket", "/tmp/x"}).socket, "/tmp/x");
  unsetenv("COX_SOCKET");
}

TEST(Arguments, SeveralLabelsAreCollected) {  // S116
  const Arguments args =
      Accepted({"list", "-l", "a=1,b=2", "-l", "c=", "--state", "Pending,Failed"});
  EXPECT_THAT(args.labels, ElementsAre(Pair("a", "1"), Pair("b", "2"), Pair("c", "")));
  EXPECT_THAT(args.states, ElementsAre("Pending", "Failed"));
}

TEST(Arguments, ALabelNeedsAKeyAndAValue) {
  EXPECT_THAT(Refused({"list", "-l", "a"}).err, HasSubstr("\"a\" is not key=value"));
  EXPECT_EQ(Refused({"list", "-l", "=b"}).code, kUsage);
}

TEST(Arguments, NodePolicyTakesNodesOrAJob) {
  const Arguments nodes =
      Accepted({"nodepolicy", "create", "--nodes", "n1,n2", "--ttl", "15m", "--tenant"});
  EXPECT_THAT(nodes.nodes, ElementsAre("n1", "n2"));
  EXPECT_EQ(nodes.verb, "nodepolicy create");
  EXPECT_EQ(nodes.ttl_seconds, 900);
  EXPECT_EQ(nodes.type, "NodeNotIn");
  EXPECT_TRUE(nodes.tenant_scope);
  EXPECT_EQ(Accepted({"nodepolicy", "create", "--from-job", "x", "--ttl", "60"}).from_job, "x");
  EXPECT_EQ(Refused({"nodepolicy", "create", "--ttl", "60"}).code, kUsage);
  EXPECT_EQ(Refused({"nodepolicy", "create", "--nodes", "n1"}).code, kUsage);
  EXPECT_EQ(
      Refused({"nodepolicy", "create", "--nodes", "n1", "--from-job", "x", "--ttl", "60"}).code,
      kUsage);
}

TEST(Arguments, AWrongCommandLineIsCodeTwoAndSaysWhy) {
  EXPECT_EQ(Refused({}).code, kUsage);
  EXPECT_EQ(Refused({"nonsense"}).code, kUsage);
  EXPECT_EQ(Refused({"describe"}).code, kUsage);
  EXPECT_EQ(Refused({"plugin"}).code, kUsage);
  EXPECT_EQ(Refused({"pool", "-o", "xml"}).code, kUsage);
  EXPECT_THAT(Refused({"flavors", "--capacity-type", "free"}).err, HasSubstr("capacity-type"));
}

TEST(Arguments, AWordThatThereIsNotIsAnsweredWithTheNearestOne) {
  EXPECT_THAT(Refused({"lst"}).err,
              StartsWith("cox: cox has no verb \"lst\"; did you mean list? It has submit, list, "));
  EXPECT_THAT(Refused({"-o", "json", "frobnicate"}).err,
              StartsWith("cox: cox has no verb \"frobnicate\"; it has submit, "));
  EXPECT_EQ(Refused({"nodepolicy", "crate"}).err,
            "cox: cox nodepolicy has no verb \"crate\"; did you mean create? It has create, list, "
            "delete\n");
  EXPECT_EQ(Refused({"list", "--stat", "Failed"}).err,
            "cox: cox list has no option --stat; did you mean --state?\n");
  EXPECT_EQ(Refused({"list", "--socket", "/x", "--mime"}).err,
            "cox: cox list has no option --mime; did you mean --mine?\n");
  EXPECT_EQ(Refused({"lst"}).code, kUsage);
}

TEST(Arguments, AValueOfAFewIsAnsweredWithAllOfThem) {
  EXPECT_THAT(Refused({"list", "--state", "Runing"}).err,
              HasSubstr("--state: \"Runing\" is not one of Pending, Admitted, Starting, Running, "
                        "Retrying, Preempting, Stopping, DebugHolding, Unknown, Succeeded, Failed, "
                        "Stopped; did you mean Running?"));
  EXPECT_THAT(Refused({"pool", "-o", "jsn"}).err,
              HasSubstr("\"jsn\" is not one of table, json, yaml; did you mean json?"));
  EXPECT_THAT(Refused({"logs", "x", "--role", "boss"}).err,
              HasSubstr("\"boss\" is not one of master, worker, head, submitter"));
  EXPECT_THAT(Accepted({"list", "--state", "running,FAILED"}).states,
              ElementsAre("Running", "Failed"));
}

TEST(Arguments, HelpIsNoError) {
  const Leave help = Refused({"--help"});
  EXPECT_EQ(help.code, kOk);
  EXPECT_THAT(help.out, HasSubstr("no daemon answers at the socket"));
  EXPECT_THAT(Refused({"nodepolicy", "create", "--help"}).out, HasSubstr("60s to 72h"));
  EXPECT_THAT(Refused({"--version"}).out, HasSubstr("cox "));
}

TEST(ParseSeconds, TakesTheUsualUnits) {
  EXPECT_EQ(*ParseSeconds("90"), 90);
  EXPECT_EQ(*ParseSeconds("90s"), 90);
  EXPECT_EQ(*ParseSeconds("15m"), 900);
  EXPECT_EQ(*ParseSeconds("72h"), 259200);
  EXPECT_EQ(*ParseSeconds("1d"), 86400);
  for (const char* bad : {"", "m", "-1s", "1w", "1.5h", "99999999999999999999"}) {
    EXPECT_FALSE(ParseSeconds(bad)) << bad;
  }
}

}  // namespace
}  // namespace cox::cli
