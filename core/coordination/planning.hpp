#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/base/result.hpp"
#include "core/coordination/profile_shelf.hpp"
#include "core/plan/plan.hpp"

namespace rehearsal::coordination {

/// A plan and all that is made of it.
struct PlannedDrill {
  std::shared_ptr<const plan::Plan> plan;
  plan::Load load;
  std::string hash;
  std::string json;   ///< plan.json
  std::string table;  ///< for people
};

/// A drill as an operator sends it.
struct DrillRequest {
  struct NodeFile {
    std::string name;  ///< as in the drill
    std::string text;  ///< in any form that core/fabric reads
  };
  std::string text;
  std::string file;  ///< names it in errors
  std::vector<NodeFile> nodes;
};

/// Plans a drill on the agents that are here.
Result<PlannedDrill> plan_drill(const DrillRequest& request,
                                const std::vector<plan::Inventory>& inventories,
                                const Profiles& profiles);

}  // namespace rehearsal::coordination
