#include "tests/support/temporary_folder.hpp"

#include <cstdlib>
#include <system_error>

#include "core/base/check.hpp"

namespace rehearsal::test {

TemporaryFolder::TemporaryFolder() {
  std::string pattern = (std::filesystem::temp_directory_path() / "rehearsal-test-XXXXXX").string();
  CHECK(mkdtemp(pattern.data()) != nullptr, "the temporary folder must be writable");
  path_ = pattern;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace rehearsal::test
