#include "agent/keeper/trusted_file.hpp"

#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <charconv>
#include <optional>
#include <vector>

#include "runtime/files.hpp"

namespace rehearsal::agent {
namespace {

constexpr Bytes kPolicyBytesMax{64 * 1024};
constexpr std::size_t kUserEntryBytes = 16 * 1024;

Result<void> check_owner(const std::filesystem::path& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) {
    const int error = errno;
    Failure failure = system_failure(ErrorSource::config, "cannot read " + path.string(), error);
    if (error == ENOENT) failure.value().code = ErrorCode::not_found;
    return failure;
  }
  if (status.st_uid != 0 || (status.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
    return fail(ErrorCode::refused, ErrorSource::config,
                path.string() + " must belong to root and be writable by root alone");
  }
  return {};
}

/// A folder with the sticky bit may be written by others: what is in it they cannot replace.
Result<void> check_folder(const std::filesystem::path& path) {
  struct stat status {};
  const bool is_known = ::stat(path.c_str(), &status) == 0;
  if (is_known && status.st_uid == 0 && (status.st_mode & S_ISVTX) != 0) return {};
  return check_owner(path);
}

std::optional<uid_t> uid_of(const std::string& user) {
  uid_t uid = 0;
  const auto [end, error] = std::from_chars(user.data(), user.data() + user.size(), uid);
  if (error == std::errc{} && end == user.data() + user.size()) return uid;
  std::vector<char> buffer(kUserEntryBytes);
  passwd entry{};
  passwd* found = nullptr;
  if (::getpwnam_r(user.c_str(), &entry, buffer.data(), buffer.size(), &found) != 0) return {};
  return found == nullptr ? std::optional<uid_t>{} : found->pw_uid;
}

}  // namespace

Result<std::string> read_trusted_file(const std::filesystem::path& path) {
  const std::filesystem::path whole = std::filesystem::absolute(path);
  RETURN_IF_ERROR(check_owner(whole.parent_path()));
  RETURN_IF_ERROR(check_owner(whole));
  return runtime::read_file(whole, kPolicyBytesMax);
}

Result<std::filesystem::path> trusted_program(const std::filesystem::path& path) {
  std::error_code error;
  const std::filesystem::path program = std::filesystem::canonical(path, error);
  if (error) {
    return system_failure(ErrorSource::config, "cannot run " + path.string(), error.value());
  }
  for (auto folder = program.parent_path();; folder = folder.parent_path()) {
    RETURN_IF_ERROR(check_folder(folder));
    if (folder == folder.parent_path()) break;
  }
  RETURN_IF_ERROR(check_owner(program));
  if (!std::filesystem::is_regular_file(program, error) || ::access(program.c_str(), X_OK) != 0) {
    return fail(ErrorCode::refused, ErrorSource::config,
                program.string() + " is no program that this user may run");
  }
  return program;
}

bool may_connect(const std::string& agent, uid_t uid) {
  if (uid == 0) return true;
  if (agent.empty()) return false;
  // Looked up each time: a service's user may come and go with the service.
  return uid_of(agent) == uid;
}

}  // namespace rehearsal::agent
