#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>

#include "core/base/result.hpp"

namespace rehearsal::agent {

/// The text of a policy. Refused unless file and folder belong to root and nobody else can write
/// them: whoever could, would decide what is allowed. too_large over 64 KiB.
Result<std::string> read_trusted_file(const std::filesystem::path& path);

/// The program that a path leads to, without symbolic links. Refused unless it is a regular file
/// that this process may execute, and it, every link and every folder on the way to it belong to
/// root and nobody else can write them (or, of a folder, replace what is in it).
Result<std::filesystem::path> trusted_program(const std::filesystem::path& path);

/// Whether a process of `uid` may ask a program that keeps faults: root, or the policy's agent (a
/// user's name, or a number; empty: nobody).
bool may_connect(const std::string& agent, uid_t uid);

}  // namespace rehearsal::agent
