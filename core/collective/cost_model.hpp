#pragma once

#include <optional>

#include "core/base/units.hpp"
#include "core/collective/choice.hpp"
#include "core/collective/system.hpp"
#include "core/profile/op.hpp"

namespace rehearsal::collective {

/// What NCCL's model says of one way to do one kind of op: the table that it prints at the start
/// ("AllReduce | 25.2/ 11.3 | …", NCCL_DEBUG_SUBSYS=TUNING).
struct Cost {
  double latency_us = 0;
  double bandwidth = 0;  ///< GB/s (10^9 bytes) of the op's size S, not of the wire

  bool operator==(const Cost&) const = default;
};

/// The row of NCCL's table for this op (src/graph/tuning.cc ncclTopoTuneModel, the figures without
/// the switches); none where NCCL has no such way, or no graph for it. Bytes of LL's flags are part
/// of the bandwidth.
std::optional<Cost> cost(profile::OpKind kind, Algorithm algorithm, Protocol protocol,
                         const System& system, const Graphs& graphs);

/// How long an op of `bytes` (as NCCL counts: the larger of what a rank sends and receives) takes
/// by the model, in microseconds (src/graph/tuning.cc ncclTopoGetAlgoTime, one op at a time).
/// `channels`: what channels() says.
double time_us(const Cost& cost, profile::OpKind kind, Algorithm algorithm, Protocol protocol,
               Bytes bytes, const System& system, std::uint32_t channels);

}  // namespace rehearsal::collective
