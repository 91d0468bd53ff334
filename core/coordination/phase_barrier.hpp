#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/base/ids.hpp"
#include "core/plan/settings.hpp"

namespace rehearsal::coordination {

/// What one appointment starts.
struct Step {
  std::uint32_t iteration = 0;
  std::uint32_t phase = 0;

  constexpr auto operator<=>(const Step&) const = default;
};

struct BarrierOptions {
  plan::SyncMode mode = plan::SyncMode::iteration;
  std::uint32_t iterations = 0;
  std::uint32_t phases = 1;  ///< of an iteration; counts in mode `phase` only
  std::size_t hosts = 0;
};

/// Which step of a run is on, and who has yet to arrive at its end. free: one step for the whole
/// run; iteration: one for each; phase: one for each phase of each iteration.
class PhaseBarrier {
 public:
  explicit PhaseBarrier(BarrierOptions options);

  /// The step that is on (or next to be started).
  Step step() const { return step_; }
  /// `host` is at the end of `done`. True when it was the last one of the step that is on: then
  /// advance(). What belongs to another step or came before changes nothing.
  bool arrive(HostIndex host, Step done);
  /// On to the next step; nothing when that was the last one.
  std::optional<Step> advance();

  /// Those who have not arrived, ascending.
  std::vector<HostIndex> missing() const;
  /// Iterations that all hosts have done.
  std::uint32_t iterations_done() const { return iterations_done_; }

 private:
  /// The step as agents report its end: in mode free that is the last iteration's.
  Step reported() const;

  BarrierOptions options_;
  Step step_;
  std::vector<bool> arrived_;
  std::size_t arrived_count_ = 0;
  std::uint32_t iterations_done_ = 0;
};

}  // namespace rehearsal::coordination
