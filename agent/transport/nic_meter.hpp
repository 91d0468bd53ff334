#pragma once

#include "core/measure/arrival_curve.hpp"

namespace rehearsal::agent {

/// Payload that went through one NIC, in bins of time. A transport counts into it when it hands
/// bytes over or gets them, call by call, so that the bins are as true as its calls are short.
struct NicMeter {
  measure::ByteBins sent;
  measure::ByteBins received;
};

}  // namespace rehearsal::agent
