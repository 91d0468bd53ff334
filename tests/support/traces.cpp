#include "tests/support/traces.hpp"

#include <cstdlib>

namespace rehearsal::test {

std::optional<std::filesystem::path> traces() {
  if (const char* named = std::getenv("REHEARSAL_TRACES")) {
    if (std::filesystem::is_directory(named)) return named;
    return std::nullopt;
  }
  const std::filesystem::path beside =
      std::filesystem::path(REHEARSAL_SOURCE_DIR).parent_path() / "shared/traces";
  if (std::filesystem::is_directory(beside)) return beside;
  return std::nullopt;
}

}  // namespace rehearsal::test
