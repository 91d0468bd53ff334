#include "cli/run_folder.hpp"

#include <algorithm>
#include <system_error>

#include "runtime/files.hpp"

namespace rehearsal::cli {
namespace {

namespace fs = std::filesystem;

bool is_plain_name(const std::string& name) {
  const auto is_allowed = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '_' || c == '-';
  };
  return !name.empty() && name.size() <= 100 && name.front() != '.' &&
         std::all_of(name.begin(), name.end(), is_allowed);
}

}  // namespace

Result<void> check_run_folder_is_free(const fs::path& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (!fs::exists(status)) return {};
  if (!fs::is_directory(status))
    return invalid("--out " + path.string() + ": is a file; expected a new or empty folder");
  if (!fs::is_empty(path, error) || error)
    return invalid("--out " + path.string() +
                   ": has files in it; expected a new or empty folder, so that no report is lost");
  return {};
}

Result<void> RunFolder::take(const std::string& name, const protocol::Part& part) {
  if (!is_plain_name(name))
    return fail(ErrorCode::protocol, ErrorSource::control,
                "the coordinator sent a file whose name is no plain file name");
  const auto unfinished =
      unfinished_.try_emplace(name, kFileBytesMax, "file " + name + " of the run").first;
  ASSIGN_OR_RETURN(const bool is_whole, unfinished->second.add(part));
  if (!is_whole) return {};

  const std::string content = unfinished->second.take();
  unfinished_.erase(unfinished);
  std::error_code error;
  fs::create_directories(path_, error);
  if (error) return system_failure(ErrorSource::host, "making " + path_.string(), error.value());
  RETURN_IF_ERROR(
      runtime::write_file_atomically(path_ / name, content, runtime::Durability::durable));
  if (name == "summary.json") summary_ = content;
  ++files_written_;
  return {};
}

Result<void> RunFolder::check_complete() const {
  if (unfinished_.empty()) return {};
  return fail(ErrorCode::protocol, ErrorSource::control,
              "file " + unfinished_.begin()->first + " of the run did not arrive whole");
}

}  // namespace rehearsal::cli
