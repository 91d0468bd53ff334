#pragma once

#include <cstdint>
#include <vector>

#include "core/base/result.hpp"
#include "core/plan/plan.hpp"

namespace rehearsal::plan {

/// Instances of collectives and messages that one agent may measure in a run: it keeps a cell of 24
/// B for each until the end, and then hands them in within CoordinatorOptions::results_bytes_max.
inline constexpr std::uint64_t kInstancesPerHostMax = 2'000'000;

/// Instances that each host's agent measures in one iteration, by HostIndex: a collective counts
/// once for all ranks of the host that take part, a send or recv once for each.
std::vector<std::uint64_t> instances_per_iteration(const Plan& plan);

/// Refuses a run of more iterations than an agent can keep measurements of, and says how many fit.
Result<void> check_instances(const Plan& plan);

}  // namespace rehearsal::plan
