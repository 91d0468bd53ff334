#include "core/coordination/clock_estimator.hpp"

#include <algorithm>

namespace rehearsal::coordination {

void ClockEstimator::add(const ClockExchange& exchange) {
  const Duration there_and_back = exchange.agent_received - exchange.agent_sent;
  const Duration held = exchange.coordinator_sent - exchange.coordinator_received;
  const Duration delay = there_and_back - held;
  if (held < Duration::zero() || delay < Duration::zero()) return;
  const Duration sum = (exchange.coordinator_received - exchange.agent_sent) +
                       (exchange.coordinator_sent - exchange.agent_received);
  const Sample sample{
      .offset = sum / 2, .error = delay / 2 + kResolution, .at = exchange.agent_received};
  // A clock that was set or a machine that slept: what was known no longer holds.
  if (!agrees(sample)) window_.clear();
  window_.push_back(sample);
  if (window_.size() > kWindow) window_.pop_front();
}

std::optional<ClockOffset> ClockEstimator::estimate(Instant now) const {
  if (window_.empty()) return std::nullopt;
  Duration low = Duration::min();
  Duration high = Duration::max();
  for (const Sample& sample : window_) {
    const Duration error = error_at(sample, now);
    low = std::max(low, sample.offset - error);
    high = std::min(high, sample.offset + error);
  }
  return ClockOffset{.offset = low + (high - low) / 2,
                     .error_bound = (high - low) / 2 + kResolution};
}

Duration ClockEstimator::error_at(const Sample& sample, Instant now) const {
  const Duration age = std::max(now - sample.at, Duration::zero());
  const double drift = static_cast<double>(age.count()) * kDriftMax;
  return sample.error + Duration{static_cast<Duration::rep>(drift)};
}

bool ClockEstimator::agrees(const Sample& sample) const {
  return std::all_of(window_.begin(), window_.end(), [&](const Sample& earlier) {
    const Duration apart = earlier.offset > sample.offset ? earlier.offset - sample.offset
                                                          : sample.offset - earlier.offset;
    return apart <= sample.error + error_at(earlier, sample.at);
  });
}

}  // namespace rehearsal::coordination
