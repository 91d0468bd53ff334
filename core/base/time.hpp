#pragma once

#include <chrono>

namespace rehearsal {

/// Nanoseconds; the only duration that crosses a seam.
using Duration = std::chrono::nanoseconds;

/// CLOCK_MONOTONIC of one host. Core never reads a clock: `now` comes in as an argument.
using Instant = std::chrono::time_point<std::chrono::steady_clock, Duration>;

/// For "no deadline".
inline constexpr Instant kNever = Instant::max();

/// a + b; what is more than a Duration holds stays at its limit.
inline constexpr Duration saturated_sum(Duration a, Duration b) {
  Duration::rep sum = 0;
  if (!__builtin_add_overflow(a.count(), b.count(), &sum)) return Duration{sum};
  return b < Duration::zero() ? Duration::min() : Duration::max();
}

inline constexpr double to_seconds(Duration duration) {
  return std::chrono::duration<double>(duration).count();
}

}  // namespace rehearsal
