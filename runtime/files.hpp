#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>

#include "core/base/result.hpp"
#include "core/base/units.hpp"

namespace rehearsal::runtime {

/// The whole file; fails when it is missing, no plain file or over `size_max` (before reading it).
Result<std::string> read_file(const std::filesystem::path& path, Bytes size_max);

enum class Durability {
  visible,  ///< whole or absent to other processes
  durable,  ///< and still there after a power failure
};

/// Writes beside `path` and renames: readers see the old content or the new, never a part.
Result<void> write_file_atomically(const std::filesystem::path& path, std::string_view content,
                                   Durability durability = Durability::visible);

/// Tells whoever started the daemon where it listens: {"metrics":"127.0.0.1:40123", …} as a JSON
/// object in a file that appears whole. So port 0 works for tests and the demo.
Result<void> announce(const std::filesystem::path& path,
                      const std::map<std::string, std::string>& values);

}  // namespace rehearsal::runtime
