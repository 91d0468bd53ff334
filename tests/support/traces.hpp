#pragma once

#include <filesystem>
#include <optional>

namespace rehearsal::test {

/// The folder of real captures: $REHEARSAL_TRACES, or `shared/traces` beside the repository. None:
/// the test skips and says so (SKIP_WITHOUT_TRACES).
std::optional<std::filesystem::path> traces();

}  // namespace rehearsal::test

#define SKIP_WITHOUT_TRACES(variable)                                             \
  const auto variable##_found = ::rehearsal::test::traces();                      \
  if (!variable##_found)                                                          \
    GTEST_SKIP() << "SKIP: no folder of real captures "                           \
                    "(REHEARSAL_TRACES, or shared/traces beside the repository)"; \
  const std::filesystem::path& variable = *variable##_found
