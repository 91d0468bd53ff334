#include "agent/keeper/trusted_file.hpp"

#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <charconv>
#include <deque>
#include <optional>
#include <vector>

#include "runtime/files.hpp"

namespace rehearsal::agent {
namespace {

constexpr Bytes kPolicyBytesMax{64 * 1024};
constexpr int kLinksMax = 16;
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

/// Where a path leads, one name after the other: who could write a folder on the way, or owned a
/// link, could lead it elsewhere.
Result<std::filesystem::path> follow(const std::filesystem::path& path) {
  std::filesystem::path at = "/";
  std::deque<std::filesystem::path> names(path.begin(), path.end());
  int links = 0;
  while (!names.empty()) {
    const std::filesystem::path name = std::move(names.front());
    names.pop_front();
    if (name.is_absolute()) at = "/";
    if (name == "..") at = at.parent_path();
    if (name.empty() || name.is_absolute() || name == "." || name == "..") continue;
    RETURN_IF_ERROR(check_folder(at));
    const std::filesystem::path next = at / name;
    struct stat status {};
    if (::lstat(next.c_str(), &status) != 0) {
      return system_failure(ErrorSource::config, "cannot run " + next.string(), errno);
    }
    if (!S_ISLNK(status.st_mode)) {
      at = next;
      continue;
    }
    std::error_code error;
    const auto target = std::filesystem::read_symlink(next, error);
    if (error || ++links > kLinksMax || status.st_uid != 0) {
      return fail(ErrorCode::refused, ErrorSource::config,
                  next.string() + " is a link that is not followed: it must belong to root");
    }
    names.insert(names.begin(), target.begin(), target.end());
  }
  return at;
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
  ASSIGN_OR_RETURN(const std::filesystem::path program, follow(path));
  RETURN_IF_ERROR(check_owner(program));
  std::error_code error;
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
