#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/import/kineto.hpp"
#include "core/profile/op.hpp"

namespace rehearsal::importer {

/// Streams of a profile made from a capture.
inline constexpr std::uint32_t kComputeStream = 0;
inline constexpr std::uint32_t kCommunicationStream = 1;

/// For each collective of an iteration the host time from which its compute needs the outcome;
/// none: nothing in this iteration waits for it.
using WaitTimes = std::vector<std::optional<std::int64_t>>;

/// Phases of one rank in order, by the names they get in the profile: a name that comes again is
/// told apart by a number ("forward", "forward 2").
std::vector<std::string> phase_names(const KinetoIteration& iteration);

/// Index into the iteration's phases: the last one begun by `time` (the first before all).
std::uint32_t phase_at(const KinetoIteration& iteration, std::int64_t time);

/// The ops of one rank. `collectives` are ready but for stream, phase and `after`; `phases` maps
/// the rank's phases to those of the profile.
///
/// Compute is one chain, cut at markers in host order: the begin of a phase, the launch of a
/// collective, the wait for one, the end of the iteration. A marker stands on the compute timeline
/// where both the host and the last kernel launched before it are done; after a wait the timeline
/// goes on at the end of the collective's kernel. What lies between two markers is a compute op. So
/// compute and communication overlap as they did, and the chain with its waits adds up to the
/// iteration.
std::vector<profile::Op> timeline(const KinetoIteration& iteration, const WaitTimes& waits,
                                  const std::vector<profile::Op>& collectives,
                                  const std::vector<std::uint32_t>& phases);

}  // namespace rehearsal::importer
