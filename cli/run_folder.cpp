#include "cli/run_folder.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <system_error>

namespace rehearsal::cli {
namespace {

namespace fs = std::filesystem;

/// An open file descriptor.
class Descriptor {
 public:
  explicit Descriptor(int value) : value_(value) {}
  ~Descriptor() {
    if (value_ >= 0) close(value_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int value() const { return value_; }

 private:
  int value_;
};

Result<void> write_and_sync(const fs::path& path, std::string_view text) {
  const Descriptor file{open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644)};
  if (file.value() < 0) return system_failure(ErrorSource::host, "writing " + path.string(), errno);
  while (!text.empty()) {
    const ssize_t written = write(file.value(), text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return system_failure(ErrorSource::host, "writing " + path.string(), errno);
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  if (fsync(file.value()) != 0)
    return system_failure(ErrorSource::host, "writing " + path.string(), errno);
  return {};
}

bool is_plain_name(const std::string& name) {
  const auto is_allowed = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           c == '.' || c == '_' || c == '-';
  };
  return !name.empty() && name.size() <= 100 && name.front() != '.' &&
         std::all_of(name.begin(), name.end(), is_allowed);
}

Failure broken(const std::string& what) {
  return fail(ErrorCode::protocol, ErrorSource::control, "file from the coordinator: " + what);
}

}  // namespace

Result<void> write_file(const fs::path& path, std::string_view text) {
  const fs::path beside = path.parent_path() / ("." + path.filename().string() + ".part");
  auto written = write_and_sync(beside, text);
  if (written && rename(beside.c_str(), path.c_str()) != 0)
    written = system_failure(ErrorSource::host, "writing " + path.string(), errno);
  if (!written) unlink(beside.c_str());
  return written;
}

Result<std::string> read_file(const fs::path& path, std::uint64_t size_max) {
  std::error_code error;
  if (fs::is_directory(path, error))
    return invalid(path.string() + ": is a folder; expected a file");
  std::ifstream stream{path, std::ios::binary};
  if (!stream) {
    const int number = errno;
    if (number == ENOENT)
      return fail(ErrorCode::not_found, ErrorSource::config, path.string() + ": no such file");
    return system_failure(ErrorSource::host, "reading " + path.string(), number);
  }
  const std::uint64_t size = fs::file_size(path, error);
  if (!error && size > size_max)
    return fail(ErrorCode::too_large, ErrorSource::config,
                path.string() + ": " + std::to_string(size) + " bytes; at most " +
                    std::to_string(size_max) + " are read");
  std::string text{std::istreambuf_iterator<char>{stream}, {}};
  if (stream.bad()) return system_failure(ErrorSource::host, "reading " + path.string(), errno);
  return text;
}

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

Result<void> RunFolder::take(const std::string& name, std::uint64_t size, std::uint64_t offset,
                             std::string_view part) {
  if (!is_plain_name(name)) return broken("a name that is no plain file name");
  if (size > kFileBytesMax) return broken(name + " is announced with " + std::to_string(size) + " bytes");
  std::string& content = parts_[name];
  if (offset != content.size() || part.size() > size - offset || (part.empty() && size > 0))
    return broken(name + " has parts that do not fit together");
  content += part;
  if (content.size() < size) return {};

  std::error_code error;
  fs::create_directories(path_, error);
  if (error) return system_failure(ErrorSource::host, "making " + path_.string(), error.value());
  RETURN_IF_ERROR(write_file(path_ / name, content));
  parts_.erase(name);
  ++files_written_;
  return {};
}

Result<void> RunFolder::check_complete() const {
  if (parts_.empty()) return {};
  return broken(parts_.begin()->first + " did not arrive whole");
}

}  // namespace rehearsal::cli
