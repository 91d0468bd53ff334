#include "cli/exit_code.hpp"

#include <gtest/gtest.h>

namespace rehearsal::cli {
namespace {

Error error_with(ErrorCode code) { return Error{code, ErrorSource::control, "x"}; }

TEST(ExitCode, WrongInputIsUsage) {
  for (const ErrorCode code : {ErrorCode::invalid_input, ErrorCode::unsupported,
                               ErrorCode::not_found, ErrorCode::too_large})
    EXPECT_EQ(exit_code_of(error_with(code)), ExitCode::usage) << to_string(code);
}

TEST(ExitCode, WhatCouldNotBeFoundOutIsUnknown) {
  for (const ErrorCode code : {ErrorCode::refused, ErrorCode::protocol, ErrorCode::disconnected,
                               ErrorCode::timed_out, ErrorCode::system})
    EXPECT_EQ(exit_code_of(error_with(code)), ExitCode::unknown) << to_string(code);
}

TEST(ExitCode, NumbersOfTheCoordinator) {
  EXPECT_EQ(exit_code_of_number(0), ExitCode::pass);
  EXPECT_EQ(exit_code_of_number(1), ExitCode::warn);
  EXPECT_EQ(exit_code_of_number(2), ExitCode::fail);
  EXPECT_EQ(exit_code_of_number(3), ExitCode::unknown);
  EXPECT_EQ(exit_code_of_number(64), ExitCode::unknown);
  EXPECT_EQ(exit_code_of_number(4'000'000'000U), ExitCode::unknown);
}

}  // namespace
}  // namespace rehearsal::cli
