#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/plan_answer.hpp"
#include "core/plan/plan.hpp"

namespace rehearsal::cli {

struct DrillFile;

/// A plan made by this program.
struct LocalPlan {
  plan::Plan plan;
  plan::Load load;
};

/// Descriptions of the nodes that are files.
plan::Nodes nodes_of(const DrillFile& drill);

/// Plans `drill` on these hosts.
Result<LocalPlan> plan_here(const DrillFile& drill, const std::vector<plan::Inventory>& hosts);

/// Plans `drill` on the hosts that it names as if they were there; asks nobody.
Result<LocalPlan> plan_without_cluster(const DrillFile& drill);

/// Plans `drill` on the agents of the coordinator, and makes the coordinator's plan again here.
/// `protocol` if it does not come out the same (its hash differs), as between two versions.
Result<LocalPlan> plan_with_cluster(const DrillFile& drill, const std::string& coordinator);

/// The hosts of a plan.json, as agents reported them.
Result<std::vector<plan::Inventory>> inventories_of(std::string_view plan_json);

}  // namespace rehearsal::cli
