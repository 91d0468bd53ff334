#include "core/replay/schedule_entries.hpp"

#include <algorithm>

namespace rehearsal::replay {

fault::Schedule::Entry schedule_entry(const plan::Plan& plan, std::uint32_t fault) {
  const fault::PlannedFault& planned = plan.faults[fault];
  return {.fault = fault,
          .when = planned.when,
          .phase = planned.phase,
          .levels = static_cast<std::uint32_t>(planned.what.levels.size()),
          .job = planned.job};
}

std::vector<fault::Schedule::Entry> schedule_entries(
    const plan::Plan& plan, HostIndex host,
    const std::function<bool(const fault::PlannedFault&)>& wanted) {
  std::vector<fault::Schedule::Entry> entries;
  for (std::uint32_t i = 0; i < plan.faults.size(); ++i) {
    const fault::PlannedFault& fault = plan.faults[i];
    const bool is_here =
        std::ranges::find(fault.places, host, &fault::Place::host) != fault.places.end();
    if (is_here && wanted(fault)) entries.push_back(schedule_entry(plan, i));
  }
  return entries;
}

}  // namespace rehearsal::replay
