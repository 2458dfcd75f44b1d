#include "replay/replay.hpp"

#include <istream>
#include <optional>
#include <ostream>

#include "run/config.hpp"
#include "run/json.hpp"
#include "run/recorder.hpp"

namespace cox::replay {
namespace {

using run::Json;

// "" or what is wrong with the line.
std::string Again(const Json& line, std::optional<run::Config>& config,
                  const host::Options& options, Report& report, std::ostream& differences) {
  const std::string kind = line.is_object() ? line.value("kind", "") : "";
  if (kind == "site") {
    auto made = run::MakeConfig(line.value("text", ""), line.value("file", "site"), options);
    if (!made) return made.error().text;
    config = *std::move(made);
    return "";
  }
  if (kind != "cycle" || !line.contains("snapshot") || !line.contains("decision")) {
    return "is neither a site nor a cycle";
  }
  if (!config) return "a cycle before any site";
  auto snapshot = run::SnapshotFrom(line["snapshot"], config->site);
  if (!snapshot) return snapshot.error().text;
  const Json now = run::ToJson(run::DecideAgain(*config, *snapshot));
  ++report.cycles;
  if (run::Dump(now) == run::Dump(line["decision"])) return "";
  ++report.different;
  differences
      << "cycle " << snapshot->generation << " differs:\n"
      << Json::diff(line["decision"], now).dump(2, ' ', false, Json::error_handler_t::replace)
      << "\n";
  return "";
}

}  // namespace

Report Replay(std::istream& recording, const host::Options& options, std::ostream& differences) {
  Report report;
  std::optional<run::Config> config;
  std::string text;
  for (uint64_t number = 1; std::getline(recording, text); ++number) {
    const bool cut_short = recording.eof();  // the recorder died while it wrote the last line
    auto line = run::ParseJson(text, "line " + std::to_string(number));
    if (!line && cut_short) break;
    std::string wrong =
        line ? Again(*line, config, options, report, differences) : line.error().text;
    if (!wrong.empty()) {
      report.error = line ? "line " + std::to_string(number) + ": " + wrong : wrong;
      return report;
    }
  }
  return report;
}

}  // namespace cox::replay
