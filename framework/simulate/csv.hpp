// A table of text with a header line: comma-separated (RFC 4180) or as `sacct -P` prints it. The
// whole of it is in memory; traces are some tens of megabytes. csv.cpp alone knows libcsv.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace cox::simulate {

struct CsvStyle {
  char separator = ',';
  bool quotes = true;  // sacct writes a job's name as it is, also one with a quote in it
};

class Csv {
 public:
  static Result<Csv> Parse(std::string_view text, const std::string& file, CsvStyle style);

  size_t rows() const { return rows_.size(); }
  std::optional<size_t> Column(std::string_view name) const;
  std::string_view At(size_t row, std::optional<size_t> column) const;  // "" where there is none
  int64_t Line(size_t row) const { return lines_[row]; }                // in the file, from 1

 private:
  friend struct CsvReader;
  std::vector<std::string> header_;
  std::vector<std::vector<std::string>> rows_;
  std::vector<int64_t> lines_;
};

}  // namespace cox::simulate
