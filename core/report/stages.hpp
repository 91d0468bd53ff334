#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/fault/fraction.hpp"
#include "core/measure/histogram.hpp"
#include "core/measure/iteration_table.hpp"
#include "core/plan/stages.hpp"
#include "core/report/observe.hpp"

namespace rehearsal::report {

using plan::FaultRange;
using plan::Stage;

/// One rank that stood still for another.
struct Wait {
  Rank waiting = {};
  Rank awaited = {};
  bool for_credit = false;  ///< it waited to send; else for a message
  Duration time{0};         ///< of an iteration, summed over lanes

  bool operator==(const Wait&) const = default;
};

struct StageFigures {
  Stage stage = Stage::before;
  std::uint32_t begin = 0;  ///< first iteration
  std::uint32_t end = 0;    ///< behind the last
  measure::DurationSummary time = {};
  /// Mean of the slowest tenth of its iterations (of at least one); nothing: it has none.
  std::optional<Duration> tail = {};
  /// p50 over that of the stage before; nothing: one of them is not known.
  std::optional<double> times_before = {};
  std::vector<Wait> waits = {};  ///< the longest, at most kWaitsMax

  bool operator==(const StageFigures&) const = default;
};
inline constexpr std::size_t kWaitsMax = 5;

/// What was reached in an iteration, and how long that took.
struct Reached {
  std::uint32_t iteration = 0;   ///< counts from the begin of the run
  std::uint32_t iterations = 0;  ///< how many it took
  Duration time{0};              ///< the sum of their times

  bool operator==(const Reached&) const = default;
};

/// Before, during and after of one job.
struct StageComparison {
  std::array<StageFigures, 3> stages = {};
  /// From the begin of the faults to the end of the first iteration that was longer than every one
  /// before (and by more than a twentieth than their median); nothing: it was not to be noticed.
  std::optional<Reached> noticed = {};
  /// From the end of the faults to the begin of the first three iterations in a row (or all that
  /// are left) within `recovered_within` of the median before; nothing: it did not recover.
  std::optional<Reached> recovered = {};
  fault::Fraction recovered_within = plan::kRecoveredWithin;

  bool operator==(const StageComparison&) const = default;
};

/// `times`: the completed iterations of one job, ascending. Faults that go on to the end of the run
/// leave nothing for the stage after.
StageComparison compare_stages(std::span<const measure::IterationTime> times, FaultRange faults,
                               fault::Fraction recovered_within = plan::kRecoveredWithin);

/// The ranks of a job that stood still for longest, of the windows that lie in iterations [begin,
/// end).
std::vector<Wait> longest_waits(std::span<const AgentFlows> agents, JobIndex job,
                                std::uint32_t begin, std::uint32_t end, std::uint32_t iterations);

/// The comparison as people read it.
std::string stage_table(const StageComparison& comparison, std::string_view job);

}  // namespace rehearsal::report
