#pragma once

#include <optional>
#include <span>
#include <vector>

#include "core/diagnosis/suspect.hpp"
#include "core/plan/plan.hpp"
#include "core/report/fault_summary.hpp"
#include "core/report/summary.hpp"

namespace rehearsal::report {

/// Whether a suspect is what one of the fault's places would look like: the same NIC, host or rank
/// in a direction that it acts in, or the only flow of that NIC. For a fault of one flow: that
/// flow.
bool names(const plan::Plan& plan, const fault::PlannedFault& fault,
           const diagnosis::Suspect& suspect);

/// Looks for the plan's faults among the suspects, which were named from measurements alone, and
/// says so in `faults` (one for each of the plan's). Nothing: nothing was measured.
void find_faults(const plan::Plan& plan,
                 const std::optional<std::vector<diagnosis::Suspect>>& suspects,
                 const std::optional<std::vector<SuspectSummary>>& in_names,
                 std::vector<FaultSummary>& faults);

}  // namespace rehearsal::report
