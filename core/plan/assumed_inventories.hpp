#pragma once

#include <vector>

#include "core/plan/plan.hpp"

namespace rehearsal::plan {

/// NICs that a host is taken to have where nothing says how many.
inline constexpr std::uint32_t kNicsAssumedMax = 8;

/// The hosts of a drill before they exist, for planning without a cluster: the NICs that the drill
/// names, else a NIC for each rank of the host up to kNicsAssumedMax, called rail0, rail1 …. They
/// have no addresses and no known line rates. `ranks` by the name of the profile.
std::vector<Inventory> assumed_inventories(const Drill& drill,
                                           const std::map<std::string, std::uint32_t>& ranks);

}  // namespace rehearsal::plan
