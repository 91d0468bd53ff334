#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/base/encoding.hpp"
#include "core/base/ids.hpp"
#include "core/base/result.hpp"
#include "core/base/units.hpp"

namespace rehearsal::measure {

/// Where the time of a run went, flow by flow and rank by rank: what tells a slow sender from a
/// slow receiver, a slow link and a slow host (core/diagnosis). Iterations are taken together in
/// windows, so that what is kept does not grow with the run.

/// What one end of a flow saw during the iterations of one window, summed over its connections.
struct FlowFigures {
  std::uint64_t messages = 0;
  Bytes bytes = {};
  /// Outgoing: at least one message was posted and its credit not back. Incoming: at least one
  /// message was here and not consumed. The first less the second is the time in which messages
  /// were on their way and the receiver had none to work on.
  Duration held{0};
  /// A lane stood still: outgoing for a credit, incoming for a message.
  Duration stood{0};
  /// Instants at which messages were posted (arrived), nanoseconds after the latest start by
  /// appointment, summed; wraps, as a message may arrive before that start. Arrived less posted is
  /// how long they were under way, but for what the two clocks are apart.
  std::uint64_t instants = 0;

  FlowFigures& operator+=(const FlowFigures& other) {
    messages += other.messages;
    bytes += other.bytes;
    held += other.held;
    stood += other.stood;
    instants += other.instants;
    return *this;
  }
  bool operator==(const FlowFigures&) const = default;
};

/// Traffic from one rank to another by one NIC, seen from one end.
struct FlowTimes {
  JobIndex job = {};
  Rank source = {};
  Rank destination = {};
  NicIndex nic = {};      ///< of this end; without meaning for local flows
  bool outgoing = false;  ///< seen from the source
  bool local = false;     ///< between ranks of one agent
  std::vector<FlowFigures> windows = {};

  bool operator==(const FlowTimes&) const = default;
};

/// What a rank did besides moving messages, during the iterations of one window.
struct ComputeFigures {
  Duration computed{0};  ///< sum over compute ops: end − when it could begin
  /// Sum over communication ops: when the agent began them − when they could begin. An agent that
  /// gets too little of its CPU is late.
  Duration late{0};

  bool operator==(const ComputeFigures&) const = default;
};

struct ComputeTimes {
  JobIndex job = {};
  Rank rank = {};
  std::vector<ComputeFigures> windows = {};

  bool operator==(const ComputeTimes&) const = default;
};

/// All flows and ranks of one agent.
struct FlowMeasurements {
  /// The first iteration of each window; the first is 0, ascending. The same on all agents of a
  /// run.
  std::vector<std::uint32_t> windows = {};
  std::vector<FlowTimes> flows = {};
  std::vector<ComputeTimes> ranks = {};

  bool operator==(const FlowMeasurements&) const = default;
};

/// Windows that a run is divided into at most.
inline constexpr std::size_t kWindowsMax = 16;
/// Flow ends of one agent times windows: two ends of every connection that a host may have.
inline constexpr std::size_t kFlowCellsMax = std::size_t{1} << 20;

/// Divides `iterations` into at most kWindowsMax windows of about equal length, none of which
/// contains one of `edges` (iterations at which something is known to change, ascending) other than
/// as its first iteration. Edges beyond the first kWindowsMax − 1 are left out.
std::vector<std::uint32_t> windows_of(std::uint32_t iterations,
                                      std::span<const std::uint32_t> edges = {});

/// The window that `iteration` belongs to.
std::size_t window_of(std::span<const std::uint32_t> windows, std::uint32_t iteration) noexcept;

void encode(const FlowMeasurements& measurements, Encoder& encoder);
/// Checks sizes and order, not whether jobs, ranks and NICs exist. Nothing is allocated for more
/// flows than the bytes could hold; each has at most kWindowsMax figures.
Result<FlowMeasurements> decode_flow_measurements(Decoder& decoder);

}  // namespace rehearsal::measure
