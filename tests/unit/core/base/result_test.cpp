#include "core/base/result.hpp"

#include <gtest/gtest.h>

#include <string>

namespace rehearsal {
namespace {

Result<int> parse_digit(char c) {
  if (c < '0' || c > '9') return invalid("not a digit");
  return c - '0';
}

Result<int> sum(std::string_view digits) {
  int total = 0;
  for (const char c : digits) {
    ASSIGN_OR_RETURN(const int digit, parse_digit(c));
    total += digit;
  }
  return total;
}

TEST(Result, MacroPassesValuesAndErrorsOn) {
  EXPECT_EQ(*sum("123"), 6);
  EXPECT_EQ(sum("1x3").error().message, "not a digit");
}

TEST(Error, EachLayerAddsItsLine) {
  const Error error = sum("x").error().within("line 3").within("drill.yaml");
  EXPECT_EQ(error.text(), "drill.yaml: line 3: not a digit");
  EXPECT_EQ(error.code, ErrorCode::invalid_input);
}

TEST(ErrorCode, IsReadAsItIsWritten) {
  for (const ErrorCode code :
       {ErrorCode::invalid_input, ErrorCode::unsupported, ErrorCode::not_found, ErrorCode::refused,
        ErrorCode::too_large, ErrorCode::protocol, ErrorCode::disconnected, ErrorCode::timed_out,
        ErrorCode::system})
    EXPECT_EQ(error_code(to_string(code)), code) << to_string(code);
  EXPECT_EQ(error_code("unknown"), std::nullopt);
  EXPECT_EQ(error_code(""), std::nullopt);
}

}  // namespace
}  // namespace rehearsal
