#include "core/replay/kernel_schedule.hpp"

#include <algorithm>

namespace rehearsal::replay {
namespace {

std::vector<fault::Schedule::Entry> entries_of(const plan::Plan& plan, HostIndex host) {
  std::vector<fault::Schedule::Entry> entries;
  for (std::uint32_t i = 0; i < plan.faults.size(); ++i) {
    const fault::PlannedFault& fault = plan.faults[i];
    if (!fault::is_kept(fault.mechanism) ||
        std::ranges::find(fault.places, host, &fault::Place::host) == fault.places.end())
      continue;
    entries.push_back({.fault = i,
                       .when = fault.when,
                       .phase = fault.phase,
                       .levels = static_cast<std::uint32_t>(fault.what.levels.size()),
                       .job = fault.job});
  }
  return entries;
}

}  // namespace

KernelSchedule::KernelSchedule(const plan::Plan& plan, HostIndex host)
    : schedule_(entries_of(plan, host)), taken_(schedule_.size(), fault::Schedule::kOff) {}

std::optional<KernelSchedule::Change> KernelSchedule::take_change() noexcept {
  for (std::size_t i = 0; i < taken_.size(); ++i) {
    if (schedule_.level(i) == taken_[i]) continue;
    taken_[i] = schedule_.level(i);
    return Change{schedule_.entry(i).fault, taken_[i], schedule_.ends_at(i)};
  }
  return std::nullopt;
}

}  // namespace rehearsal::replay
