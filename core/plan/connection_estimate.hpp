#pragma once

#include <cstdint>
#include <vector>

#include "core/plan/plan.hpp"

namespace rehearsal::plan {

/// Refuses to run a plan of which a host would hold more than kConnectionsPerHostMax.
Result<void> check_connections(const Plan& plan);

/// At most how many connections each host of the plan is an end of, without listing them; local
/// ones left out where that is cheap. For refusing a plan before anything of its size is made.
std::vector<std::uint64_t> connections_per_host_most(const Plan& plan);

}  // namespace rehearsal::plan
