#include "runtime/files.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

namespace rehearsal::runtime {
namespace {

/// Owns a file descriptor.
class File {
 public:
  explicit File(int descriptor) : descriptor_(descriptor) {}
  ~File() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  int get() const { return descriptor_; }
  bool valid() const { return descriptor_ >= 0; }

 private:
  int descriptor_;
};

Failure failed(std::string_view what, const std::filesystem::path& path) {
  const int error = errno;
  return system_failure(ErrorSource::host, std::string(what) + " " + path.string(), error);
}

/// A file that a person named and that is not there is their mistake, not the system's.
Failure cannot_read(const std::filesystem::path& path) {
  const bool absent = errno == ENOENT || errno == ENOTDIR || errno == EISDIR;
  Failure failure = failed("cannot read", path);
  if (absent) failure.value().code = ErrorCode::not_found;
  return failure;
}

Result<void> write_all(const File& file, std::string_view content,
                       const std::filesystem::path& path) {
  while (!content.empty()) {
    const ssize_t written = ::write(file.get(), content.data(), content.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return failed("cannot write", path);
    content.remove_prefix(static_cast<std::size_t>(written));
  }
  return {};
}

Result<void> sync_folder(const std::filesystem::path& path) {
  const File folder(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!folder.valid() || ::fsync(folder.get()) != 0) return failed("cannot sync", path);
  return {};
}

std::string json_text(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      quoted += '\\';
      quoted += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      char escape[8];
      std::snprintf(escape, sizeof escape, "\\u%04x", static_cast<unsigned>(c));
      quoted += escape;
    } else {
      quoted += c;
    }
  }
  return quoted + "\"";
}

}  // namespace

Result<std::string> read_file(const std::filesystem::path& path, Bytes size_max) {
  const File file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.valid()) return cannot_read(path);
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) return cannot_read(path);
  if (!S_ISREG(status.st_mode)) return invalid(path.string() + " is not a plain file");
  std::string content;
  char buffer[16384];
  for (;;) {
    const ssize_t count = ::read(file.get(), buffer, sizeof buffer);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return cannot_read(path);
    if (count == 0) return content;
    content.append(buffer, static_cast<std::size_t>(count));
    if (content.size() > size_max.count()) {
      return fail(ErrorCode::too_large, ErrorSource::config,
                  path.string() + " is larger than " + format_bytes_exact(size_max));
    }
  }
}

Result<void> write_file_atomically(const std::filesystem::path& path, std::string_view content,
                                   Durability durability) {
  std::filesystem::path partial = path;
  partial += ".partial";
  {
    const File file(::open(partial.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
    if (!file.valid()) return failed("cannot create", partial);
    RETURN_IF_ERROR(write_all(file, content, partial));
    if (durability == Durability::durable && ::fsync(file.get()) != 0) {
      return failed("cannot sync", partial);
    }
  }
  if (::rename(partial.c_str(), path.c_str()) != 0) return failed("cannot rename to", path);
  if (durability == Durability::durable) return sync_folder(path.parent_path());
  return {};
}

Result<void> announce(const std::filesystem::path& path,
                      const std::map<std::string, std::string>& values) {
  std::string object;
  for (const auto& [key, value] : values) {
    object += (object.empty() ? "{" : ", ") + json_text(key) + ": " + json_text(value);
  }
  return write_file_atomically(path, (object.empty() ? "{" : object) + "}\n");
}

}  // namespace rehearsal::runtime
