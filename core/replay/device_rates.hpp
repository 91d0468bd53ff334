#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/fault/schedule.hpp"
#include "core/measure/fault_times.hpp"
#include "core/plan/device_faults.hpp"
#include "core/replay/transport.hpp"

namespace rehearsal::replay {

/// A plan's faults that the RDMA devices of a host do: at the edges of a fault the rates of queue
/// pairs are limited, and after it they are what they were. If a device refuses in the middle, all
/// that was limited is lifted, nothing begins any more, and failure() says why.
///
/// A change is a command to the device for each queue pair, on the worker's thread, who owns them:
/// it takes some of a turn at the edges of a fault, and none in between.
class DeviceRates {
 public:
  /// `plan` outlives this; `connections` are those of the host.
  DeviceRates(const plan::Plan& plan, HostIndex host, const plan::Connections& connections);

  bool empty() const noexcept { return schedule_.size() == 0; }
  void start(Instant at) noexcept { schedule_.start(at); }
  void edge(JobIndex job, std::uint32_t iteration, std::uint32_t phase) noexcept {
    schedule_.edge(job, iteration, phase);
  }
  /// Without faults, or after a failure, there is none: nobody calls turn() for it.
  Instant next_change() const noexcept {
    return empty() || !failure_.empty() ? kNever : schedule_.next_change();
  }

  /// Brings the devices to what is on at `now`. Nothing is asked of them while nothing changes.
  void turn(Transport& transport, Instant now) noexcept;
  /// The run is over: lifts what is on. What cannot be lifted is among the problems.
  void end(Transport& transport, Instant now) noexcept;

  /// Why the run cannot go on; empty: nothing is wrong.
  const std::string& failure() const noexcept { return failure_; }
  std::span<const measure::FaultProblem> problems() const noexcept { return problems_; }
  fault::Schedule& schedule() noexcept { return schedule_; }

 private:
  Result<void> set(Transport& transport, std::size_t entry, std::uint32_t level) noexcept;
  void fail(Transport& transport, std::size_t entry, const std::string& why, Instant now) noexcept;
  void lift(Transport& transport) noexcept;

  const plan::Plan& plan_;
  fault::Schedule schedule_;
  std::vector<std::vector<plan::DeviceCut>> cuts_;  // by entry
  std::vector<std::uint32_t> levels_;               // that the devices have, by entry
  std::string failure_;
  std::vector<measure::FaultProblem> problems_;
};

}  // namespace rehearsal::replay
