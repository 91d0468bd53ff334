#include "core/base/table.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

namespace rehearsal {
namespace {

TEST(Table, AlignsWordsLeftAndNumbersRight) {
  Table table({{"host"}, {"bytes", Table::Align::right}, {"note"}});
  table.add({"host0", "12"});
  table.add({"h", "1,234,567", "local"});
  EXPECT_EQ(table.text("  "),
            "  host       bytes  note\n"
            "  host0         12\n"
            "  h      1,234,567  local\n");
  EXPECT_EQ(table.rows(), 2U);
}

TEST(Table, CountsCharactersNotBytes) {
  Table table({{"time", Table::Align::right}});
  table.add({"5 µs"});
  table.add({"15 µs"});
  EXPECT_EQ(table.text(), " time\n 5 µs\n15 µs\n");
}

TEST(Table, CutsWordsBeforeALineGetsTooWide) {
  Table table({{"name"}, {"other"}, {"bytes", Table::Align::right}});
  table.add({std::string(200, 'n'), "short", "123456789"});
  table.add({"a", std::string(60, 'o'), "1"});
  std::istringstream lines(table.text("    "));
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), kTableWidthMax) << line;
  EXPECT_NE(table.text().find("n~  short"), std::string::npos);
  EXPECT_NE(table.text().find("123456789\n"), std::string::npos);
}

TEST(Grouped, SetsThousandsApart) {
  EXPECT_EQ(grouped(0), "0");
  EXPECT_EQ(grouped(999), "999");
  EXPECT_EQ(grouped(1000), "1,000");
  EXPECT_EQ(grouped(102228128), "102,228,128");
  EXPECT_EQ(grouped(18446744073709551615ULL), "18,446,744,073,709,551,615");
}

}  // namespace
}  // namespace rehearsal
