#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "core/fault/schedule.hpp"
#include "core/plan/plan.hpp"

namespace rehearsal::replay {

/// A fault of the plan as an entry of a schedule.
fault::Schedule::Entry schedule_entry(const plan::Plan& plan, std::uint32_t fault);

/// Entries of the plan's faults that have a place on `host` and are `wanted`, in the plan's order.
std::vector<fault::Schedule::Entry> schedule_entries(
    const plan::Plan& plan, HostIndex host,
    const std::function<bool(const fault::PlannedFault&)>& wanted);

}  // namespace rehearsal::replay
