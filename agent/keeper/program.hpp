#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "agent/keeper/server_policy.hpp"
#include "core/base/result.hpp"
#include "core/fault/ports.hpp"

namespace rehearsal::agent {

struct KeeperOptions {
  std::filesystem::path policy;
  std::filesystem::path state;
  std::filesystem::path socket;
};

/// What a program that keeps faults does them to, and what it allows.
struct KeeperParts {
  fault::KernelPort& kernel;
  fault::CommandPort* commands = nullptr;
  ServerPolicy& policy;
};
/// Made only where faults are kept: to look at a policy needs nothing of it.
using MakeParts = std::function<Result<KeeperParts>(const KeeperOptions&)>;

/// Replays the journal, then takes requests until SIGTERM; then undoes everything.
Result<void> keep_faults(const KeeperOptions& options, const KeeperParts& parts);

/// Undoes all faults, by the program that runs or else from its journal, and prints how each ended.
/// The exit code of agent/fault/commands.hpp. Root becomes the owner of the state's folder first,
/// for good: what it wrote there the owner could not read, and a command would run with its rights.
Result<int> undo_all(const KeeperOptions& options, const KeeperParts& parts, bool accept_stuck);

/// How the program is called, and where its files are.
struct KeeperFlags {
  std::string name;
  std::string version;
  std::string description;
  KeeperOptions options;
  bool undo_all = false;
  bool accept_stuck = false;
  bool check = false;
};

/// Reads the command line; an exit code where there is nothing more to do.
std::optional<int> read_flags(int argc, char** argv, KeeperFlags& flags);
/// Does what the flags say; the exit code.
int run_keeper(const KeeperFlags& flags, ServerPolicy& policy, const MakeParts& make_parts);
int complain(const KeeperFlags& flags, const Error& error);

}  // namespace rehearsal::agent
