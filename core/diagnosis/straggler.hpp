#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "core/diagnosis/suspect.hpp"

namespace rehearsal::diagnosis {

/// Ranks that compute for longer than planned, beyond what all ranks do, by an amount that an
/// iteration feels; of a host whose ranks all do, the host. Looks at `windows` of the run.
std::vector<Suspect> find_stragglers(const Observations& observations,
                                     std::span<const std::size_t> windows);

}  // namespace rehearsal::diagnosis
