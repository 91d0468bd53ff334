#include "core/coordination/reporting.hpp"

#include <utility>

#include "core/report/results.hpp"
#include "core/report/table.hpp"

namespace rehearsal::coordination {

RunReport report_run(const PlannedDrill& planned, const report::RunMeasurements& run) {
  report::Report made = report::make_report(*planned.plan, planned.load, run);
  RunReport ended;
  ended.verdict = made.summary.verdict;
  ended.exit_code = report::exit_code(made.summary.verdict);
  if (!made.summary.reasons.empty()) ended.reason = made.summary.reasons.front();
  ended.table = report::summary_table(made.summary, /*colour=*/false);
  ended.files = {{"plan.json", planned.json},
                 {"summary.json", std::move(made.summary_json)},
                 {"results.jsonl", std::move(made.results_jsonl)},
                 {"series.jsonl", std::move(made.series_jsonl)}};
  return ended;
}

}  // namespace rehearsal::coordination
