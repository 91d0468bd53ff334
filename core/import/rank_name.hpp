#pragma once

#include <optional>
#include <string_view>

#include "core/base/ids.hpp"

namespace rehearsal::importer {

/// The rank in the name of a capture file: `rank-3.json`, `rank3…`, `worker3_step…`,
/// `dlrm_eg_3.json`, `all_reduce.3.et`. None if the name has no such number.
std::optional<Rank> rank_in_name(std::string_view file);

}  // namespace rehearsal::importer
