#pragma once

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace rehearsal::test {

/// The whole of a file; empty if it cannot be read.
inline std::string read_whole(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream bytes;
  bytes << file.rdbuf();
  return bytes.str();
}

/// The regular files right in a folder whose names end with `ending`, as CaptureFile-like pairs.
template <typename File>
std::vector<File> read_folder(const std::filesystem::path& folder, const std::string& ending) {
  std::vector<File> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (entry.is_regular_file() && name.ends_with(ending)) {
      files.push_back(File{name, read_whole(entry.path())});
    }
  }
  return files;
}

}  // namespace rehearsal::test
