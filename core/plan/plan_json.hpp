#pragma once

#include <string>

#include "core/plan/plan.hpp"

namespace rehearsal::plan {

inline constexpr int kPlanSchemaVersion = 1;

/// The run folder's plan.json, described in docs/plan-json.md. Names carry their units; one line of
/// text per list element, "\n" at the end.
std::string plan_json(const Plan& plan, const Load& load);

}  // namespace rehearsal::plan
