#pragma once

#include <vector>

#include "core/base/result.hpp"
#include "core/import/rank_communication.hpp"
#include "core/profile/profile.hpp"

namespace rehearsal::importer {

/// One collective of the job: what all ranks agree on, as an op without stream, phase and `after`.
/// Fills profile.peer_bytes where there are splits.
///
/// Ranks must agree in kind and size, and what i sends to j must be what j receives from i; else
/// the error names the op, both ranks and both sides. `ranks` are all ranks in order, `number` the
/// collective.
Result<profile::Op> agree(const std::vector<RankCommunication>& ranks, std::size_t number,
                          profile::Profile& profile);

}  // namespace rehearsal::importer
