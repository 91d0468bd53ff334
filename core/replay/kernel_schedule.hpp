#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/fault/schedule.hpp"
#include "core/plan/plan.hpp"

namespace rehearsal::replay {

/// When a plan's faults of a host's kernel, and its commands, are to begin, to change and to end.
/// Only the worker sees the edges of iterations; what is done about it is not its business, so it
/// says it once and goes on. Everything is allocated by the constructor; the rest is for the data
/// path.
class KernelSchedule {
 public:
  KernelSchedule(const plan::Plan& plan, HostIndex host);

  bool empty() const noexcept { return schedule_.size() == 0; }
  void start(Instant at) noexcept { schedule_.start(at); }
  void edge(JobIndex job, std::uint32_t iteration, std::uint32_t phase) noexcept {
    schedule_.edge(job, iteration, phase);
  }
  void at(Instant now) noexcept { schedule_.at(now); }
  Instant next_change() const noexcept { return schedule_.next_change(); }

  struct Change {
    std::uint32_t fault = 0;  ///< index in the plan
    std::uint32_t level = 0;  ///< or fault::Schedule::kOff
    Instant until = kNever;   ///< when it ends by time at the latest
  };
  /// A fault whose level is not the one that was taken last. What changed twice meanwhile is one
  /// change, or none.
  std::optional<Change> take_change() noexcept;

 private:
  fault::Schedule schedule_;
  std::vector<std::uint32_t> taken_;  // levels, by entry
};

}  // namespace rehearsal::replay
