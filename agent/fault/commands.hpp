#pragma once

#include <filesystem>

#include "core/fault/helper_messages.hpp"

namespace rehearsal::agent {

/// How commands about faults end.
inline constexpr int kExitClean = 0;
inline constexpr int kExitConflict = 1;  ///< somebody else changed what a fault had changed
inline constexpr int kExitStuck = 2;     ///< something could not be undone

/// Prints each fault and how it ended; the exit code.
int print_undone(const fault::UndoneReply& reply);

/// `rehearsal-agent faults undo`, `list` and `clear`: by the helper of this host, without the
/// coordinator. 69 where it cannot be reached.
int undo_faults(const std::filesystem::path& socket_path);
int list_faults(const std::filesystem::path& socket_path);
int clear_faults(const std::filesystem::path& socket_path, bool accept_stuck);

}  // namespace rehearsal::agent
