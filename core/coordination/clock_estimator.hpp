#pragma once

#include <cstddef>
#include <deque>
#include <optional>

#include "core/base/time.hpp"

namespace rehearsal::coordination {

/// The four stamps of one exchange: sent and received on the agent's clock, in between received and
/// answered on the coordinator's.
struct ClockExchange {
  Instant agent_sent;
  Instant coordinator_received;
  Instant coordinator_sent;
  Instant agent_received;
};

/// Of an agent's clock against the coordinator's: coordinator = agent + offset, ± error bound.
struct ClockOffset {
  Duration offset{0};
  Duration error_bound{0};
};

/// Offset of two clocks from repeated exchanges. Each says that the offset lies within half its
/// delay of ((t1 − t0) + (t2 − t3)) / 2, whatever the two directions took (Cristian, "Probabilistic
/// clock synchronization", 1989); with age each grows by what the clocks may have drifted since.
/// What all of a window agree on is the estimate, so exchanges of little delay count and late ones
/// do no harm.
class ClockEstimator {
 public:
  static constexpr std::size_t kWindow = 64;
  /// Two free-running crystals differ by less (each within ±50 ppm).
  static constexpr double kDriftMax = 100e-6;
  /// What reading the clocks may add.
  static constexpr Duration kResolution = std::chrono::nanoseconds{200};

  /// Exchanges that run backwards in time are passed over.
  void add(const ClockExchange& exchange);
  /// At `now` on the agent's clock; nothing before the first exchange.
  std::optional<ClockOffset> estimate(Instant now) const;
  std::size_t exchanges() const { return window_.size(); }

 private:
  struct Sample {
    Duration offset;
    Duration error;
    Instant at;
  };
  Duration error_at(const Sample& sample, Instant now) const;
  bool agrees(const Sample& sample) const;

  std::deque<Sample> window_;
};

}  // namespace rehearsal::coordination
