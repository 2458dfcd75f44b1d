// Whatever comes in, an error goes out: nothing crashes, hangs or is taken for a job.
#include <gtest/gtest.h>

#include <random>

#include "unit/spec/samples.hpp"

namespace cox::spec {
namespace {

void ExpectRefused(const std::string& text) {
  const auto job = ParseTrainingJob(text, "job");
  ASSERT_FALSE(job);
  EXPECT_NE(job.error().text, "");
  EXPECT_LT(job.error().text.size(), 20'000u);
}

std::string RandomText(uint32_t seed, size_t size, const std::string& alphabet) {
  std::mt19937 random(seed);
  std::string text;
  for (size_t i = 0; i < size; ++i) {
    text += alphabet.empty() ? static_cast<char>(random() & 0xFF)
                             : alphabet[random() % alphabet.size()];
  }
  return text;
}

std::string Repeat(const std::string& part, size_t times) {
  std::string text;
  for (size_t i = 0; i < times; ++i) text += part;
  return text;
}

TEST(Garbage, AMegabyteOfRandomBytesIsRefused) {
  for (uint32_t seed = 0; seed < 2; ++seed) ExpectRefused(RandomText(seed, 1'000'000, ""));
}

TEST(Garbage, AMegabyteOfPunctuationIsRefused) {
  for (uint32_t seed = 0; seed < 2; ++seed) {
    ExpectRefused(RandomText(seed, 1'000'000, "{}[]:,-?&*!|>'\"%@`# \n\tab01"));
  }
}

TEST(Garbage, ManySmallRandomTextsAreRefused) {
  for (uint32_t seed = 0; seed < 1500; ++seed) {
    ExpectRefused(RandomText(seed, seed % 60, "{}[]:,-?&*!|>'\"%@`# \n\tab01\\"));
  }
}

TEST(Garbage, EndlessNestingIsRefused) {
  for (const char* part :
       {"[",   "{",   "{a: ", "[[",   "- ",   "? ", "- - ",    "a: {", "\"",     "'",    "!",
        "&a ", "*a ", "%",    "|\n ", ">\n ", ": ", "{\"a\":", "-\n",  "--- \n", "...\n"}) {
    SCOPED_TRACE(part);
    ExpectRefused(Repeat(part, 1'000'000 / std::string(part).size()));
  }
}

TEST(Garbage, StairsOfMapsAreRefused) {
  std::string stairs;
  for (size_t i = 0; i < 1200; ++i) stairs += std::string(i, ' ') + "a:\n";
  ExpectRefused(stairs);
}

TEST(Garbage, OneLongWordIsRefused) {
  ExpectRefused(std::string(1'000'000, 'a'));
  ExpectRefused(std::string(1'000'000, '9'));
  ExpectRefused("spec: " + std::string(1'000'000, 'a'));
  ExpectRefused(std::string(1'000'000, 'a') + ": 1");
}

TEST(Garbage, ATruncatedJobIsRefusedOrStillAJob) {
  const std::string yaml = kJobYaml;
  for (size_t size = 0; size < yaml.size(); size += 3) {
    const auto job = ParseTrainingJob(yaml.substr(0, size), "job");
    if (!job) {
      EXPECT_NE(job.error().text, "");
    }
  }
  const std::string whole = JobText();
  for (size_t size = 0; size < whole.size(); ++size) ExpectRefused(whole.substr(0, size));
}

TEST(Garbage, AJobWithOneByteChangedNeverCrashes) {
  std::mt19937 random(1);
  const std::string yaml = kJobYaml;
  for (int i = 0; i < 600; ++i) {
    std::string changed = yaml;
    changed[random() % changed.size()] = static_cast<char>(random() & 0xFF);
    const auto job = ParseTrainingJob(changed, "job");
    if (!job) {
      EXPECT_NE(job.error().text, "");
    }
  }
}

TEST(Garbage, HugeNumbersAreRefused) {
  for (const char* number :
       {"9223372036854775807", "9223372036854775808", "-9223372036854775808",
        "99999999999999999999999999", "1e308", "1e999", "-1e999", "0.1", "1e3"}) {
    const auto job = ParseTrainingJob(
        "metadata: {generateName: a}\nspec: {type: RayJob, command: x, replicas: {workers: " +
            std::string(number) + "}}",
        "job");
    if (job) {  // within 64 bits and below the upper bound: the validator's to refuse
      EXPECT_FALSE(Validate(*job, Site(), Submitter()).accepted()) << number;
    }
  }
}

TEST(Garbage, WideDocumentsAreJudgedInReasonableTime) {
  std::string env = "metadata: {generateName: a}\nspec:\n  type: RayJob\n  command: x\n  env:\n";
  for (int i = 0; i < 30'000; ++i) env += "  - {name: [], value: {}}\n";
  ExpectRefused(env);
  std::string keys = "metadata: {generateName: a}\nspec:\n";
  for (int i = 0; i < 40'000; ++i) keys += "  commnad" + std::to_string(i) + ": x\n";
  ExpectRefused(keys);
}

TEST(Garbage, ASiteOfGarbageIsRefused) {
  for (uint32_t seed = 0; seed < 100; ++seed) {
    EXPECT_FALSE(ParseSite(RandomText(seed, 1000, ""), "site"));
    EXPECT_FALSE(ParseSite(RandomText(seed, 1000, "{}[]:,- \n\"ab01"), "site"));
  }
}

TEST(Garbage, ValidateSurvivesAnEmptyJobAndAnEmptySite) {
  EXPECT_FALSE(Validate(TrainingJob(), Site(), Submitter()).accepted());
}

}  // namespace
}  // namespace cox::spec
