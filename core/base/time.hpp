#pragma once

#include <chrono>

namespace rehearsal {

/// Nanoseconds; the only duration that crosses a seam.
using Duration = std::chrono::nanoseconds;

/// CLOCK_MONOTONIC of one host. Core never reads a clock: `now` comes in as an argument.
using Instant = std::chrono::time_point<std::chrono::steady_clock, Duration>;

/// For "no deadline".
inline constexpr Instant kNever = Instant::max();

inline constexpr double to_seconds(Duration duration) {
  return std::chrono::duration<double>(duration).count();
}

}  // namespace rehearsal
