#include "agent/keeper/journal_file.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "runtime/files.hpp"

namespace rehearsal::agent {
namespace {

Failure failed(std::string_view what, const std::filesystem::path& path) {
  const int error = errno;
  return system_failure(ErrorSource::host, std::string(what) + " " + path.string(), error);
}

}  // namespace

Result<JournalFile> JournalFile::open(const std::filesystem::path& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error)
    return system_failure(ErrorSource::host, "cannot make " + folder.string(), error.value());
  const std::filesystem::path lock = folder / "lock";
  JournalFile journal(folder / "journal", ::open(lock.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (journal.lock_ < 0) return failed("cannot open", lock);
  if (::flock(journal.lock_, LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) return failed("cannot lock", lock);
    return fail(ErrorCode::refused, ErrorSource::host,
                "another helper has the journal in " + folder.string());
  }
  return journal;
}

JournalFile::JournalFile(JournalFile&& other) noexcept
    : path_(std::move(other.path_)),
      lock_(std::exchange(other.lock_, -1)),
      file_(std::exchange(other.file_, -1)),
      size_(other.size_),
      on_step_(std::move(other.on_step_)) {}

JournalFile::~JournalFile() {
  if (file_ >= 0) ::close(file_);
  if (lock_ >= 0) ::close(lock_);
}

Result<fault::Journal> JournalFile::read() const {
  const auto bytes = runtime::read_file(path_, Bytes{fault::kJournalBytesMax});
  if (bytes) return fault::read_journal(*bytes);
  if (bytes.error().code == ErrorCode::not_found) return fault::Journal{};
  if (bytes.error().code == ErrorCode::too_large) {
    return fault::Journal{.records = {},
                          .end = fault::JournalEnd::damaged,
                          .whole_bytes = 0,
                          .problem = bytes.error().text()};
  }
  return tl::unexpected(bytes.error());
}

Result<void> JournalFile::append(const fault::JournalRecord& record) {
  if (file_ < 0) {
    return fail(ErrorCode::system, ErrorSource::host, path_.string() + " is not open for writing");
  }
  const std::string bytes = fault::encode_record(record);
  if (on_step_) {
    const std::size_t half = bytes.size() / 2;
    RETURN_IF_ERROR(write(std::string_view(bytes).substr(0, half)));
    on_step_(fault::half_way(record));
    RETURN_IF_ERROR(write(std::string_view(bytes).substr(half)));
  } else {
    RETURN_IF_ERROR(write(bytes));
  }
  if (::fdatasync(file_) != 0) return give_up("cannot sync");
  size_ += bytes.size();
  return {};
}

Result<void> JournalFile::write(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(file_, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return give_up("cannot write");
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
  return {};
}

/// Takes back what was written of a record. Where that cannot be done either, nothing is written
/// any more: records behind a torn one would not be read.
Failure JournalFile::give_up(std::string_view what) {
  Failure failure = failed(what, path_);
  if (::ftruncate(file_, static_cast<off_t>(size_)) != 0 || ::fdatasync(file_) != 0) {
    ::close(std::exchange(file_, -1));
  }
  return failure;
}

Result<void> JournalFile::restart(std::span<const fault::JournalRecord> records) {
  std::string bytes(fault::journal_header());
  for (const fault::JournalRecord& record : records) bytes += fault::encode_record(record);
  RETURN_IF_ERROR(runtime::write_file_atomically(path_, bytes, runtime::Durability::durable));
  if (file_ >= 0) ::close(file_);
  file_ = ::open(path_.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
  if (file_ < 0) return failed("cannot open", path_);
  size_ = bytes.size();
  return {};
}

}  // namespace rehearsal::agent
