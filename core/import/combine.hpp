#pragma once

#include <vector>

#include "core/base/result.hpp"
#include "core/import/execution_trace.hpp"
#include "core/import/kineto.hpp"
#include "core/profile/profile.hpp"

namespace rehearsal::importer {

/// Joins Kineto and execution traces (either may be empty, not both) to a profile without name and
/// sources. They are matched per rank by the order of the collectives; where they disagree the
/// error names the rank, the number of the op and both sides.
Result<profile::Profile> combine_pytorch(std::vector<KinetoIteration> kineto,
                                         std::vector<ExecutionTrace> execution_traces);

}  // namespace rehearsal::importer
