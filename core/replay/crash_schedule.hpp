#pragma once

#include "core/fault/schedule.hpp"
#include "core/plan/plan.hpp"

namespace rehearsal::replay {

/// When faults of the plan crash the agent of `host`: at once, when an entry is on.
fault::Schedule crash_schedule(const plan::Plan& plan, HostIndex host);

}  // namespace rehearsal::replay
