#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>

#include "core/base/result.hpp"

namespace rehearsal::cli {

/// `text` becomes the content of `path`, whole or not at all: written beside it, then renamed.
Result<void> write_file(const std::filesystem::path& path, std::string_view text);

/// The whole file, or an error that names it; more than `size_max` bytes are refused unread.
Result<std::string> read_file(const std::filesystem::path& path, std::uint64_t size_max);

/// Fails when `path` is there and is not an empty folder.
Result<void> check_run_folder_is_free(const std::filesystem::path& path);

/// Takes the files of a run as they arrive in parts and puts each into the folder when it is whole.
/// The folder is made with the first file.
class RunFolder {
 public:
  /// No file of a run is larger.
  static constexpr std::uint64_t kFileBytesMax = std::uint64_t{1} << 30;

  explicit RunFolder(std::filesystem::path path) : path_(std::move(path)) {}

  /// Parts of one file come in order and without gaps; names are plain file names.
  Result<void> take(const std::string& name, std::uint64_t size, std::uint64_t offset,
                    std::string_view part);
  /// Fails when a file has begun and has not ended.
  Result<void> check_complete() const;

  const std::filesystem::path& path() const { return path_; }
  bool is_empty() const { return files_written_ == 0; }

 private:
  std::filesystem::path path_;
  std::map<std::string, std::string> parts_;  ///< of files that are not whole
  std::size_t files_written_ = 0;
};

}  // namespace rehearsal::cli
