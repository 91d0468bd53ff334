#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "core/measure/collective_time.hpp"

namespace rehearsal::measure {

/// One estimate of an agent's clock: coordinator's instant = agent's instant + offset, ± error
/// bound.
struct ClockOffset {
  Instant reference = {};  ///< agent's clock, when the estimate held
  Duration offset{0};
  Duration error_bound{0};

  bool operator==(const ClockOffset&) const = default;
};

/// The estimate with the reference nearest to `at` (agent's clock); `offsets` must not be empty.
const ClockOffset& nearest(std::span<const ClockOffset> offsets, Instant at);

/// One iteration of one job over all its ranks.
struct IterationTime {
  JobIndex job = {};
  std::uint32_t iteration = 0;
  Duration time{0};    ///< max over ranks
  Duration waited{0};  ///< max over ranks; for appointments inside the iteration, not in `time`

  bool operator==(const IterationTime&) const = default;
};

/// How far apart the hosts of a job started an iteration.
struct StartSkew {
  JobIndex job = {};
  std::uint32_t iteration = 0;
  Duration skew{0};  ///< last host's first start − first host's, on the coordinator's clock
  Duration error_bound{0};  ///< the sum of the two largest bounds of the hosts' clocks
};

/// Merges the iteration partials of all agents.
class IterationTable {
 public:
  /// `ranks`: of each job, by JobIndex. `iterations`: of the run.
  IterationTable(std::vector<std::uint32_t> ranks, std::uint32_t iterations);

  /// Takes an agent's partials in; `clocks` may be empty (no estimate: its starts count in no
  /// skew).
  Result<void> add(HostIndex host, std::span<const IterationPartial> partials,
                   std::span<const ClockOffset> clocks);

  /// Iterations that all ranks of the job completed, ascending.
  std::vector<IterationTime> complete(JobIndex job) const;

  /// Skews of the complete iterations that at least two hosts with a known clock started.
  std::vector<StartSkew> start_skews() const;

  /// From the first start to the last end that this host saw of any job, on its own clock.
  std::optional<std::pair<Instant, Instant>> span_of(HostIndex host) const;

 private:
  struct Start {
    HostIndex host;
    Instant at;  // coordinator's clock
    Duration error_bound{0};
  };
  struct Merged {
    std::uint32_t ranks = 0;
    Duration time{0};
    Duration waited{0};
    std::vector<Start> starts;  // one a host
  };

  std::vector<std::uint32_t> ranks_;
  std::uint32_t iterations_;
  std::map<std::pair<JobIndex, std::uint32_t>, Merged> merged_;
  std::map<HostIndex, std::pair<Instant, Instant>> spans_;
};

}  // namespace rehearsal::measure
