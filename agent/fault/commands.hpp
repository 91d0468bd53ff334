#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/fault/helper_messages.hpp"

namespace rehearsal::agent {

/// How commands about faults end.
inline constexpr int kExitClean = 0;
inline constexpr int kExitConflict = 1;  ///< somebody else changed what a fault had changed
inline constexpr int kExitStuck = 2;     ///< something could not be undone

/// A program of this host that keeps faults, as these commands look for it.
struct KeeperPlace {
  std::string program;  ///< its name
  std::filesystem::path socket;
  /// Its folder: where there is one, the program has been at work here.
  std::filesystem::path state;
  bool is_wanted = false;  ///< somebody named its socket: it must be there
  Duration greeting_patience = fault::kGreetingPatience;
};

/// Prints each fault and how it ended; the exit code.
int print_undone(const fault::UndoneReply& reply);

/// `rehearsal-agent faults undo`, `list` and `clear`: by the programs of this host that keep
/// faults, without the coordinator. The worst of their exit codes: STUCK, CONFLICT, then 69 where
/// one cannot be reached. One that is not there is named; it is 69 too, unless it is not installed
/// here and another is. `places`: at least one.
int undo_faults(const std::vector<KeeperPlace>& places);
int list_faults(const std::vector<KeeperPlace>& places);
int clear_faults(const std::vector<KeeperPlace>& places, bool accept_stuck);

}  // namespace rehearsal::agent
