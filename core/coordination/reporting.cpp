#include "core/coordination/reporting.hpp"

#include <utility>

#include "core/measure/agent_measurements.hpp"
#include "core/report/results.hpp"
#include "core/report/table.hpp"

namespace rehearsal::coordination {
namespace {

void decode_measurements(RunEvidence& evidence) {
  for (std::size_t i = 0; i < evidence.encoded.size(); ++i) {
    const std::optional<std::string> encoded = std::exchange(evidence.encoded[i], std::nullopt);
    if (!encoded || encoded->empty()) continue;
    report::AgentResult& agent = evidence.run.agents[i];
    Result<measure::AgentMeasurements> read = measure::decode_agent_measurements(*encoded);
    if (read) {
      agent.measurements = std::move(*read);
    } else {
      agent.lost = "its results cannot be read: " + read.error().text();
    }
  }
}

}  // namespace

RunReport report_run(RunEvidence evidence) {
  decode_measurements(evidence);
  const PlannedDrill& planned = *evidence.planned;
  report::Report made = report::make_report(*planned.plan, planned.load, evidence.run);
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
