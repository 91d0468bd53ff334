#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/base/result.hpp"
#include "core/fault/kernel_runner.hpp"
#include "core/plan/plan.hpp"

namespace rehearsal::plan {

// Faults of a plan that are operators' commands, run by the rehearsal-external of a host. The
// coordinator looks at what a host allows when it plans, each agent again when it gets the plan.

/// Why a host does not run the command of a fault.
struct ExternalRefusal {
  ErrorCode code = ErrorCode::refused;
  std::string key;    ///< of the drill's fault: "what.arguments"
  std::string what;   ///< what is wrong
  std::string right;  ///< what would be right
};
/// `host`: as its agent tells of it now.
std::optional<ExternalRefusal> host_refuses_command(const Inventory& host,
                                                    const fault::PlannedFault& fault);

/// All that a host's rehearsal-external is to be asked for in a run. Refused where the host, as it
/// is now, would not do it.
Result<std::vector<fault::KernelPart>> external_parts(const Plan& plan, HostIndex host,
                                                      const Inventory& now);

/// The longest that doing, or undoing, all commands of a plan may take on one host: they are run
/// one after the other.
Duration command_time(const Plan& plan);

}  // namespace rehearsal::plan
