#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/measure/instance_table.hpp"
#include "core/measure/iteration_table.hpp"
#include "core/plan/plan.hpp"
#include "core/report/fault_expectations.hpp"
#include "core/report/run_measurements.hpp"
#include "core/report/summary.hpp"

namespace rehearsal::report {

/// The measurements of all agents, merged.
struct Gathered {
  measure::InstanceTable instances;
  measure::IterationTable iterations;
  /// One for each of RunMeasurements::agents: what of its results contradicts the plan, so that
  /// they do not count; empty: they count.
  std::vector<std::string> contradictions;
};

Gathered gather(const plan::Plan& plan, const RunMeasurements& run);

/// What expectations of stages are judged by: one for each of the plan's jobs.
std::vector<StagedJob> staged_jobs(const plan::Plan& plan, const RunMeasurements& run,
                                   const Gathered& gathered);

/// Everything of the summary but verdict and reasons.
Summary build_summary(const plan::Plan& plan, const plan::Load& load, const RunMeasurements& run,
                      const Gathered& gathered);

}  // namespace rehearsal::report
