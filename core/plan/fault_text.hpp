#pragma once

#include <vector>

#include "core/base/result.hpp"
#include "core/fault/fault.hpp"
#include "core/yaml/yaml.hpp"

namespace rehearsal::plan {

/// Reads `faults` of a drill (docs/drill-format.md).
Result<std::vector<fault::Fault>> read_faults(const yaml::Node& node);

}  // namespace rehearsal::plan
