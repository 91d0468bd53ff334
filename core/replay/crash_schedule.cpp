#include "core/replay/crash_schedule.hpp"

#include <algorithm>

namespace rehearsal::replay {

fault::Schedule crash_schedule(const plan::Plan& plan, HostIndex host) {
  std::vector<fault::Schedule::Entry> entries;
  for (std::uint32_t i = 0; i < plan.faults.size(); ++i) {
    const fault::PlannedFault& fault = plan.faults[i];
    if (fault.what.kind != fault::Kind::crash ||
        std::ranges::find(fault.places, host, &fault::Place::host) == fault.places.end())
      continue;
    entries.push_back({.fault = i, .when = fault.when, .phase = fault.phase, .job = fault.job});
  }
  return fault::Schedule(std::move(entries));
}

}  // namespace rehearsal::replay
