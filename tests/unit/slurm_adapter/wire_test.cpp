#include "slurm/wire.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "spec/parse.hpp"

namespace cox::slurm {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(Wire, AQuestionOfJobSubmitIsAJobRecord) {
  const auto question = ParseQuestion(R"({"v":1,"op":"submit","uid":1000,"job":{
    "uuid":"6ba7","kind":"interactive","name":"llama","partition":"train,gold","account":"nlp",
    "nodes":2,"time_limit_s":5400,"options":{"guarantee":"true"},
    "slurm":{"tres_per_node":"gres:gpu:h100:8","tres_per_job":"gpu:2","cpus_per_task":4,
             "exclude":"n[8-9]","mem_mib_per_cpu":500,"dependency":"after:3","exclusive":1}}})");
  ASSERT_TRUE(question);
  EXPECT_EQ(question->op, "submit");
  EXPECT_EQ(question->uuid, "6ba7");
  EXPECT_EQ(question->options.at("guarantee"), "true");
  const JobRecord& record = question->record;
  EXPECT_EQ(record.uid, 1000U);
  EXPECT_FALSE(record.batch);
  EXPECT_EQ(record.partition, "train");
  EXPECT_EQ(record.min_nodes, 2);
  EXPECT_EQ(record.time_limit_min, 90);
  EXPECT_EQ(record.gres_per_node, "gres:gpu:h100:8");
  EXPECT_EQ(record.gres_elsewhere, "gpu:2");
  EXPECT_EQ(record.cpus_per_task, 4);
  EXPECT_EQ(record.mem_per_cpu_mib, 500);
  EXPECT_THAT(record.excluded_nodes, ElementsAre("n8", "n9"));
  EXPECT_THAT(record.not_ours, ElementsAre("--dependency=after:3", "--exclusive"));
}

TEST(Wire, WhatIsNoQuestionIsAnErrorAndNoCrash) {
  for (const char* line : {"", "{", "[]", "{}", R"({"op":7})", R"({"op":"submit"})",
                           R"({"op":"submit","uid":"x","job":{"uuid":"u"}})",
                           R"({"op":"submit","uid":1,"job":{"uuid":"u","nodes":"two"}})"})
    EXPECT_FALSE(ParseQuestion(line)) << line;
  EXPECT_TRUE(ParseQuestion(R"({"op":"kick"})"));
}

TEST(Wire, AnAcceptanceCarriesOnlyWhatItSets) {
  Acceptance acceptance;
  acceptance.admin_comment = "cox:u accepted {}";
  acceptance.environment = {{"X_USER_NAME", "ann"}};
  acceptance.nodes = 2;
  acceptance.cpus_per_node = 16;
  acceptance.mem_mib_per_node = 0;
  const json line = json::parse(AcceptLine(acceptance));
  EXPECT_EQ(line["verdict"], "accept");
  EXPECT_EQ(line["nodes"], 2);
  EXPECT_EQ(line["environment"]["X_USER_NAME"], "ann");
  EXPECT_FALSE(line.contains("tres_per_node"));
  EXPECT_FALSE(line.contains("mem_mib_per_node"));
}

TEST(Wire, LinesHoldOneLineEndWhateverTheTextIs) {
  const std::string line = RejectLine("two\nlines and a bad byte \xff");
  EXPECT_EQ(line.find('\n'), line.size() - 1);
  EXPECT_EQ(json::parse(line)["verdict"], "reject");
}

TEST(Wire, OptionsReadBack) {
  const Options options = {{"flavors", "h100.1g:8"}, {"label", "a=\"b\""}};
  EXPECT_EQ(*ParseOptions(OptionsJson(options)), options);
  EXPECT_TRUE(ParseOptions("")->empty());
  EXPECT_FALSE(ParseOptions(R"({"a":1})"));
}

TEST(Wire, SettingsAreTheSlurmBlockOfTheSiteWithItsDefaults) {
  const auto site = spec::ParseSite("region: r\ncluster: c\nslurm: {pollMs: 70}\n", "site.yaml");
  ASSERT_TRUE(site) << site.error().text;
  const auto settings = SettingsOf(*site);
  ASSERT_TRUE(settings) << settings.error().text;
  EXPECT_EQ(settings->poll.count(), 70);
  EXPECT_EQ(settings->verify.count(), 3000);
  EXPECT_EQ(settings->state_dir, "/var/lib/coxswain");
}

TEST(Wire, ASiteWithoutASlurmBlockIsNoSlurms) {
  const auto settings = SettingsOf(*spec::ParseSite("region: r\ncluster: c\n", "site.yaml"));
  ASSERT_FALSE(settings);
  EXPECT_THAT(settings.error().text, HasSubstr("`slurm: {}`"));
}

}  // namespace
}  // namespace cox::slurm
