#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/time.hpp"
#include "core/base/units.hpp"

namespace rehearsal::plan {
struct Plan;
}

namespace rehearsal::report {

struct RunMeasurements;

/// A level of a fault that truly was on, on one host.
struct FaultSpellSummary {
  std::string host = {};
  std::string job = {};  ///< with `rank`: of the rank that it slowed
  std::optional<std::uint32_t> rank = {};
  std::uint32_t level = 0;
  Duration began{0};  ///< after the run's first start, on the coordinator's clock
  Duration ended{0};

  bool operator==(const FaultSpellSummary&) const = default;
};

/// Whether a fault of the plan is among the suspects that the measurements point at.
enum class Found : std::uint8_t {
  yes,
  no,
  not_applicable,  ///< it was never on, nothing was measured, or its kind leaves no suspect
};
std::string_view to_string(Found found);
std::optional<Found> found_from(std::string_view name);
/// What went wrong with a fault of the kernel on a host: it was refused, ended before its time, is
/// in conflict with what somebody else did, or could not be undone.
struct FaultProblemSummary {
  std::string host = {};
  std::string text = {};  ///< "STUCK: …"

  bool operator==(const FaultProblemSummary&) const = default;
};

struct FaultSummary {
  std::string name = {};
  std::string kind = {};
  std::string mechanism = {};
  std::string what = {};  ///< for people: "rate 50% of 1Gbit/s"
  std::string when = {};
  std::uint64_t messages = 0;  ///< that passed while it was on
  std::uint64_t hit = 0;       ///< of these: delayed, lost or held back
  bool traffic = false;        ///< it makes some, beside the jobs
  Bytes background_sent = {};  ///< of that: whole messages, over all agents
  Bytes background_received = {};
  std::vector<FaultSpellSummary> spells = {};  ///< by time
  Found found = Found::not_applicable;
  std::optional<std::uint32_t> suspect = {};  ///< found: which of the suspects, from 0
  std::optional<double> confidence = {};      ///< found: of that suspect
  std::string finding = {};                   ///< a sentence on it; empty: of an earlier version
  std::vector<FaultProblemSummary> problems = {};

  bool operator==(const FaultSummary&) const = default;
};

/// What became of the plan's faults, in its order. Agents that have no estimate of their clock
/// count it as the coordinator's.
std::vector<FaultSummary> fault_summaries(const plan::Plan& plan, const RunMeasurements& run);

/// The run's first start, on the coordinator's clock: times of faults count from here. Nothing:
/// nobody started.
std::optional<Instant> first_start(const RunMeasurements& run);

/// Lines of series.jsonl: a fault on a host, with its instants on the host's clock.
std::string fault_series(const plan::Plan& plan, const RunMeasurements& run);

/// The section of the table; empty: there were no faults.
std::string fault_lines(const std::vector<FaultSummary>& faults);

/// The fault that was to crash the agent of this host; empty: none.
std::string crash_of(const plan::Plan& plan, std::uint32_t host);

}  // namespace rehearsal::report
