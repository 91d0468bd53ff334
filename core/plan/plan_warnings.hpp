#pragma once

#include <string>
#include <vector>

#include "core/plan/plan.hpp"

namespace rehearsal::plan {

/// What an operator should know before a plan is run, a sentence each: that it cannot be run as it
/// is, or will not show what it seems to.
std::vector<std::string> plan_warnings(const Plan& plan, const Load& load);

}  // namespace rehearsal::plan
