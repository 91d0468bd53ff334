#pragma once

#include <utility>

#include "core/base/result.hpp"
#include "core/plan/settings.hpp"
#include "core/yaml/yaml.hpp"

namespace rehearsal::plan {

/// Reads `collectives` of a drill (docs/drill-format.md): the settings, and what they force where
/// nodes are known.
Result<std::pair<CollectiveSettings, ForcedChoices>> read_collectives(const yaml::Node& node);

}  // namespace rehearsal::plan
