#include "simulate/csv.hpp"

#include <csv.h>

#include <algorithm>
#include <utility>

namespace cox::simulate {

struct CsvReader {
  Csv table;
  std::vector<std::string> row;
  int64_t line = 1;

  static void Field(void* text, size_t size, void* self) {
    static_cast<CsvReader*>(self)->row.emplace_back(static_cast<char*>(text), size);
  }
  static void Row(int, void* self) { static_cast<CsvReader*>(self)->EndRow(); }
  void EndRow() {
    if (table.header_.empty()) {
      table.header_ = std::exchange(row, {});
    } else {
      table.rows_.push_back(std::exchange(row, {}));
      table.lines_.push_back(line);
    }
  }
};

Result<Csv> Csv::Parse(std::string_view text, const std::string& file, CsvStyle style) {
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);  // what spreadsheets put in front
  csv_parser parser;
  csv_init(&parser, CSV_STRICT | CSV_STRICT_FINI);
  csv_set_delim(&parser, static_cast<unsigned char>(style.separator));
  if (!style.quotes) csv_set_quote(&parser, '\0');
  CsvReader reader;
  bool good = true;
  // Line by line: the library does not say where a row stands.
  while (good && !text.empty()) {
    const size_t size = std::min(text.find('\n'), text.size() - 1) + 1;
    good = csv_parse(&parser, text.data(), size, CsvReader::Field, CsvReader::Row, &reader) == size;
    text.remove_prefix(size);
    ++reader.line;
  }
  good = good && csv_fini(&parser, CsvReader::Field, CsvReader::Row, &reader) == 0;
  const std::string why = csv_strerror(csv_error(&parser));
  csv_free(&parser);
  if (!good) {
    return InvalidArgument(file + ":" + std::to_string(reader.line) + ": is no table: " + why);
  }
  return std::move(reader.table);
}

std::optional<size_t> Csv::Column(std::string_view name) const {
  const auto found = std::ranges::find(header_, name);
  if (found == header_.end()) return std::nullopt;
  return static_cast<size_t>(found - header_.begin());
}

std::string_view Csv::At(size_t row, std::optional<size_t> column) const {
  if (!column || *column >= rows_[row].size()) return {};
  return rows_[row][*column];
}

}  // namespace cox::simulate
