#pragma once

#include <string>

#include "core/plan/plan.hpp"

namespace rehearsal::plan {

/// What `rehearse plan` prints: the plan for a person, lines of at most kTableWidthMax.
std::string plan_table(const Plan& plan, const Load& load);

}  // namespace rehearsal::plan
