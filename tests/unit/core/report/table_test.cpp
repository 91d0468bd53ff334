#include "core/report/table.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "core/base/table.hpp"
#include "core/report/results.hpp"
#include "tests/support/golden.hpp"
#include "tests/unit/core/report/small_run.hpp"

namespace rehearsal::report {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::StartsWith;

Summary good_summary() {
  return make_report(test::small_plan(), test::small_load(), test::good_run()).summary;
}

void expect_fits(const std::string& table) {
  std::istringstream lines(table);
  for (std::string line; std::getline(lines, line);) {
    const auto columns = std::ranges::count_if(
        line, [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; });
    EXPECT_LE(columns, static_cast<std::ptrdiff_t>(kTableWidthMax)) << line;
    EXPECT_FALSE(line.ends_with(' ')) << "'" << line << "'";
  }
}

TEST(SummaryTable, IsGolden) {
  const std::string table = summary_table(good_summary(), false);
  expect_fits(table);
  rehearsal::test::expect_golden("report/table.txt", table);
}

TEST(SummaryTable, OfALostAgentIsGolden) {
  RunMeasurements run = test::good_run();
  run.agents[1].measurements.reset();
  run.agents[1].lost = "connection closed while running";
  run.stop = StopReason::agent_lost;
  run.waited_for = {"host2"};
  plan::Plan plan = test::small_plan();
  plan.synchronisation = plan::SyncMode::phase;
  const std::string table =
      summary_table(make_report(plan, test::small_load(), run).summary, false);
  expect_fits(table);
  rehearsal::test::expect_golden("report/table_lost_agent.txt", table);
}

TEST(SummaryTable, VerdictComesFirstAndIsColouredOnlyIfAsked) {
  const Summary summary = good_summary();
  EXPECT_THAT(summary_table(summary, false), StartsWith("PASS  small-drill"));
  EXPECT_EQ(summary_table(summary, false).find('\033'), std::string::npos);
  EXPECT_THAT(summary_table(summary, true), StartsWith("\033[1;32mPASS\033[0m"));
}

TEST(SummaryTable, CoarseBinsAreMarked) {
  Summary summary = good_summary();
  summary.bursts[0].statistics.peak_to_mean[0].resolution_ok = false;
  EXPECT_THAT(summary_table(summary, false), HasSubstr("~ bins are wider"));
}

TEST(SummaryTable, OfManyNicsTheSharpestBurstsAreShown) {
  Summary summary = good_summary();
  BurstSummary quiet = summary.bursts[0];
  quiet.host = "quiet";
  quiet.statistics.peak_to_mean[0].value = 1.5;
  summary.bursts.insert(summary.bursts.begin(), 100, quiet);
  const std::string table = summary_table(summary, false);
  expect_fits(table);
  EXPECT_THAT(table, HasSubstr("and 88 more in summary.json"));
  EXPECT_THAT(table, HasSubstr("\nhost2 "));
}

TEST(SummaryTable, LongNamesDoNotBreakTheWidth) {
  Summary summary = good_summary();
  const std::string name(64, 'n');
  for (BurstSummary& burst : summary.bursts) burst.host = burst.nic = name;
  summary.jobs[0].name = name;
  for (CollectiveSummary& entry : summary.jobs[0].collectives) entry.communicator = name;
  expect_fits(summary_table(summary, false));
}

}  // namespace
}  // namespace rehearsal::report
