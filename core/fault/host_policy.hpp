#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.hpp"
#include "core/base/time.hpp"
#include "core/fault/interface_state.hpp"
#include "core/fault/kernel_fault.hpp"

namespace rehearsal::fault {

/// What the owner of a host allows others to do to its network. Whoever asks cannot widen it:
/// without a policy, and for whatever it does not name, nothing is allowed.
struct HostPolicy {
  std::string agent;                            ///< user name or uid that may ask; empty: only root
  std::vector<FaultKind> faults;                ///< allowed kinds
  std::vector<std::string> interfaces;          ///< allowed interfaces, exact names
  std::vector<std::string> control_interfaces;  ///< never, whatever `interfaces` says
  Duration duration_max{};
  bool test_stops = false;  ///< the tests' stops may be switched on by the environment
  bool operator==(const HostPolicy&) const = default;
};

/// The policy file (docs/operations.md); errors name file, line and key.
Result<HostPolicy> read_host_policy(std::string_view text, std::string file_name);

/// What is asked for.
struct FaultRequest {
  KernelFault fault;
  Duration lease{};     ///< undone when nobody renews it for this long
  Duration duration{};  ///< undone after this long in any case
  bool operator==(const FaultRequest&) const = default;
};

/// Whether lease and duration are within their limits; refused otherwise.
Result<void> check_times(const FaultRequest& request, Duration duration_max);

/// Whether the policy allows what is asked, on a host with these interfaces. Refused with the
/// reason otherwise; not_found for an interface that is not there. Returns the interface's index.
Result<std::uint32_t> decide(const HostPolicy& policy, const FaultRequest& request,
                             const LinkTable& table);

}  // namespace rehearsal::fault
