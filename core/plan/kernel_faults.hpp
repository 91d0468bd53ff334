#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/base/result.hpp"
#include "core/fault/kernel_runner.hpp"
#include "core/plan/plan.hpp"

namespace rehearsal::plan {

// Faults of a plan that the kernels of its hosts do: what their helpers are asked for, and whether
// they may be. The coordinator looks at it when it plans, each agent again when it gets the plan.

/// Why a fault cannot be done by the kernel of a host.
struct KernelRefusal {
  ErrorCode code = ErrorCode::unsupported;
  std::string key;    ///< of the drill's fault: "where.direction"
  std::string what;   ///< what is wrong
  std::string right;  ///< what would be right, and who else could do it
};

/// What the kernel can do of this fault there, whatever the host allows: whole interfaces, not
/// single messages; what an interface sends, not what it receives.
std::optional<KernelRefusal> kernel_cannot(const Plan& plan, const fault::PlannedFault& fault,
                                           const fault::Place& place);

/// Whether the host offers it: a helper, its policy, no interface that is protected. `host`: as its
/// agent tells of it now. `place` has a NIC.
std::optional<KernelRefusal> host_refuses(const Inventory& host, const fault::PlannedFault& fault,
                                          const fault::Place& place);

/// What the helper is asked for at a place, one a level. `place` has a NIC of `host`.
std::vector<fault::KernelFault> kernel_levels(const fault::PlannedFault& fault, fault::Side side,
                                              const Nic& nic);

/// All that a host's helper is to be asked for in a run. Refused where the host, as it is now,
/// would not do it.
Result<std::vector<fault::KernelPart>> kernel_parts(const Plan& plan, HostIndex host,
                                                    const Inventory& now);

}  // namespace rehearsal::plan
