#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/coordination/coordinator.hpp"
#include "core/coordination/planning.hpp"
#include "core/report/run_measurements.hpp"
#include "core/report/verdict.hpp"

namespace rehearsal::coordination {

/// What a run leaves.
struct RunReport {
  report::Verdict verdict = report::Verdict::unknown;
  int exit_code = 3;
  std::string reason;          ///< the gravest, one sentence
  std::string table;           ///< for people
  std::vector<RunFile> files;  ///< plan.json, summary.json, results.jsonl, series.jsonl
};

/// Never fails: what is missing becomes part of the verdict.
RunReport report_run(const PlannedDrill& planned, const report::RunMeasurements& run);

}  // namespace rehearsal::coordination
