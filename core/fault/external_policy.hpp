#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.hpp"
#include "core/base/time.hpp"
#include "core/fault/external_command.hpp"
#include "core/fault/host_policy.hpp"

namespace rehearsal::fault {

/// How long each verb of a command may take; then its processes are killed.
struct CommandLimits {
  Duration check = std::chrono::seconds{2};
  Duration apply = std::chrono::seconds{2};
  Duration undo = std::chrono::seconds{2};
  bool operator==(const CommandLimits&) const = default;

  Duration of(Verb verb) const;
};

/// A command as its host's owner allows it.
struct AllowedCommand {
  ExternalCommand told;    ///< what others may know
  std::string executable;  ///< absolute path
  CommandLimits limits;
  bool operator==(const AllowedCommand&) const = default;
};

/// What the owner of a host lets others run. Whoever asks cannot widen it: without a policy, and
/// for whatever it does not name, nothing is run.
struct ExternalPolicy {
  std::string agent;  ///< user name or uid that may ask; empty: only root
  std::vector<AllowedCommand> commands;
  bool test_stops = false;  ///< the tests' stops may be switched on by the environment
  bool operator==(const ExternalPolicy&) const = default;

  const AllowedCommand* find(std::string_view name) const;
};

/// The policy file (docs/operations.md); errors name file, line and key.
Result<ExternalPolicy> read_external_policy(std::string_view text, std::string file_name);

/// Whether the policy allows what is asked: the fault as it is to be done, with its arguments in
/// the command's order. Refused with the reason otherwise.
Result<KernelFault> decide(const ExternalPolicy& policy, const FaultRequest& request);

}  // namespace rehearsal::fault
