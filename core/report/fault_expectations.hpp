#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/measure/iteration_table.hpp"
#include "core/plan/plan.hpp"
#include "core/plan/stages.hpp"
#include "core/report/fault_summary.hpp"

namespace rehearsal::report {

/// What became of an expectation.
struct Checked {
  enum class Outcome { met, missed, not_measured };
  Outcome outcome = Outcome::met;
  /// A sentence; of what is met too, where faults are concerned.
  std::string reason = {};
};

/// What expectations of stages are judged by.
struct StagedJob {
  std::string name = {};
  std::vector<measure::IterationTime> times = {};  ///< completed iterations, ascending
  std::optional<plan::FaultRange> faults = {};     ///< nothing: none was on, or it is not known
};

/// Judges what is expected of iterations of a stage, of recovery (both of each job) or of noticing
/// (of the job that notices first).
std::vector<Checked> check_stages(const plan::Expectation& expectation,
                                  std::span<const StagedJob> jobs);

/// Judges whether faults were found among the suspects.
std::vector<Checked> check_found(const plan::Expectation& expectation,
                                 std::span<const FaultSummary> faults);

}  // namespace rehearsal::report
