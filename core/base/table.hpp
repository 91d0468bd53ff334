#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace rehearsal {

/// A text table for people: words to the left, numbers to the right, a header line, no line wider
/// than kTableWidthMax: words and titles are cut with "~", numbers never.
class Table {
 public:
  enum class Align { left, right };
  struct Column {
    std::string title;
    Align align = Align::left;
  };

  explicit Table(std::vector<Column> columns);

  /// One cell a column; missing ones stay empty.
  void add(std::vector<std::string> cells);
  std::size_t rows() const { return rows_.size(); }

  /// Lines that end in "\n", each begun with `indent`; header first. No spaces at line ends.
  std::string text(std::string_view indent = "") const;

 private:
  std::vector<std::size_t> widths(std::size_t width_max) const;

  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

inline constexpr std::size_t kTableWidthMax = 100;

/// Whole numbers for people, digits in groups of three: "102,228,128".
std::string grouped(std::uint64_t number);

}  // namespace rehearsal
