// The report of a run with faults, whole.
#include <gmock/gmock.h>

#include "core/report/results.hpp"
#include "core/report/table.hpp"
#include "tests/support/golden.hpp"
#include "tests/unit/core/report/small_run.hpp"

namespace rehearsal::report {
namespace {

using namespace std::chrono_literals;
using plan::Stage;
using testing::Contains;
using testing::HasSubstr;

/// Four iterations; in the second and third host2 receives slowly and the job takes twice as long.
struct Drill {
  Drill() {
    plan.faults = {{.name = "cut",
                    .what = {.kind = fault::Kind::rate, .levels = {{.rate = {500'000}}}},
                    .when = {.iteration = 1, .length = 1s, .iterations = 2},
                    .places = {{.host = HostIndex{1}, .side = fault::Side::received}}}};
    for (AgentResult& agent : run.agents) {
      for (measure::IterationPartial& partial : agent.measurements->results.iterations)
        if (partial.iteration == 1 || partial.iteration == 2) partial.longest *= 2;
    }
    run.agents[1].measurements->faults = {
        .spells = {{.began = Instant{105s} + 10ms + 60us, .ended = Instant{105s} + 30ms + 60us}},
        .effects = {{.fault = 0, .messages = 200, .hit = 90}}};
    measure::FlowMeasurements& flows = run.agents[0].measurements->flow_times;
    flows.windows = {0, 1, 3};
    flows.flows = {{.source = Rank{0},
                    .destination = Rank{2},
                    .outgoing = true,
                    .windows = {{.stood = 1ms}, {.stood = 12ms}, {.stood = 1ms}}}};
    run.agents[1].measurements->flow_times.windows = flows.windows;
  }
  Report report() const { return make_report(plan, test::small_load(), run); }
  Summary summary() const { return report().summary; }

  plan::Plan plan = test::small_plan();
  RunMeasurements run = test::good_run();
};

TEST(DrillReport, ComparesTheStagesOfEachJob) {
  const Summary summary = Drill().summary();
  const auto& stages = summary.jobs[0].stages;
  ASSERT_TRUE(stages);
  EXPECT_EQ(stages->stages[0].time.count, 1U);
  EXPECT_EQ(stages->stages[1].time.count, 2U);
  EXPECT_EQ(stages->stages[1].begin, 1U);
  EXPECT_EQ(stages->stages[1].end, 3U);
  EXPECT_NEAR(stages->stages[1].times_before.value_or(0), 2, 0.1);
  EXPECT_EQ(stages->noticed, (Reached{.iteration = 1, .iterations = 1, .time = 12200us}));
  EXPECT_EQ(stages->recovered, (Reached{.iteration = 3, .iterations = 0, .time = 0ms}));
  ASSERT_EQ(stages->stages[1].waits.size(), 1U);
  EXPECT_EQ(stages->stages[1].waits[0], (Wait{Rank{0}, Rank{2}, true, 6ms}));
}

TEST(DrillReport, ComparesTheBurstsOfEachNic) {
  const Summary summary = Drill().summary();
  ASSERT_FALSE(summary.bursts.empty());
  const BurstSummary& burst = summary.bursts[0];
  ASSERT_EQ(burst.stages.size(), 3U);
  EXPECT_EQ(burst.stages[0].stage, Stage::before);
  // One burst an iteration, and one iteration before, two during, one after.
  EXPECT_EQ(burst.stages[0].total, Bytes{1'600'000});
  EXPECT_EQ(burst.stages[1].total, Bytes{3'200'000});
  EXPECT_EQ(burst.stages[2].total, Bytes{1'600'000});
  EXPECT_GT(burst.stages[1].length, 19ms);
}

TEST(DrillReport, LooksForTheFaultAmongTheSuspects) {
  const Summary summary = Drill().summary();
  ASSERT_EQ(summary.faults.size(), 1U);
  EXPECT_EQ(summary.faults[0].found, Found::no);
  EXPECT_THAT(summary.faults[0].finding, HasSubstr("nobody was named"));
}

TEST(DrillReport, ExpectationsOfStagesMakeTheVerdict) {
  Drill drill;
  drill.plan.expectations = {
      {.metric = "iteration_p50", .stage = Stage::during, .at_most_of_before = {2'200'000}},
      {.metric = "recovery", .within = {100'000}, .iterations = 1},
      {.metric = "notice", .iterations = 1}};
  Summary summary = drill.summary();
  EXPECT_EQ(summary.verdict, Verdict::pass);
  EXPECT_THAT(summary.reasons, Contains(HasSubstr("iteration p50 during the faults is")));
  EXPECT_THAT(summary.reasons, Contains(HasSubstr("recovery to within 10% of before in 0")));
  EXPECT_THAT(summary.reasons, Contains(HasSubstr("noticed the faults in 1 iteration")));
  EXPECT_THAT(summary.reasons.front(), HasSubstr("3 expectations are met"));

  drill.plan.expectations[0].at_most_of_before = {1'500'000};
  summary = drill.summary();
  EXPECT_EQ(summary.verdict, Verdict::fail);
  EXPECT_THAT(summary.reasons.front(), HasSubstr("expected at most 1.50 times"));
  EXPECT_THAT(summary.reasons, Contains(HasSubstr("noticed the faults in 1 iteration")));
}

TEST(DrillReport, AFaultThatIsNotFoundIsAMiss) {
  Drill drill;
  drill.plan.expectations = {{.metric = "found", .of_fault = "cut"}};
  const Summary summary = drill.summary();
  EXPECT_EQ(summary.verdict, Verdict::fail);
  EXPECT_THAT(summary.reasons, Contains(HasSubstr("was not found")));
}

TEST(DrillReport, WhatWasNotMeasuredIsUnknown) {
  Drill drill;
  drill.plan.faults[0].when = {.after = 1h, .length = 1s};
  drill.run.agents[1].measurements->faults = {};
  drill.plan.expectations = {
      {.metric = "iteration_p50", .stage = Stage::during, .at_most_of_before = {2'200'000}}};
  const Summary summary = drill.summary();
  EXPECT_EQ(summary.verdict, Verdict::unknown);
  EXPECT_FALSE(summary.jobs[0].stages);
  EXPECT_EQ(summary.faults[0].found, Found::not_applicable);
}

TEST(DrillReport, TextAndTableAreGolden) {
  const Report report = Drill().report();
  rehearsal::test::expect_golden("report/summary_faults.json", report.summary_json);
  rehearsal::test::expect_golden("report/table_faults.txt", summary_table(report.summary, false));
}

TEST(DrillReport, ComesBackFromItsText) {
  const Report report = Drill().report();
  const auto back = read_summary(report.summary_json);
  ASSERT_TRUE(back) << back.error().text();
  EXPECT_EQ(*back, report.summary);
}

TEST(DrillReport, ARunWithoutFaultsHasNoStages) {
  Drill drill;
  drill.plan.faults.clear();
  drill.run.agents[1].measurements->faults = {};
  const Summary summary = drill.summary();
  EXPECT_FALSE(summary.jobs[0].stages);
  EXPECT_TRUE(summary.timeline.empty());
  EXPECT_TRUE(summary.bursts[0].stages.empty());
}

}  // namespace
}  // namespace rehearsal::report
