#include "tools/cox/table.hpp"

#include <algorithm>

namespace cox::cli {
namespace {

// Code points of UTF-8; continuation bytes take no column.
size_t Width(const std::string& text) {
  return static_cast<size_t>(
      std::ranges::count_if(text, [](unsigned char c) { return (c & 0xC0) != 0x80; }));
}

std::string Pad(const std::string& text, size_t width, bool right) {
  const std::string space(width - std::min(width, Width(text)), ' ');
  return right ? space + text : text + space;
}

bool Blank(const std::string& text) {
  return text.find_first_not_of(' ') == std::string::npos;
}

}  // namespace

std::string Paint(const std::string& text, Tint tint, bool colour) {
  if (!colour || tint == Tint::kNone) return text;
  const char* code = tint == Tint::kGood   ? "32"
                     : tint == Tint::kWarn ? "33"
                     : tint == Tint::kBad  ? "31"
                                           : "2";
  return std::string("\033[") + code + "m" + text + "\033[0m";
}

Table::Table(std::vector<std::string> header) : header_(std::move(header)) {
  for (std::string& name : header_) {
    right_.push_back(name.starts_with('>'));
    if (right_.back()) name.erase(0, 1);
  }
}

void Table::Row(std::vector<std::string> cells, Tint tint) {
  cells.resize(header_.size());
  for (std::string& cell : cells) {
    std::ranges::replace(cell, '\n', ' ');
  }
  rows_.push_back({std::move(cells), tint});
}

std::string Table::Text(bool colour) const {
  const size_t columns = header_.size();
  std::vector<size_t> width(columns);
  std::vector<bool> blank(columns, true);
  for (size_t c = 0; c < columns; ++c) {
    width[c] = Width(header_[c]);
    for (const Line& line : rows_) {
      width[c] = std::max(width[c], Width(line.cells[c]));
      blank[c] = blank[c] && Blank(line.cells[c]);
    }
  }
  const auto line = [&](const std::vector<std::string>& cells) {
    std::string text;
    for (size_t c = 0; c < columns; ++c) {
      if (blank[c]) continue;
      text += (text.empty() ? "" : "  ") +
              Pad(&cells != &header_ && cells[c].empty() ? "-" : cells[c], width[c], right_[c]);
    }
    text.erase(text.find_last_not_of(' ') + 1);
    return text;
  };
  std::string out = Paint(line(header_), Tint::kDim, colour) + "\n";
  for (const Line& row : rows_) out += Paint(line(row.cells), row.tint, colour) + "\n";
  return out;
}

std::string Facts(const std::vector<std::pair<std::string, std::string>>& facts) {
  size_t width = 0;
  for (const auto& [key, value] : facts) {
    if (!value.empty()) width = std::max(width, Width(key) + 1);
  }
  std::string out;
  for (const auto& [key, value] : facts) {
    if (value.empty()) continue;
    out += Pad(key + ":", width, false) + "  ";
    for (const char c : value.substr(0, value.find_last_not_of('\n') + 1)) {
      out += c == '\n' ? "\n" + std::string(width + 2, ' ') : std::string(1, c);
    }
    out += "\n";
  }
  return out;
}

}  // namespace cox::cli
