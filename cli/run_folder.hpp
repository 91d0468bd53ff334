#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "core/base/result.hpp"
#include "core/protocol/parts.hpp"

namespace rehearsal::cli {

/// Fails when `path` is there and is not an empty folder.
Result<void> check_run_folder_is_free(const std::filesystem::path& path);

/// Takes the files of a run as they arrive in parts and puts each into the folder when it is whole.
/// The folder is made with the first file.
class RunFolder {
 public:
  /// No file of a run is larger.
  static constexpr std::uint64_t kFileBytesMax = std::uint64_t{1} << 30;

  explicit RunFolder(std::filesystem::path path) : path_(std::move(path)) {}

  /// `name` must be a plain file name: it comes from another machine.
  Result<void> take(const std::string& name, const protocol::Part& part);
  /// Fails when a file has begun and has not ended.
  Result<void> check_complete() const;

  const std::filesystem::path& path() const { return path_; }
  bool is_empty() const { return files_written_ == 0; }
  /// The content of summary.json, once it has come.
  const std::optional<std::string>& summary() const { return summary_; }

 private:
  std::filesystem::path path_;
  std::map<std::string, protocol::PartAssembler> unfinished_;
  std::optional<std::string> summary_;
  std::size_t files_written_ = 0;
};

}  // namespace rehearsal::cli
