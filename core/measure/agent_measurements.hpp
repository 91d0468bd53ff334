#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/ids.hpp"
#include "core/base/units.hpp"
#include "core/measure/arrival_curve.hpp"
#include "core/measure/collective_time.hpp"
#include "core/measure/fault_times.hpp"
#include "core/measure/flow_times.hpp"

namespace rehearsal::measure {

/// By how much a counter of a device rose during the run ("local_ack_timeout_err").
struct CounterRise {
  std::string name = {};
  std::uint64_t rise = 0;

  bool operator==(const CounterRise&) const = default;
};

/// Bytes on the wire of one NIC during the run, from counters that were read again and again
/// (CounterCurve): headers and what was sent again included.
struct WireMeasurements {
  std::string sent_source = {};  ///< the counter's name: "tx_bytes", "port_xmit_data"
  std::string received_source = {};
  ByteSeries sent = {};
  ByteSeries received = {};

  bool operator==(const WireMeasurements&) const = default;
};

/// What went through one NIC of the agent during the run.
struct NicMeasurements {
  NicIndex nic = {};
  Bytes sent = {};  ///< payload, counted where TransportFacts::byte_source says
  Bytes received = {};
  Bytes background_sent = {};  ///< of faults, in neither of the above; the series have it, too
  Bytes background_received = {};
  std::optional<Bytes> counter_sent =
      {};  ///< difference of the NIC's own counter, headers included
  std::optional<Bytes> counter_received = {};
  std::vector<CounterRise> device_counters = {};  ///< of its RDMA port; those that rose
  Duration counters_span{0};                      ///< between the two readings of all counters
  ByteSeries sent_series = {};
  ByteSeries received_series = {};
  std::optional<WireMeasurements> wire = {};  ///< none: no counter was watched

  /// Whatever it was for.
  Bytes in_all() const { return sent + received + background_sent + background_received; }
  bool operator==(const NicMeasurements&) const = default;
};

/// Bytes of one job on this agent.
struct JobBytes {
  JobIndex job = {};
  Bytes sent = {};
  Bytes received = {};
  Bytes local = {};  ///< handed over between ranks of this agent

  bool operator==(const JobBytes&) const = default;
};

/// How the figures of an agent were taken.
struct TransportFacts {
  std::string kind = {};                ///< "tcp"
  std::string byte_source = {};         ///< Capabilities::byte_source: "posted"
  std::string congestion_control = {};  ///< as read back from the sockets; empty: does not apply
  std::string receive = {};             ///< "copy", "discard"; empty: does not apply
  Bytes copied = {};                    ///< payload copied to user space
  Bytes discarded = {};                 ///< payload that the kernel dropped for us
  std::uint64_t system_calls = 0;
  Duration turn_max{0};                 ///< longest turn of the duty cycle
  std::vector<std::string> bound = {};  ///< what the transport was truly bound to, a line a NIC

  bool operator==(const TransportFacts&) const = default;
};

/// All that one agent measured; what it sends when a run ends.
struct AgentMeasurements {
  PartialResults results = {};
  std::vector<JobBytes> jobs = {};
  std::vector<NicMeasurements> nics = {};
  TransportFacts transport = {};
  FaultMeasurements faults = {};
  FlowMeasurements flow_times = {};
};

/// Bins of all series of one agent together (128 MiB).
inline constexpr std::size_t kBinsOfAgentMax = std::size_t{1} << 24;

std::string encode(const AgentMeasurements& measurements);
/// Reads what encode() wrote; nothing is allocated for more than the bytes could hold, but for
/// silent bins (kBinsOfAgentMax), histograms (0.26 MiB each, kRankTimesMax) and windows in which a
/// flow was silent (kFlowCellsMax).
Result<AgentMeasurements> decode_agent_measurements(std::string_view bytes);

}  // namespace rehearsal::measure
