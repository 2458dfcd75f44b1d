#include "slurm/job_submit/message.hpp"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

namespace cox::slurm {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

Request Job() {
  Request request;
  request.uid = 1000;
  request.timeout = std::chrono::milliseconds(250);
  request.uuid = "u-1";
  request.kind = "batch";
  request.text = {{"name", "llama"}, {"partition", "train"}};
  request.number = {{"nodes", 2}, {"time_limit_s", 60}};
  request.options = {{"type", "ray"}, {"guarantee", "true"}};
  request.slurm = {{"qos", "high"}};
  request.slurm_number = {{"tasks", 4}};
  return request;
}

std::string Accept(const char* more = "") {
  return std::string(R"({"v":1,"verdict":"accept","admin_comment":"cox:u-1 queued")") + more + "}";
}

TEST(SubmitMessage, TheRequestIsTheProtocolsLine) {
  EXPECT_EQ(json::parse(RequestLine(Job())),
            json::parse(R"({"v":1,"op":"submit","uid":1000,"timeout_ms":250,"job":{
      "uuid":"u-1","kind":"batch","name":"llama","partition":"train","nodes":2,"time_limit_s":60,
      "options":{"type":"ray","guarantee":"true"},"slurm":{"qos":"high","tasks":4}}})"));
}

TEST(SubmitMessage, WhatTheUserDidNotGiveIsAnEmptyObject) {
  const json job = json::parse(RequestLine({}))["job"];
  EXPECT_EQ(job["options"], json::object());
  EXPECT_EQ(job["slurm"], json::object());
}

TEST(SubmitMessage, LinesHoldNoNewlineAndNoByteThatIsNotUtf8) {
  Request request = Job();
  request.text["name"] = "two\nlines \xff";
  request.options["image"] = "a\nb\xfe";
  const std::string line = RequestLine(request);
  EXPECT_EQ(line.find('\n'), std::string::npos);
  EXPECT_EQ(json::parse(line)["job"]["name"], "two\nlines \xEF\xBF\xBD");
  EXPECT_EQ(OptionsJson(request).find('\n'), std::string::npos);
}

TEST(SubmitMessage, AnAcceptCarriesWhatTheDaemonDecided) {
  const auto reply = ParseReply(
      Accept(R"(,"text":"hello","nodes":2,"cpus_per_node":64,"mem_mib_per_node":4096,"new_key":[1],
                "tres_per_node":"gres:gpu:8","environment":{"X_USER_NAME":"ann"},
                "environment_defaults":{"LR":"1"})"),
      "u-1");
  ASSERT_TRUE(reply);
  EXPECT_TRUE(reply->accepted);
  EXPECT_EQ(reply->text, "hello");
  EXPECT_EQ(reply->admin_comment, "cox:u-1 queued");
  EXPECT_EQ(reply->nodes, 2U);
  EXPECT_EQ(reply->cpus_per_node, 64U);
  EXPECT_EQ(reply->mem_mib_per_node, 4096U);
  EXPECT_EQ(reply->tres_per_node, "gres:gpu:8");
  EXPECT_THAT(reply->environment, ElementsAre(Pair("X_USER_NAME", "ann")));
  EXPECT_THAT(reply->environment_defaults, ElementsAre(Pair("LR", "1")));
}

TEST(SubmitMessage, WhatAnAcceptLeavesOutStaysTheUsers) {
  const auto reply = ParseReply(Accept(), "u-1");
  ASSERT_TRUE(reply);
  EXPECT_FALSE(reply->nodes || reply->cpus_per_node || reply->mem_mib_per_node ||
               reply->tres_per_node);
  EXPECT_EQ(reply->text, "");
}

TEST(SubmitMessage, ARefusalHasWords) {
  const auto reply = ParseReply(R"({"verdict":"reject","text":"no such pool"})", "u-1");
  ASSERT_TRUE(reply);
  EXPECT_FALSE(reply->accepted);
  EXPECT_EQ(reply->text, "no such pool");
}

TEST(SubmitMessage, AReplyThatBreaksARuleCountsAsNone) {
  const std::pair<std::string, const char*> cases[] = {
      {"", "parse error"},
      {"[]", "type"},
      {"{}", "verdict"},
      {R"({"verdict":1})", "type"},
      {R"({"verdict":"maybe"})", "verdict must be accept or reject"},
      {R"({"verdict":"reject"})", "reject without a text"},
      {R"({"verdict":"accept"})", "admin_comment"},
      {R"({"verdict":"accept","admin_comment":"cox:u-12 queued"})", "must begin with cox:u-1"},
      {Accept(R"(,"nodes":-1)"), "nodes must be a whole number, 1 or more"},
      {Accept(R"(,"nodes":1.5)"), "nodes must be a whole number, 1 or more"},
      {Accept(R"(,"cpus_per_node":"8")"), "cpus_per_node must be"},
      {Accept(R"(,"mem_mib_per_node":18446744073709551615)"), "mem_mib_per_node must be"},
      {Accept(R"(,"tres_per_node":8)"), "type"},
      {Accept(R"(,"environment":{"LD_PRELOAD":"x"})"), "environment.LD_PRELOAD may not be set"},
      {Accept(R"(,"environment":{"SLURM_CONF":"x"})"), "SLURM_CONF may not be set"},
      {Accept(R"(,"environment_defaults":{"A=B":"x"})"), "environment_defaults.A=B may not be set"},
      {Accept(R"(,"environment":{"":"x"})"), "may not be set"},
      {Accept(R"(,"environment":{"1A":"x"})"), "1A may not be set"},
      {Accept(R"(,"environment":{"A":"x\u0000y"})"), "A may not be set"},
      {Accept(R"(,"environment":{"A":1})"), "type"},
  };
  for (const auto& [line, why] : cases) {
    const auto reply = ParseReply(line, "u-1");
    ASSERT_FALSE(reply) << line;
    EXPECT_EQ(reply.error().code, Code::kInvalidArgument);
    EXPECT_THAT(reply.error().text, HasSubstr(why)) << line;
  }
}

TEST(Message, AHoldIsAskedInOneLineAndAnsweredInOneWord) {
  EXPECT_EQ(ChangeLine("hold", "u-1", 7), R"({"op":"hold","uid":7,"uuid":"u-1","v":1})");
  EXPECT_EQ(*ParseChangeReply(R"({"v":1,"verdict":"done"})"), "done");
  EXPECT_EQ(*ParseChangeReply(R"({"verdict":"refused","code":"started"})"), "started");
  for (const char* bad :
       {"", "[]", "{}", R"({"verdict":"refused"})", R"({"verdict":1})", R"({"verdict":"accept"})"})
    EXPECT_FALSE(ParseChangeReply(bad)) << bad;
}

}  // namespace
}  // namespace cox::slurm
