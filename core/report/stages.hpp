#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/measure/histogram.hpp"
#include "core/measure/iteration_table.hpp"
#include "core/report/observe.hpp"

namespace rehearsal::report {

/// The stages of a drill with faults: the steady state before them, while they act, after the last.
enum class Stage : std::uint8_t { before, during, after };
std::string_view to_string(Stage stage);
std::optional<Stage> stage_from(std::string_view name);

/// Iterations [begin, end) in which faults act.
struct FaultRange {
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
};

/// One rank that stood still for another.
struct Wait {
  JobIndex job = {};
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

/// Before, during and after of one job.
struct StageComparison {
  std::array<StageFigures, 3> stages = {};
  /// From the begin of the faults to the end of the first iteration that was longer than every one
  /// before (and by more than a twentieth than their median); nothing: it was not to be noticed.
  std::optional<std::uint32_t> iterations_to_notice = {};
  std::optional<Duration> time_to_notice = {};
  /// From the end of the faults to the begin of the first three iterations in a row (or all that
  /// are left) within `recovered_within` of the median before; nothing: it did not recover.
  std::optional<std::uint32_t> iterations_to_recover = {};
  std::optional<Duration> time_to_recover = {};

  bool operator==(const StageComparison&) const = default;
};

/// `times`: the completed iterations of one job, ascending. Faults that go on to the end of the run
/// leave nothing for the stage after.
StageComparison compare_stages(std::span<const measure::IterationTime> times, FaultRange faults,
                               double recovered_within = 0.05);

/// The ranks that stood still for longest, of the windows that lie in iterations [begin, end).
std::vector<Wait> longest_waits(std::span<const AgentFlows> agents, std::uint32_t begin,
                                std::uint32_t end, std::uint32_t iterations);

/// What a drill expects of a stage.
struct StageExpectation {
  Stage stage = Stage::during;
  bool p99 = false;  ///< of the iteration time; else p50
  /// At most so many times what it is before; nothing: not asked.
  std::optional<double> at_most_times_before = {};
  /// Stage after: recovered to within this part of the median before …
  std::optional<double> within_of_before = {};
  std::uint32_t in_iterations = 0;  ///< … in so many iterations

  bool operator==(const StageExpectation&) const = default;
};

struct StageJudgement {
  enum class Outcome : std::uint8_t { met, missed, not_measured };
  Outcome outcome = Outcome::met;
  std::string reason = {};  ///< a sentence; of what is met too
};

StageJudgement judge_stage(std::span<const measure::IterationTime> times, FaultRange faults,
                           const StageExpectation& expectation);

/// The comparison as people read it.
std::string stage_table(const StageComparison& comparison, std::string_view job);

}  // namespace rehearsal::report
