#include "core/plan/stages.hpp"

#include <algorithm>

namespace rehearsal::plan {

std::optional<FaultRange> planned_range(const fault::PlannedFault& fault,
                                        std::uint32_t iterations) {
  if (!fault.when.iteration) return std::nullopt;
  const std::uint32_t begin = std::min(*fault.when.iteration, iterations);
  const bool counted = fault.when.iterations != 0 && fault.what.kind != fault::Kind::crash;
  const std::uint32_t most = iterations - begin;
  return FaultRange{begin, begin + (counted ? std::min(fault.when.iterations, most) : most)};
}

std::vector<std::uint32_t> stage_edges(const Plan& plan) {
  std::optional<FaultRange> all;
  for (const fault::PlannedFault& fault : plan.faults) {
    const auto range = planned_range(fault, plan.iterations);
    if (!range) continue;
    if (!all) all = range;
    all->begin = std::min(all->begin, range->begin);
    all->end = std::max(all->end, range->end);
  }
  if (!all) return {};
  std::vector<std::uint32_t> edges;
  for (const std::uint32_t edge : {all->begin, all->end})
    if (edge > 0 && edge < plan.iterations && (edges.empty() || edge > edges.back()))
      edges.push_back(edge);
  return edges;
}

}  // namespace rehearsal::plan
