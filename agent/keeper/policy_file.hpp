#pragma once

#include <sys/types.h>

#include <filesystem>

#include "core/base/result.hpp"
#include "core/fault/host_policy.hpp"

namespace rehearsal::agent {

/// The host's policy. Refused unless file and folder belong to root and nobody else can write them:
/// whoever could, would decide what is allowed.
Result<fault::HostPolicy> read_policy_file(const std::filesystem::path& path);

/// Whether a process of `uid` may talk to the helper: root, or the policy's agent (a user's name,
/// or a number).
bool may_connect(const fault::HostPolicy& policy, uid_t uid);

}  // namespace rehearsal::agent
