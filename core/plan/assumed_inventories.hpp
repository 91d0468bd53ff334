#pragma once

#include <vector>

#include "core/plan/plan.hpp"

namespace rehearsal::plan {

/// NICs that a host is taken to have where nothing says how many.
inline constexpr std::uint32_t kNicsAssumedMax = 8;

/// The hosts of a drill before they exist, for planning without a cluster: the NICs that the drill
/// names; else one for each rail of the job's node; else one for each rank of the host up to
/// kNicsAssumedMax. Called rail0, rail1 …, without addresses, of the node's line rates or unknown
/// ones, and with helpers that allow all. `ranks` by the name of the profile. A node that is not
/// known is left to make_plan to refuse.
std::vector<Inventory> assumed_inventories(const Drill& drill,
                                           const std::map<std::string, std::uint32_t>& ranks,
                                           const Nodes& nodes = {});

}  // namespace rehearsal::plan
