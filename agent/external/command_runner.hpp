#pragma once

#include <filesystem>

#include "agent/external/command_process.hpp"
#include "agent/external/external_policy_file.hpp"
#include "core/fault/ports.hpp"

namespace rehearsal::agent {

/// Runs operators' commands as the host's policy says: which program, and for how long. The policy
/// and who owns the program are looked at each time; what a command did before the policy forgot it
/// cannot be undone, and that is STUCK.
///
/// The contract of a command (docs/operations.md): called as `PROGRAM apply|undo|check
/// --NAME=VALUE …`. `check` ends with 0 and prints, as the first line of its standard output,
/// `applied`, `clear` or `changed` (by somebody else: neither of the two). `apply` and `undo` end
/// with 0 when it is done; `undo` also when there is nothing to undo.
class CommandRunner final : public fault::CommandPort {
 public:
  /// `folder` is the runner's own, that of its journal.
  CommandRunner(std::filesystem::path policy, std::filesystem::path folder)
      : policy_(std::move(policy)), folder_(std::move(folder)) {}

  Result<fault::Finding> check(const fault::ExternalCall& call) override;
  Result<void> run(const fault::RunCommand& act) override;

 private:
  /// What it printed, when it ended with 0.
  Result<CommandResult> ended(fault::Verb verb, const fault::ExternalCall& call);

  std::filesystem::path policy_;
  std::filesystem::path folder_;
};

}  // namespace rehearsal::agent
