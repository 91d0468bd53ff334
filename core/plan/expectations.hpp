#pragma once

#include <string>

#include "core/base/result.hpp"
#include "core/plan/plan.hpp"

namespace rehearsal::plan {

/// Metrics that compare stages with one another, so that they need faults to have any.
bool needs_stages(const Expectation& expectation);

/// Whether a suspect of a report could be what this fault did: not of one that ends the run at
/// once, which slows nothing before, nor of an operator's command, whose place is not known.
bool can_be_found(const fault::PlannedFault& fault);

/// Refuses, with the path of the key, an expectation that could never be judged in this plan: of a
/// collective that no job issues, of stages where there are no faults, of what is before a fault
/// that begins with the run, of what comes after one that ends with it, of a fault that is not
/// there.
Result<void> check_expectations(const Plan& plan);

/// "iteration_p50 during at most 200% of before": for people.
std::string describe(const Expectation& expectation);

}  // namespace rehearsal::plan
