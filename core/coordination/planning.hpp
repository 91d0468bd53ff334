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

/// Plans a drill on the agents that are here. `file` names it in errors.
Result<PlannedDrill> plan_drill(const std::string& text, const std::string& file,
                                const std::vector<plan::Inventory>& inventories,
                                const Profiles& profiles);

}  // namespace rehearsal::coordination
