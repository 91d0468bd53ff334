#include "core/coordination/planning.hpp"

#include <utility>

#include "core/fabric/read.hpp"
#include "core/plan/drill_text.hpp"
#include "core/plan/plan_json.hpp"
#include "core/plan/plan_table.hpp"

namespace rehearsal::coordination {

Result<PlannedDrill> plan_drill(const DrillRequest& request,
                                const std::vector<plan::Inventory>& inventories,
                                const Profiles& profiles) {
  ASSIGN_OR_RETURN(const plan::Drill drill, plan::parse_drill(request.text, request.file));
  plan::Nodes nodes;
  for (const DrillRequest::NodeFile& node : request.nodes) {
    ASSIGN_OR_RETURN(nodes[node.name], fabric::read_node(node.text, node.name));
  }
  Result<plan::Plan> made = plan::make_plan(drill, inventories, profiles, nodes);
  if (!made) return Failure{made.error().within(request.file)};
  PlannedDrill planned;
  planned.plan = std::make_shared<const plan::Plan>(std::move(*made));
  planned.load = plan::expand_load(*planned.plan);
  planned.hash = plan::plan_hash(*planned.plan);
  planned.json = plan::plan_json(*planned.plan, planned.load);
  planned.table = plan::plan_table(*planned.plan, planned.load);
  return planned;
}

}  // namespace rehearsal::coordination
