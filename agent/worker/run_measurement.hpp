#pragma once

#include <span>
#include <string>
#include <vector>

#include "agent/transport/nic_meter.hpp"
#include "agent/worker/wiring.hpp"
#include "core/measure/agent_reducer.hpp"
#include "core/measure/fault_times.hpp"
#include "core/replay/replayer.hpp"
#include "core/replay/transport.hpp"

namespace rehearsal::agent {

/// What one agent measures during a run. collect() is for the worker's thread between iterations
/// and does not allocate; encode() is for the end.
class RunMeasurement {
 public:
  /// `plan` outlives this.
  RunMeasurement(const plan::Plan& plan, HostIndex host, std::span<const LocalRank> ranks);

  /// By NicIndex, for the transport to count into.
  std::span<NicMeter> meters() noexcept { return meters_; }
  /// The first iteration starts: bins count from here.
  void start(Instant at) noexcept;
  /// Takes the records of a rank and clears them.
  void collect(replay::Replayer& replayer) noexcept;

  /// What WorkerStopped carries (measure::AgentMeasurements). `transport` may be null.
  std::string encode(std::span<const replay::Replayer> replayers,
                     const replay::Transport* transport, Duration turn_max,
                     const std::string& place, measure::FaultMeasurements faults);

 private:
  const plan::Plan& plan_;
  measure::AgentReducer reducer_;
  std::vector<NicMeter> meters_;
};

}  // namespace rehearsal::agent
