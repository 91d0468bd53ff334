#pragma once

#include <string>

#include "core/plan/plan.hpp"
#include "core/report/run_measurements.hpp"
#include "core/report/summary.hpp"

namespace rehearsal::report {

/// A run's report: what goes into the run folder beside plan.json.
struct Report {
  Summary summary;
  std::string summary_json = {};   ///< summary.json
  std::string results_jsonl = {};  ///< results.jsonl: a line per collective class and iteration
  std::string series_jsonl = {};   ///< series.jsonl: a line per NIC and direction
};

/// Makes the report of a run. Never fails: what is missing or contradicts the plan becomes a
/// verdict with a reason. `load` is expand_load(plan).
Report make_report(const plan::Plan& plan, const plan::Load& load, const RunMeasurements& run);

}  // namespace rehearsal::report
