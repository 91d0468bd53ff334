#pragma once

#include <filesystem>
#include <string>

namespace rehearsal::test {

/// A fresh folder, removed with all it holds at the end of the test, also when that fails.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace rehearsal::test
