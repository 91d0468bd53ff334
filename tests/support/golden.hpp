#pragma once

#include <string>
#include <string_view>

namespace rehearsal::test {

/// Compares `actual` with tests/golden/<name>; a difference fails the running test and shows both.
/// With REHEARSAL_UPDATE_GOLDEN=1 in the environment the file is written instead.
void expect_golden(const std::string& name, std::string_view actual);

/// The same for a seed of a fuzz target, tests/fuzz/corpus/<name>: where a format moves on, a seed
/// that stays behind is refused in its first bytes and leads the fuzzer nowhere.
void expect_seed(const std::string& name, std::string_view actual);

}  // namespace rehearsal::test
