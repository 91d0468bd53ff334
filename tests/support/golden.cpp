#include "tests/support/golden.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace rehearsal::test {
namespace {

void expect_file(const std::filesystem::path& path, std::string_view actual) {
  if (std::getenv("REHEARSAL_UPDATE_GOLDEN") != nullptr) {
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << actual;
    return;
  }
  std::ifstream file(path, std::ios::binary);
  ASSERT_TRUE(file) << "no golden file " << path << "; make it with REHEARSAL_UPDATE_GOLDEN=1";
  std::ostringstream expected;
  expected << file.rdbuf();
  EXPECT_EQ(expected.str(), actual)
      << "differs from " << path << "; if that is right, REHEARSAL_UPDATE_GOLDEN=1 rewrites it";
}

const std::filesystem::path kTests = std::filesystem::path(REHEARSAL_SOURCE_DIR) / "tests";

}  // namespace

void expect_golden(const std::string& name, std::string_view actual) {
  expect_file(kTests / "golden" / name, actual);
}

void expect_seed(const std::string& name, std::string_view actual) {
  expect_file(kTests / "fuzz/corpus" / name, actual);
}

}  // namespace rehearsal::test
