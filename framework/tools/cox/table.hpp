// Columns for people, two spaces between them, no lines.
// Pure.
//
// Why our own: no C++ table library is packaged in Debian 12, and all that is needed is padding by
// display width.
#pragma once

#include <string>
#include <vector>

namespace cox::cli {

// Colour marks a state; it is only written where a terminal shows it.
enum class Tint { kNone, kGood, kWarn, kBad, kDim };
std::string Paint(const std::string& text, Tint tint, bool colour);

class Table {
 public:
  explicit Table(std::vector<std::string> header);  // ">USED": a column aligned to the right

  // Missing cells are empty; an empty cell prints "-", a column of nothing but blanks is left out.
  void Row(std::vector<std::string> cells, Tint tint = Tint::kNone);
  bool empty() const { return rows_.empty(); }
  std::string Text(bool colour) const;

 private:
  struct Line {
    std::vector<std::string> cells;
    Tint tint;
  };
  std::vector<std::string> header_;
  std::vector<bool> right_;
  std::vector<Line> rows_;
};

// "key:   value" lines with the values under each other, also where one has several lines; pairs
// with an empty value are left out.
std::string Facts(const std::vector<std::pair<std::string, std::string>>& facts);

}  // namespace cox::cli
