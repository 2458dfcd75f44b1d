#include "simulate/trace.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <iterator>

#include "simulate/readers.hpp"

namespace cox::simulate {
namespace {

struct Reader {
  const char* format;
  Result<Workload> (*read)(const Source&);
};

constexpr Reader kReaders[] = {{"swf", ReadSwf},          {"sacct", ReadSacct},
                               {"philly", ReadPhilly},    {"acme", ReadAcme},
                               {"openb", ReadOpenb},      {"recording", ReadRecording},
                               {"scenario", ReadScenario}};

std::string_view FirstLine(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t\r\n\xEF\xBB\xBF");
  if (begin == std::string_view::npos) return {};
  text.remove_prefix(begin);
  return text.substr(0, text.find_first_of("\r\n"));
}

std::string Guess(const std::string& file, std::string_view text) {
  const std::string_view line = FirstLine(text);
  const auto has = [&](std::string_view word) { return line.find(word) != line.npos; };
  if (line.starts_with('{')) return "recording";
  if (file.ends_with(".yaml") || file.ends_with(".yml")) return "scenario";
  if (has("JobID") && has("|")) return "sacct";
  if (has("gpu_milli")) return "openb";
  if (has("num_gpus") && has("duration")) return "philly";
  if (has("job_id") && (has("gpu_num") || has("gpu_per_worker"))) return "acme";
  const bool numbers = line.find_first_not_of("0123456789+-. \t") == line.npos;
  if (line.starts_with(';') || (numbers && SplitAt(line, ' ').size() == 18)) return "swf";
  return "";
}

}  // namespace

const std::vector<std::string>& Formats() {
  static const std::vector<std::string> kNames = [] {
    std::vector<std::string> names;
    for (const Reader& reader : kReaders) names.emplace_back(reader.format);
    return names;
  }();
  return kNames;
}

Result<Workload> ReadTrace(const std::string& file, const std::string& text,
                           const std::string& format, const scenario::ReadFile& read_file) {
  const std::string name = format.empty() ? Guess(file, text) : format;
  const auto* reader = std::ranges::find(kReaders, name, &Reader::format);
  if (reader == std::end(kReaders)) {
    return InvalidArgument(file + ": its first line tells no format that is known; say --format");
  }
  auto workload = reader->read({file, text, read_file});
  if (!workload) return workload;
  workload->file = file;
  workload->format = name;
  return workload;
}

// ---- What the readers share ----

std::optional<int64_t> ToWhole(std::string_view text) {
  double number = 0;
  const auto [rest, failed] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool whole = failed == std::errc{} && rest == text.data() + text.size() &&
                     std::abs(number) < 1e15;  // neither infinite nor too large for an integer
  if (!whole) return std::nullopt;
  return static_cast<int64_t>(std::llround(number));
}

std::optional<int64_t> ToUnixTime(std::string_view text) {
  if (const auto seconds = ToWhole(text)) return seconds;
  int64_t part[6] = {};
  const char* at = text.data();
  const char* const end = at + text.size();
  for (int i = 0; i < 6; ++i) {
    const auto [rest, failed] = std::from_chars(at, end, part[i]);
    if (failed != std::errc{} || part[i] < 0) return std::nullopt;
    at = rest;
    constexpr std::string_view kAfter[] = {"-", "-", "T ", ":", ":"};
    if (i == 5) break;
    if (at == end || kAfter[i].find(*at) == std::string_view::npos) return std::nullopt;
    ++at;
  }
  std::string_view zone(at, static_cast<size_t>(end - at));
  if (zone.starts_with('.')) zone.remove_prefix(std::min(zone.find_first_of("Z+-"), zone.size()));
  if (!zone.empty() && zone != "Z" && zone != "+00:00" && zone != "+0000") return std::nullopt;
  const std::chrono::year_month_day day(std::chrono::year(static_cast<int>(part[0])),
                                        std::chrono::month(static_cast<unsigned>(part[1])),
                                        std::chrono::day(static_cast<unsigned>(part[2])));
  if (!day.ok() || part[3] > 23 || part[4] > 59 || part[5] > 60) return std::nullopt;
  return std::chrono::sys_days(day).time_since_epoch().count() * int64_t{86400} + part[3] * 3600 +
         part[4] * 60 + part[5];
}

std::vector<std::string> SplitAt(std::string_view text, char separator) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const size_t size = std::min(text.find(separator), text.size());
    if (size > 0) parts.emplace_back(text.substr(0, size));
    text.remove_prefix(std::min(size + 1, text.size()));
  }
  return parts;
}

void LeftOut::Add(int64_t line, const std::string& why) {
  Rows& rows = rows_[why];
  if (rows.count++ == 0) rows.first = line;
}

void LeftOut::Tell(Workload& workload) const {
  for (const auto& [why, rows] : rows_) {
    workload.notes.push_back(std::to_string(rows.count) + (rows.count == 1 ? " row" : " rows") +
                             " left out: " + why + " (" + file_ + ":" + std::to_string(rows.first) +
                             (rows.count == 1 ? ")" : " and others)"));
  }
}

bool Rows::Next() {
  good_ = true;
  return next_++ < table_.rows();
}

std::string Rows::Text(std::string_view column) const {
  return std::string(table_.At(next_ - 1, table_.Column(column)));
}

int64_t Rows::Whole(std::string_view column) {
  const std::string text = Text(column);
  if (text.empty()) return 0;
  const auto number = ToWhole(text);
  if (!number) Spoil(std::string(column) + " is no number");
  return number.value_or(0);
}

int64_t Rows::Time(std::string_view column) {
  const auto time = ToUnixTime(Text(column));
  if (!time) Spoil(std::string(column) + " is no time");
  return time.value_or(0);
}

void Rows::Spoil(const std::string& why) {
  if (good_) left_out_.Add(table_.Line(next_ - 1), why);
  good_ = false;
}

Result<Workload> Finish(Workload workload, const LeftOut& left_out) {
  left_out.Tell(workload);
  if (workload.jobs.empty()) {
    std::string why;
    for (const std::string& note : workload.notes) why += "; " + note;
    return InvalidArgument("the trace has no job that can be simulated" + why);
  }
  std::ranges::stable_sort(workload.jobs, {}, &TraceJob::submit);
  const int64_t first = workload.jobs.front().submit;
  for (TraceJob& job : workload.jobs) job.submit -= first;
  constexpr int64_t kOldest = 315'532'800;  // 1980: what is smaller counts from an unknown start
  if (first >= kOldest) workload.origin = first;
  return workload;
}

}  // namespace cox::simulate
