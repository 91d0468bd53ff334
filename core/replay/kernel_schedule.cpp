#include "core/replay/kernel_schedule.hpp"

#include "core/replay/schedule_entries.hpp"

namespace rehearsal::replay {
namespace {

bool is_kept(const fault::PlannedFault& fault) { return fault::is_kept(fault.mechanism); }

}  // namespace

KernelSchedule::KernelSchedule(const plan::Plan& plan, HostIndex host)
    : schedule_(schedule_entries(plan, host, is_kept)),
      taken_(schedule_.size(), fault::Schedule::kOff) {}

std::optional<KernelSchedule::Change> KernelSchedule::take_change() noexcept {
  for (std::size_t i = 0; i < taken_.size(); ++i) {
    if (schedule_.level(i) == taken_[i]) continue;
    taken_[i] = schedule_.level(i);
    return Change{schedule_.entry(i).fault, taken_[i], schedule_.ends_at(i)};
  }
  return std::nullopt;
}

}  // namespace rehearsal::replay
