#include "slurm/admission.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "unit/slurm_adapter/fake_slurm.hpp"

namespace cox::slurm {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::StartsWith;

Question Ask() {
  Question question;
  question.op = "submit";
  question.uuid = "6ba7b810-9dad-11d1-80b4-00c04fd430c8";
  question.record.name = "llama";
  question.record.partition = "train";
  question.record.min_nodes = 2;
  question.record.gres_per_node = "gres:gpu:4";
  return question;
}

Result<run::Judgement> Allow(const std::string& user, const spec::TrainingJob&) {
  run::Judgement judgement;
  judgement.who = {.user = user, .tenant = "t1", .org = "acme", .project = "nlp", .admin = false};
  return judgement;
}

json AnswerTo(const Question& question, const AskJudge& judge = Allow) {
  const auto answer = AnswerSubmission(question, "ann", *testing::TestSite(), judge);
  EXPECT_TRUE(answer);
  if (!answer) return {};
  const json line = json::parse(answer->line);
  EXPECT_EQ(answer->accepted, line["verdict"] == "accept");
  return line;
}

TEST(Admission, AnAcceptedJobGetsTheSizeOfItsFirstCandidate) {
  const json answer = AnswerTo(Ask());
  EXPECT_EQ(answer["verdict"], "accept") << answer;
  EXPECT_EQ(answer["nodes"], 2);
  EXPECT_EQ(answer["cpus_per_node"], 32);
  EXPECT_EQ(answer["mem_mib_per_node"], 4 * 65536);
  EXPECT_EQ(answer["tres_per_node"], "gres:gpu:4");  // no type that Slurm could not change later
}

TEST(Admission, ATypeThatTheUserNamedIsKept) {
  Question question = Ask();
  question.record.gres_per_node = "gres:gpu:h100:4";
  EXPECT_EQ(AnswerTo(question)["tres_per_node"], "gres:gpu:h100:4");
}

TEST(Admission, TheContextIsSetAndTheProfileIsOnlyADefault) {
  const json answer = AnswerTo(Ask());
  EXPECT_EQ(answer["environment"]["X_USER_NAME"], "ann");
  EXPECT_EQ(answer["environment"]["X_REGION"], "r");
  EXPECT_EQ(answer["environment_defaults"]["LR"], "1");
  EXPECT_FALSE(answer["environment"].contains("TASK_UUID"));  // of each attempt: SPANK's
}

TEST(Admission, TheRecordKeepsWhatWasInferred) {
  const std::string comment = AnswerTo(Ask())["admin_comment"];
  EXPECT_THAT(comment, StartsWith("cox:6ba7b810-9dad-11d1-80b4-00c04fd430c8 accepted {"));
  EXPECT_THAT(comment, HasSubstr(R"("flavors":"h100.1g:4,a100.2g:2")"));
}

TEST(Admission, AnInteractiveJobCarriesItsContextInTheRecord) {
  Question question = Ask();
  question.record.batch = false;
  const std::string comment = AnswerTo(question)["admin_comment"];
  EXPECT_THAT(comment, HasSubstr(" X_USER_NAME=ann "));
}

TEST(Admission, ARefusalIsInWordsLineByLine) {
  const json answer = AnswerTo(Ask(), [](const std::string&, const spec::TrainingJob&) {
    run::Judgement judgement;
    judgement.refused = "first\nsecond";
    return Result<run::Judgement>(judgement);
  });
  EXPECT_EQ(answer["verdict"], "reject");
  EXPECT_EQ(answer["text"], "cox: first\ncox: second");
}

TEST(Admission, WhatCannotBeReadIsRefusedWithoutAJudge) {
  Question question = Ask();
  question.options["priority"] = "top";
  EXPECT_THAT(std::string(AnswerTo(question)["text"]), StartsWith("cox: --cox-priority=top"));
}

TEST(Admission, ABusyJudgeIsNoAnswer) {
  EXPECT_FALSE(AnswerSubmission(Ask(), "ann", *testing::TestSite(),
                                [](const std::string&, const spec::TrainingJob&) {
                                  return Result<run::Judgement>(Unavailable("busy"));
                                }));
}

}  // namespace
}  // namespace cox::slurm
