#include "core/fault/fraction.hpp"

#include <gtest/gtest.h>

namespace rehearsal::fault {
namespace {

TEST(Fraction, IsReadFromPercentagesAndRatios) {
  EXPECT_EQ(parse_fraction("50%")->millionths, 500'000u);
  EXPECT_EQ(parse_fraction("0.1%")->millionths, 1'000u);
  EXPECT_EQ(parse_fraction("0.0001%")->millionths, 1u);
  EXPECT_EQ(parse_fraction("1/4")->millionths, 250'000u);
  EXPECT_EQ(parse_fraction("1/3")->millionths, 333'333u);
  EXPECT_EQ(parse_fraction("150%")->millionths, 1'500'000u);
}

TEST(Fraction, IsRefusedWhereItCouldMeanTwoThings) {
  for (const char* wrong : {"", "%", "0.5", "50", "-1%", "1e2%", "1/0", "/2", "1/", "0.00001%",
                            "200000%", "1.%", "50 %", "9999999999%"}) {
    EXPECT_FALSE(parse_fraction(wrong).has_value()) << wrong;
  }
}

TEST(Fraction, IsWrittenAsItIsRead) {
  for (const char* text : {"0%", "50%", "0.1%", "12.5%", "0.0001%", "100%", "33.3333%"}) {
    EXPECT_EQ(format_fraction(*parse_fraction(text)), text);
  }
}

TEST(Fraction, PartsOfLargeNumbersAreExact) {
  EXPECT_EQ(part_of(400'000'000'000'000, Fraction{250'000}), 100'000'000'000'000u);
  EXPECT_EQ(part_of(3, Fraction{500'000}), 1u);
}

}  // namespace
}  // namespace rehearsal::fault
