// What the documents show is what the program does: help texts, job files, site files.
// COX_UPDATE_GOLDEN=1 writes the help texts into docs/cli.md.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>

#include "spec/parse.hpp"
#include "spec/validate.hpp"
#include "tools/cox/arguments.hpp"
#include "tools/cox/command.hpp"

namespace cox::cli {
namespace {

const std::string kSource = COX_SOURCE_DIR;

std::string Read(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  EXPECT_TRUE(file) << path;
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string HelpOf(const std::string& command) {  // "$ cox list --help"
  std::istringstream words(command);
  std::vector<std::string> all{std::istream_iterator<std::string>(words), {}};
  const auto leave = ParseArguments({all.begin() + 2, all.end()});
  return std::get<Leave>(leave).out;
}

// Replaces what stands under each "$ cox ... --help" by what it prints now.
std::string Regenerated(const std::string& text) {
  std::istringstream in(text);
  std::string out, line;
  bool skipping = false;
  while (std::getline(in, line)) {
    if (line == "```") skipping = false;
    if (!skipping) out += line + "\n";
    if (line.starts_with("$ cox ")) {
      out += HelpOf(line);
      skipping = true;
    }
  }
  return out;
}

TEST(Docs, CliPageShowsTheHelpTexts) {
  const std::string path = kSource + "/docs/cli.md";
  const std::string regenerated = Regenerated(Read(path));
  if (std::getenv("COX_UPDATE_GOLDEN") != nullptr) std::ofstream(path) << regenerated;
  EXPECT_EQ(Read(path), regenerated) << "COX_UPDATE_GOLDEN=1 rewrites it";
}

std::vector<std::string> Verbs(const Command& command, const std::string& path) {
  if (command.commands.empty()) return {path};
  std::vector<std::string> verbs;
  for (const Command& below : command.commands) {
    for (std::string& verb : Verbs(below, path + " " + below.name)) verbs.push_back(verb);
  }
  return verbs;
}

TEST(Docs, CliPageHasEveryVerb) {
  const std::string page = Read(kSource + "/docs/cli.md");
  for (const std::string& verb : Verbs(WholeCommand(), "cox")) {
    EXPECT_NE(page.find("$ " + verb + " --help\n"), std::string::npos) << verb;
  }
}

TEST(Docs, ReadmesJobParses) {
  const std::string readme = Read(kSource + "/README.md");
  const size_t begin = readme.find("```yaml\n") + 8;
  const auto job =
      spec::ParseTrainingJob(readme.substr(begin, readme.find("```", begin) - begin), "README.md");
  ASSERT_TRUE(job) << job.error().text;
  EXPECT_EQ(job->workers, 1);
}

template <class Parse>
int ParseAll(const std::string& folder, Parse parse) {
  int seen = 0;
  for (const auto& entry : std::filesystem::directory_iterator(kSource + folder)) {
    if (entry.path().extension() != ".yaml") continue;
    const auto parsed = parse(Read(entry.path().string()), entry.path().string());
    EXPECT_TRUE(parsed) << parsed.error().text;
    ++seen;
  }
  return seen;
}

TEST(Docs, EveryExampleParses) {
  EXPECT_GE(ParseAll("/examples", spec::ParseTrainingJob), 2);
}

TEST(Docs, EverySiteFileParses) {
  EXPECT_GE(ParseAll("/configs", spec::ParseSite), 2);
}

// Accepted by the validator too, as root on the demo's site.
TEST(Docs, ExamplesAreAcceptedOnTheDemosSite) {
  const auto site = spec::ParseSite(Read(kSource + "/configs/demo.yaml"), "demo.yaml");
  ASSERT_TRUE(site) << site.error().text;
  const auto who = spec::Resolve(*site, "root", "");
  ASSERT_TRUE(who) << who.error().text;
  for (const char* name : {"ddp.yaml", "idle.yaml"}) {
    const auto job = spec::ParseTrainingJob(Read(kSource + "/examples/" + name), name);
    ASSERT_TRUE(job) << job.error().text;
    EXPECT_EQ(spec::Validate(*job, *site, *who).ErrorText(), "") << name;
  }
}

}  // namespace
}  // namespace cox::cli
