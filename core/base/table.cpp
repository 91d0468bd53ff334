#include "core/base/table.hpp"

#include <algorithm>
#include <numeric>

#include "core/base/check.hpp"

namespace rehearsal {
namespace {

constexpr std::string_view kGap = "  ";
constexpr std::size_t kCutTo = 8;  // no column of words is cut narrower than this

// Columns on the screen: code points, not bytes ("µs" is two).
std::size_t width_of(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count_if(
      text, [](char c) { return (static_cast<unsigned char>(c) & 0xc0U) != 0x80U; }));
}

// The first `width` code points.
std::string_view prefix_of(std::string_view text, std::size_t width) {
  std::size_t at = 0;
  for (std::size_t seen = 0; at < text.size(); ++at) {
    const bool starts = (static_cast<unsigned char>(text[at]) & 0xc0U) != 0x80U;
    if (starts && seen++ == width) break;
  }
  return text.substr(0, at);
}

std::string fitted(std::string_view text, std::size_t width, Table::Align align) {
  const std::size_t actual = width_of(text);
  if (actual > width) return std::string(prefix_of(text, width - 1)) + "~";
  const std::string padding(width - actual, ' ');
  return align == Table::Align::left ? std::string(text) + padding : padding + std::string(text);
}

}  // namespace

Table::Table(std::vector<Column> columns) : columns_(std::move(columns)) {
  CHECK(!columns_.empty(), "a table has columns");
}

void Table::add(std::vector<std::string> cells) {
  CHECK(cells.size() <= columns_.size(), "a row has at most one cell a column");
  cells.resize(columns_.size());
  rows_.push_back(std::move(cells));
}

std::vector<std::size_t> Table::widths(std::size_t width_max) const {
  std::vector<std::size_t> result;
  std::vector<std::size_t> least;  // numbers are never cut, only their titles
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    std::size_t cells = 1;
    for (const auto& row : rows_) cells = std::max(cells, width_of(row[i]));
    result.push_back(std::max(cells, width_of(columns_[i].title)));
    least.push_back(columns_[i].align == Align::right ? cells : std::min(kCutTo, result.back()));
  }
  const std::size_t gaps = kGap.size() * (columns_.size() - 1);
  std::size_t total = std::accumulate(result.begin(), result.end(), gaps);
  while (total > width_max) {  // one off the widest column that can give, until it fits
    std::size_t* widest = nullptr;
    for (std::size_t i = 0; i < result.size(); ++i) {
      if (result[i] > least[i] && (widest == nullptr || result[i] > *widest)) widest = &result[i];
    }
    if (widest == nullptr) break;
    --*widest;
    --total;
  }
  return result;
}

std::string Table::text(std::string_view indent) const {
  const std::vector<std::size_t> width = widths(kTableWidthMax - indent.size());
  std::string result;
  const auto add_line = [&](const auto& cell_of) {
    std::string line(indent);
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      if (i != 0) line += kGap;
      line += fitted(cell_of(i), width[i], columns_[i].align);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    result += line + "\n";
  };
  add_line([&](std::size_t i) -> std::string_view { return columns_[i].title; });
  for (const auto& row : rows_) add_line([&](std::size_t i) -> std::string_view { return row[i]; });
  return result;
}

std::string grouped(std::uint64_t number) {
  std::string digits = std::to_string(number);
  for (std::size_t at = digits.size(); at > 3;) {
    at -= 3;
    digits.insert(at, ",");
  }
  return digits;
}

}  // namespace rehearsal
