#pragma once

#include <string>
#include <vector>

#include "core/plan/plan.hpp"

namespace rehearsal::plan {

/// Makes the flows of a fault of traffic out of the hosts (and NICs, where they are named) it is
/// aimed at: a place for each, with NIC, direction and peer. Where no NIC is named it is each that
/// the drill's ranks use, and where no peer is, every other host of the drill. `path` is that of
/// the fault, for errors.
Result<std::vector<fault::Place>> aim_traffic(const Plan& plan, const fault::Fault& fault,
                                              const std::vector<fault::Place>& aims,
                                              const std::string& path);

/// Refuses what aim_traffic() could not have made for this plan.
Result<void> check_traffic(const Plan& plan, const fault::PlannedFault& fault);

/// Refuses shares of a rate that is not known, and hosts that would not know when it is on because
/// no rank of the job whose iterations count stands there.
Result<void> check_pace(const Plan& plan, const fault::PlannedFault& fault,
                        const std::string& path);

}  // namespace rehearsal::plan
