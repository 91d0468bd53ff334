#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace rehearsal::agent {

// How the kernel tells of devices (sysfs(5)): files of a line, folders of names.

/// Empty: it has none, is not there or may not be read.
std::string first_line(const std::filesystem::path& path);
/// Ascending; empty as above.
std::vector<std::string> names_in(const std::filesystem::path& folder);

}  // namespace rehearsal::agent
