// The manual page and the completion are made of the parser's own tree: nothing is left out, and
// bash does with it what one expects.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>

#include "tools/cox/command.hpp"
#include "tools/cox/completion.hpp"
#include "tools/cox/manual.hpp"
#include "unit/tools_cox/fake_daemon.hpp"

namespace cox::cli {
namespace {

using testing::HasSubstr;

// Calls `see` with each verb and its path, "cox nodepolicy create".
template <class See>
void EachVerb(const Command& command, const std::string& path, See see) {
  if (command.commands.empty()) see(path, command);
  for (const Command& below : command.commands) EachVerb(below, path + " " + below.name, see);
}

std::string Roff(std::string text) {
  for (size_t at = 0; (at = text.find('-', at)) != std::string::npos; at += 2) {
    text.replace(at, 1, "\\-");
  }
  return text;
}

TEST(Man, HasASectionForEachVerbWithEachOption) {
  const std::string page = ManPage(WholeCommand(), Epilogue());
  int verbs = 0;
  EachVerb(WholeCommand(), "cox", [&](const std::string& path, const Command& verb) {
    const size_t section = page.find(".SS \\fB" + Roff(path) + "\\fR");
    ASSERT_NE(section, std::string::npos) << path;
    const std::string text = page.substr(section, page.find(".S", section + 1) - section);
    EXPECT_THAT(text, HasSubstr(Roff(verb.help)));
    for (const Option& option : verb.options) {
      if (option.names.back() != "--help") {
        EXPECT_THAT(text, HasSubstr(Roff(option.names.back()))) << path;
      }
    }
    ++verbs;
  });
  EXPECT_GE(verbs, 25);
  EXPECT_THAT(page, HasSubstr(Roff("--socket")));
  EXPECT_THAT(page, HasSubstr("COX_SOCKET"));
}

TEST(Man, BeginsAsManPagesDo) {
  FakeDaemon daemon;
  EXPECT_EQ(daemon.Cox({"man"}), kOk);
  EXPECT_THAT(daemon.out.str(), testing::StartsWith(".TH COX 1"));
  EXPECT_THAT(daemon.out.str(),
              HasSubstr("cox \\- submit training jobs and see why they run or wait\n"));
}

TEST(Completion, KnowsEachVerbWithEachOption) {
  for (const char* shell : {"bash", "zsh"}) {
    const std::string script = CompletionScript(WholeCommand(), shell);
    EachVerb(WholeCommand(), "cox", [&](const std::string& path, const Command& verb) {
      const size_t row = script.find("\"" + path + "\") echo '");
      ASSERT_NE(row, std::string::npos) << path;
      const std::string line = script.substr(row, script.find('\n', row) - row);
      for (const Option& option : verb.options) {
        for (const std::string& name : option.names) EXPECT_THAT(line, HasSubstr(name)) << path;
      }
    });
  }
}

TEST(Completion, OfAShellThatIsNotKnownIsRefused) {
  FakeDaemon daemon;
  EXPECT_EQ(daemon.Cox({"completion", "fish"}), kUsage);
  EXPECT_THAT(daemon.err.str(), HasSubstr("\"fish\" is not one of bash, zsh"));
  EXPECT_EQ(daemon.Cox({"completion", "zsh"}), kOk);
  EXPECT_THAT(daemon.out.str(), testing::StartsWith("#compdef cox\n"));
}

// What bash offers after `words`, the last of which is being typed; `cox` is a function that lists
// two tasks.
std::string Offered(const std::string& words) {
  const std::string file = testing::TempDir() + "completion." + std::to_string(getpid());
  std::ofstream(file) << CompletionScript(WholeCommand(), "bash")
                      << "cox() { printf 'NAME ID\\na-1 7\\nb-2 8\\n'; }\n"
                      << "COMP_WORDS=(" << words << ")\n"
                      << "COMP_CWORD=$((${#COMP_WORDS[@]} - 1))\n_cox\necho \"${COMPREPLY[*]}\"\n";
  std::string offered;
  FILE* bash = popen(("bash " + file).c_str(), "r");
  char block[4096];
  while (const size_t got = fread(block, 1, sizeof block, bash)) offered.append(block, got);
  EXPECT_EQ(pclose(bash), 0);
  std::remove(file.c_str());
  return offered;
}

TEST(Completion, OfBashOffersVerbsOptionsValuesAndTasks) {
  EXPECT_EQ(Offered("cox de"), "describe\n");
  EXPECT_EQ(Offered("cox nodepolicy ''"), "create list delete\n");
  EXPECT_EQ(Offered("cox nodepolicy create --t"), "--type --ttl --tenant\n");
  EXPECT_EQ(Offered("cox nodepolicy create --type ''"), "NodeIn NodeNotIn\n");
  EXPECT_EQ(Offered("cox -o ''"), "table json yaml\n");
  EXPECT_EQ(Offered("cox -o json li"), "list\n");
  EXPECT_EQ(Offered("cox list --state Pre"), "Preempting\n");
  EXPECT_EQ(Offered("cox describe ''"), "a-1 b-2\n");
  EXPECT_EQ(Offered("cox describe a-1 --so"), "--socket\n");
  EXPECT_EQ(Offered("cox completion z"), "zsh\n");
  EXPECT_EQ(Offered("cox submit ''"), "\n") << "bash's own default offers files";
}

}  // namespace
}  // namespace cox::cli
