#pragma once

#include <string>

#include "core/plan/plan.hpp"

namespace rehearsal::plan {

/// Why the ops of a plan are done as they are, for people: for each that differs what was picked,
/// the model's time of every candidate, and why one is not allowed. `drill` and `nodes` are those
/// that the plan was made of.
std::string explain(const Plan& plan, const Drill& drill, const Nodes& nodes);

}  // namespace rehearsal::plan
