#pragma once

#include <string_view>

#include "core/base/result.hpp"
#include "core/plan/settings.hpp"
#include "core/yaml/yaml.hpp"

namespace rehearsal::plan {

/// Whether `name` is a variable of NCCL that says how queue pairs are made: NCCL_IB_…, each one of
/// our settings of `transport`. They mean the same on any node.
bool is_queue_pair_variable(std::string_view name);

/// Takes those that a drill names under `collectives.nccl` into `transport`. Fails where the
/// drill's transport has no queue pairs, where it says something else by its own key, and for a
/// value that is none.
Result<void> take_queue_pair_variables(const yaml::Mapping& drill, TransportSettings& transport);

}  // namespace rehearsal::plan
