#pragma once

#include <sys/un.h>

#include <filesystem>

#include "core/base/result.hpp"

namespace rehearsal::agent {

/// The address of a local socket (unix(7)); refused: no path, or one too long for it.
Result<sockaddr_un> local_address(const std::filesystem::path& path);

}  // namespace rehearsal::agent
