#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.hpp"
#include "core/base/units.hpp"
#include "core/measure/agent_measurements.hpp"
#include "core/measure/burst.hpp"
#include "core/measure/histogram.hpp"
#include "core/report/fault_summary.hpp"
#include "core/report/stages.hpp"
#include "core/report/verdict.hpp"

namespace rehearsal::report {

/// summary.json as values: docs/results.md has every field with its unit, how it was taken and when
/// it is absent.
inline constexpr int kSummarySchemaVersion = 1;

struct CollectiveSummary {
  std::string kind = {};
  std::string communicator = {};
  std::uint32_t ranks = 0;
  Bytes bytes = {};
  std::uint64_t count = 0;  ///< complete instances
  std::uint64_t incomplete = 0;
  measure::DurationSummary time = {};       ///< over instances: min over ranks of (done − ready)
  measure::DurationSummary rank_time = {};  ///< over ranks and instances
  std::optional<double> algbw_bytes_per_second = {};
  std::optional<double> busbw_bytes_per_second = {};

  bool operator==(const CollectiveSummary&) const = default;
};

struct JobSummary {
  std::string name = {};
  std::string profile_identity = {};
  std::uint32_t ranks = 0;
  std::uint32_t iterations_planned = 0;
  std::uint32_t iterations_completed = 0;
  measure::DurationSummary iteration_time = {};
  measure::DurationSummary iteration_waited = {};  ///< for appointments inside iterations
  std::uint64_t ops_planned = 0;
  std::uint64_t ops_completed = 0;
  Bytes bytes_planned = {};
  Bytes bytes_sent = {};
  Bytes bytes_received = {};
  Bytes bytes_local = {};
  std::vector<CollectiveSummary> collectives = {};
  /// Before, during and after the faults; nothing: there were none, or it is not known when.
  std::optional<StageComparison> stages = {};

  bool operator==(const JobSummary&) const = default;
};

struct NicSummary {
  std::string host = {};
  std::string nic = {};
  std::string source = {};
  BitRate line_rate = {};  ///< zero: not known
  Bytes sent_planned = {};
  Bytes sent = {};
  Bytes received_planned = {};
  Bytes received = {};
  Bytes background_sent = {};  ///< of faults, in neither of the above
  Bytes background_received = {};
  std::optional<Bytes> counter_sent = {};
  std::optional<Bytes> counter_received = {};
  std::vector<measure::CounterRise> device_counters = {};  ///< of its RDMA port; those that rose
  Duration counters_span{0};  ///< between the two readings of the counters

  bool operator==(const NicSummary&) const = default;
};

struct SyncSummary {
  std::string mode = {};
  measure::DurationSummary start_skew = {};
  Duration start_skew_limit{0};                    ///< zero: none
  std::optional<Duration> clock_error_bound = {};  ///< of a skew: two clocks

  bool operator==(const SyncSummary&) const = default;
};

/// The bursts of one stage; exact to a bin at its edges.
struct StageBursts {
  Stage stage = Stage::before;
  Duration length{0};  ///< whole bins
  Bytes total = {};
  std::vector<measure::PeakToMean> peak_to_mean = {};

  bool operator==(const StageBursts&) const = default;
};

struct BurstSummary {
  std::string host = {};
  std::string nic = {};
  std::string direction = {};  ///< "sent", "received"
  std::string source = {};
  measure::BurstStatistics statistics = {};
  std::vector<StageBursts> stages = {};  ///< empty: no faults, or it is not known when

  bool operator==(const BurstSummary&) const = default;
};

struct TransportSummary {
  std::string kind = {};
  std::string congestion_control = {};
  std::string receive = {};
  std::string byte_source = {};
  Bytes copied = {};
  Bytes discarded = {};
  std::uint64_t system_calls = 0;
  std::optional<double> system_calls_per_mib = {};
  Duration turn_max{0};
  std::vector<std::string> bound = {};  ///< what each host was bound to, a line a NIC
  std::vector<std::string> notes = {};  ///< how figures were taken, in sentences

  bool operator==(const TransportSummary&) const = default;
};

struct AgentSummary {
  std::string host = {};
  bool results = false;   ///< its measurements are in this report
  std::string lost = {};  ///< why it was lost; empty: it was not

  bool operator==(const AgentSummary&) const = default;
};

/// Who seems to be to blame for what is slow (core/diagnosis), in names.
struct SuspectSummary {
  std::string place = {};      ///< diagnosis::Place
  std::string host = {};       ///< of a link: of its source
  std::string nic = {};        ///< empty: the host, or a rank
  std::string peer_host = {};  ///< of a link: where it leads to
  std::string peer_nic = {};
  std::string job = {};  ///< of a rank
  std::optional<std::uint32_t> rank = {};
  double factor = 1;
  double confidence = 0;
  std::string finding = {};   ///< "h3/rail0 sends more slowly than its peers"
  std::string evidence = {};  ///< one sentence

  bool operator==(const SuspectSummary&) const = default;
};

/// Something that happened in a run with faults.
struct TimelineEvent {
  Duration at{0};  ///< after the run's first start, on the coordinator's clock
  /// "started", "fault_began", "fault_ended", "noticed", "recovered", "ended".
  std::string event = {};
  std::string text = {};  ///< for people

  bool operator==(const TimelineEvent&) const = default;
};

struct Summary {
  std::string run = {};
  std::string drill = {};
  std::string software = {};
  std::string started_at = {};
  std::string finished_at = {};
  std::string plan_hash = {};
  Verdict verdict = Verdict::unknown;
  std::vector<std::string> reasons = {};
  std::vector<std::string> warnings = {};  ///< to be known when reading the figures; not a verdict
  std::string stop = {};
  std::vector<std::string> waited_for = {};
  /// Empty: nobody stands out. Nothing: there was nothing to look at.
  std::optional<std::vector<SuspectSummary>> suspects = {};
  std::vector<AgentSummary> agents = {};
  std::vector<JobSummary> jobs = {};
  std::vector<NicSummary> nics = {};
  SyncSummary sync = {};
  std::vector<BurstSummary> bursts = {};
  TransportSummary transport = {};
  std::vector<FaultSummary> faults = {};
  std::vector<TimelineEvent> timeline = {};  ///< by time; empty: the plan has no faults

  bool operator==(const Summary&) const = default;
};

/// The text of summary.json.
std::string summary_json(const Summary& summary);

/// Reads summary.json; an error names the field and what it should be.
Result<Summary> read_summary(std::string_view json);

}  // namespace rehearsal::report
