#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/plan/plan.hpp"

namespace rehearsal::plan {

/// Iterations [begin, end) in which faults act.
struct FaultRange {
  std::uint32_t begin = 0;
  std::uint32_t end = 0;

  bool operator==(const FaultRange&) const = default;
};

/// What the plan alone says of a fault's iterations; nothing: it begins by time. One that ends by
/// time, or ends the run, goes on to the end of the run here.
std::optional<FaultRange> planned_range(const fault::PlannedFault& fault, std::uint32_t iterations);

/// Iterations of a run at which one of its stages ends, as far as the plan knows them; ascending.
/// What is measured is cut there, so that before, during and after are apart.
std::vector<std::uint32_t> stage_edges(const Plan& plan);

}  // namespace rehearsal::plan
