#include "agent/keeper/policy_file.hpp"

#include <pwd.h>
#include <sys/stat.h>

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

Result<fault::HostPolicy> read_policy_file(const std::filesystem::path& path) {
  const std::filesystem::path whole = std::filesystem::absolute(path);
  RETURN_IF_ERROR(check_owner(whole.parent_path()));
  RETURN_IF_ERROR(check_owner(whole));
  ASSIGN_OR_RETURN(const std::string text, runtime::read_file(whole, kPolicyBytesMax));
  return fault::read_host_policy(text, path.string());
}

bool may_connect(const fault::HostPolicy& policy, uid_t uid) {
  if (uid == 0) return true;
  if (policy.agent.empty()) return false;
  // Looked up each time: a service's user may come and go with the service.
  return uid_of(policy.agent) == uid;
}

}  // namespace rehearsal::agent
