#include "agent/keeper/state_owner.hpp"

#include <grp.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string>

namespace rehearsal::agent {
namespace {

Failure failed(uid_t user) {
  const int error = errno;
  return system_failure(ErrorSource::host, "cannot act as user " + std::to_string(user), error);
}

}  // namespace

std::optional<StateOwner> other_owner(const std::filesystem::path& folder) {
  struct stat found {};
  if (::geteuid() != 0 || ::stat(folder.c_str(), &found) != 0 || found.st_uid == 0)
    return std::nullopt;
  return StateOwner{.user = found.st_uid, .group = found.st_gid};
}

Result<void> act_as(const StateOwner& owner) {
  if (::setgroups(1, &owner.group) == 0 && ::setegid(owner.group) == 0 &&
      ::seteuid(owner.user) == 0)
    return {};
  return failed(owner.user);
}

Result<void> act_as_root() {
  if (::seteuid(0) == 0 && ::setegid(0) == 0) return {};
  return failed(0);
}

Result<void> become(const StateOwner& owner) {
  if (::setresgid(owner.group, owner.group, owner.group) == 0 &&
      ::setresuid(owner.user, owner.user, owner.user) == 0)
    return {};
  return failed(owner.user);
}

}  // namespace rehearsal::agent
