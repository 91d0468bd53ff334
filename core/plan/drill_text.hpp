#pragma once

#include <string>
#include <string_view>

#include "core/base/result.hpp"
#include "core/plan/drill.hpp"

namespace rehearsal::plan {

/// Reads a drill as people write it (docs/drill-format.md). Every failure names file, line, column
/// and key, and what would be right. `file_name` is only for messages.
Result<Drill> parse_drill(std::string_view text, std::string file_name);

}  // namespace rehearsal::plan
