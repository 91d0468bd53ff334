#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/coordination/planning.hpp"
#include "core/report/run_measurements.hpp"
#include "core/report/verdict.hpp"

namespace rehearsal::coordination {

struct RunFile {
  std::string name;  ///< "summary.json"
  std::string content;
};

/// What a run leaves.
struct RunReport {
  report::Verdict verdict = report::Verdict::unknown;
  int exit_code = 3;
  std::string reason;          ///< the gravest, one sentence
  std::string table;           ///< for people
  std::vector<RunFile> files;  ///< plan.json, summary.json, results.jsonl, series.jsonl
};

/// All that a report is made of.
struct RunEvidence {
  std::shared_ptr<const PlannedDrill> planned;
  report::RunMeasurements run;  ///< agents in the plan's order, without their measurements
  std::vector<std::optional<std::string>> encoded;  ///< those, as each agent sent them
};

/// Never fails: what is missing or cannot be read becomes part of the verdict. Takes seconds where
/// thousands of agents measured much.
RunReport report_run(RunEvidence evidence);

}  // namespace rehearsal::coordination
