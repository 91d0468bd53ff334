#pragma once

#include <filesystem>

#include "core/base/result.hpp"

namespace rehearsal::agent {

struct HelperOptions {
  std::filesystem::path policy = "/etc/rehearsal/helper-policy.yaml";
  std::filesystem::path state = "/var/lib/rehearsal-helper";
  std::filesystem::path socket = "/run/rehearsal-helper/socket";
};

/// The helper: replays its journal, then takes requests until SIGTERM; then undoes everything.
Result<void> run_helper(const HelperOptions& options);

/// Undoes all faults of this host, by the helper that runs or else from its journal, and prints how
/// each ended. The exit code of agent/fault/commands.hpp.
Result<int> undo_all(const HelperOptions& options, bool accept_stuck);

}  // namespace rehearsal::agent
