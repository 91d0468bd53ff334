#pragma once

#include "core/base/time.hpp"

namespace rehearsal::runtime {

/// CLOCK_MONOTONIC of this host: what core takes as `now`.
inline Instant now() {
  return std::chrono::time_point_cast<Duration>(std::chrono::steady_clock::now());
}

}  // namespace rehearsal::runtime
