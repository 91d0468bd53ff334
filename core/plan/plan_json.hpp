#pragma once

#include <cstddef>
#include <string>

#include "core/plan/plan.hpp"

namespace rehearsal::plan {

inline constexpr int kPlanSchemaVersion = 1;
/// More flows than this are counted in plan.json, not listed.
inline constexpr std::size_t kFlowsListedMax = 65'536;

/// The run folder's plan.json, described in docs/plan-json.md. Names carry their units; one line of
/// text per list element, "\n" at the end.
std::string plan_json(const Plan& plan, const Load& load);

}  // namespace rehearsal::plan
