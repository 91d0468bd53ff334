#pragma once

#include <cstdint>
#include <vector>

#include "core/base/ids.hpp"
#include "core/base/units.hpp"
#include "core/profile/op.hpp"

namespace rehearsal::measure {

/// One communication op done on one rank. `ready`: when its dependencies were met; `done`: when its
/// last message was received and its last sent. Instants of the agent's clock.
struct OpRecord {
  JobIndex job;
  Rank rank;
  std::uint32_t iteration = 0;
  profile::OpIndex op = 0;  ///< in the rank's class
  /// Counts the collectives of one communicator on this rank within the iteration: the same number
  /// on all ranks, so it names the instance. Point-to-point ops: counts per communicator apart.
  std::uint32_t instance = 0;
  Instant ready;
  Instant done;
};

/// One iteration done on one rank.
struct IterationRecord {
  JobIndex job;
  Rank rank;
  std::uint32_t iteration = 0;
  Instant start;        ///< of its first op
  Instant appointment;  ///< when it was to start (agent's clock); equals start where there was none
  Instant done;
  Duration waited{0};  ///< for appointments inside the iteration (phase mode); not part of its time
};

}  // namespace rehearsal::measure
