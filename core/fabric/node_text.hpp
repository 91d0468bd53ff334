#pragma once

#include <string>
#include <string_view>

#include "core/base/result.hpp"
#include "core/fabric/node.hpp"

namespace rehearsal::fabric {

/// Reads our own YAML (docs/node-format.md), strictly: every failure names file, line, column and
/// key, and what would be right.
Result<Node> read_node_text(std::string_view text, const std::string& name);

}  // namespace rehearsal::fabric
