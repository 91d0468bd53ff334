#pragma once

#include <filesystem>
#include <vector>

#include "core/fault/helper_messages.hpp"

namespace rehearsal::agent {

/// How commands about faults end.
inline constexpr int kExitClean = 0;
inline constexpr int kExitConflict = 1;  ///< somebody else changed what a fault had changed
inline constexpr int kExitStuck = 2;     ///< something could not be undone

/// Prints each fault and how it ended; the exit code.
int print_undone(const fault::UndoneReply& reply);

/// `rehearsal-agent faults undo`, `list` and `clear`: by the programs of this host that keep
/// faults, those of them that are there, without the coordinator. The worst of their exit codes; 69
/// where one cannot be reached, or none is there. `sockets`: at least one.
int undo_faults(const std::vector<std::filesystem::path>& sockets);
int list_faults(const std::vector<std::filesystem::path>& sockets);
int clear_faults(const std::vector<std::filesystem::path>& sockets, bool accept_stuck);

}  // namespace rehearsal::agent
