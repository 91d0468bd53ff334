#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/plan/plan.hpp"

namespace rehearsal::plan {

/// A flow of background traffic: what a fault (incast, background) makes one NIC send to another
/// while it is on. Beside the jobs: it has connections of its own and is counted apart.
struct BackgroundFlow {
  std::uint32_t fault = 0;  ///< index in the plan
  Binding source;
  Binding destination;
  /// The NIC that the fault's rate is the rate of: of an incast each source's, of a background the
  /// one it is aimed at. The fault's flows that share it, this one included, have equal parts.
  Binding shared;
  std::uint32_t sharers = 1;
};

/// More flows than this are refused.
inline constexpr std::size_t kBackgroundFlowsMax = 65'536;

/// All of the plan's, by fault and in the order of its places.
std::vector<BackgroundFlow> background_flows(const Plan& plan);
/// The flow that a place of a fault of traffic stands for; `fault` and `sharers` are left as they
/// are.
BackgroundFlow flow_of(const Plan& plan, const fault::Place& place, fault::Kind kind);

/// What a flow carries at a level of its fault, messages' bytes; zero: as fast as it goes.
BitRate rate_of(const Plan& plan, const BackgroundFlow& flow, std::uint32_t level);

/// Who the flow's connection is: use `background`; `job` counts the plan's faults, source and
/// destination its hosts, and the channel stands for the NICs at both ends.
ConnectionKey key_of(const BackgroundFlow& flow);

/// The hosts at the ends of a connection of any use; nothing: the plan can have none of this key.
struct HostEnds {
  HostIndex source;
  HostIndex destination;
};
std::optional<HostEnds> host_ends(const Plan& plan, const ConnectionKey& key);

/// Adds to a load what the plan's background traffic is.
void add_background(const Plan& plan, Load& load);

/// The NIC of `host` that takes what comes from or goes to `nic` of `other`: the one of that name,
/// else the one of that index, counted round.
NicIndex same_rail(const Plan& plan, HostIndex other, NicIndex nic, HostIndex host);

}  // namespace rehearsal::plan
