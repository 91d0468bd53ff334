#pragma once

#include "core/base/ids.hpp"
#include "core/measure/arrival_curve.hpp"
#include "core/plan/connection.hpp"

namespace rehearsal::agent {

/// Payload that went through one NIC, in bins of time. A transport counts into it when it hands
/// bytes over or gets them, call by call, so that the bins are as true as its calls are short. What
/// faults send beside the jobs is in the bins as well, since the NIC carries it, and counted once
/// more by itself.
struct NicMeter {
  measure::ByteBins sent;
  measure::ByteBins received;
  std::uint64_t background_sent = 0;
  std::uint64_t background_received = 0;

  void count_sent(const plan::ConnectionSpec& spec, Instant at, std::uint64_t bytes) noexcept {
    sent.add(at, bytes);
    if (spec.key.use == plan::ConnectionUse::background) background_sent += bytes;
  }
  void count_received(const plan::ConnectionSpec& spec, Instant at, std::uint64_t bytes) noexcept {
    received.add(at, bytes);
    if (spec.key.use == plan::ConnectionUse::background) background_received += bytes;
  }
};

}  // namespace rehearsal::agent
