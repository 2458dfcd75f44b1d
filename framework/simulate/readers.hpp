// What the readers share. Internal to simulate/.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "simulate/csv.hpp"
#include "simulate/trace.hpp"

namespace cox::simulate {

struct Source {
  const std::string& file;
  const std::string& text;
  const scenario::ReadFile& read_file;
};

Result<Workload> ReadSwf(const Source& source);
Result<Workload> ReadSacct(const Source& source);
Result<Workload> ReadPhilly(const Source& source);
Result<Workload> ReadAcme(const Source& source);
Result<Workload> ReadOpenb(const Source& source);
Result<Workload> ReadRecording(const Source& source);
Result<Workload> ReadScenario(const Source& source);

// Whole numbers, also as "8.0"; none when it is something else.
std::optional<int64_t> ToWhole(std::string_view text);
// "2017-10-09 07:01:55", "2017-10-09T07:01:55Z", or Unix seconds. Without a zone: UTC.
std::optional<int64_t> ToUnixTime(std::string_view text);
std::vector<std::string> SplitAt(std::string_view text, char separator);  // no empty parts

// Rows that are left out, for the notes: each reason once, with the first line and how many.
class LeftOut {
 public:
  explicit LeftOut(const std::string& file) : file_(file) {}
  void Add(int64_t line, const std::string& why);
  void Tell(Workload& workload) const;

 private:
  struct Rows {
    int64_t first = 0, count = 0;
  };
  const std::string& file_;
  std::map<std::string, Rows> rows_;
};

// One row of a table after the other. A cell that is not what it should be spoils its row.
class Rows {
 public:
  Rows(const Csv& table, LeftOut& left_out) : table_(table), left_out_(left_out) {}
  bool Next();

  std::string Text(std::string_view column) const;
  int64_t Whole(std::string_view column);  // 0 for an empty cell
  int64_t Time(std::string_view column);
  void Spoil(const std::string& why);
  // False when it was spoilt; it is then in the list.
  bool good() const { return good_; }

 private:
  const Csv& table_;
  LeftOut& left_out_;
  size_t next_ = 0;
  bool good_ = true;
};

// Jobs by the time of their submission, from second 0. An error when there are none.
Result<Workload> Finish(Workload workload, const LeftOut& left_out);

}  // namespace cox::simulate
