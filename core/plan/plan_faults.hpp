#pragma once

#include <string>
#include <vector>

#include "core/base/encoding.hpp"
#include "core/base/result.hpp"
#include "core/plan/plan.hpp"

namespace rehearsal::plan {

/// Makes a drill's faults concrete on a plan that has its hosts and jobs: names become places, what
/// is drawn is drawn by the drill's seed, and each gets a mechanism that can do it there. Refused,
/// with the path of the key: an unknown host, NIC, rank, communicator or phase; two faults that
/// could be on the same target at once; a fault that the run would never see; one that no mechanism
/// can do there, with the one that could.
Result<std::vector<fault::PlannedFault>> plan_faults(const Drill& drill, const Plan& plan);

// How planned faults stand in a plan's bytes.
void write_faults(Encoder& encoder, const std::vector<fault::PlannedFault>& faults);
/// Refuses what plan_faults could not have made of a plan with these hosts and jobs.
Result<std::vector<fault::PlannedFault>> read_faults(Decoder& decoder, const Plan& plan);

/// By whom a fault is done, and for which transports it is real.
std::string mechanism_text(const fault::PlannedFault& fault);
/// The section of a plan's table; empty: no faults.
std::string faults_table(const Plan& plan);

/// "h2 data0, received", "h1, rank 3 of job 'dlrm'": for people.
std::string describe(const Plan& plan, const fault::Place& place);

}  // namespace rehearsal::plan
