#include "core/report/stages.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/golden.hpp"

namespace rehearsal::report {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using Outcome = StageJudgement::Outcome;

/// Iterations one after the other.
std::vector<measure::IterationTime> times(const std::vector<Duration>& durations) {
  std::vector<measure::IterationTime> result;
  for (const Duration duration : durations) {
    result.push_back({.job = JobIndex{0},
                      .iteration = static_cast<std::uint32_t>(result.size()),
                      .time = duration});
  }
  return result;
}

/// Ten at 10 ms, a fault for five from the second of which it is felt, recovery in two.
std::vector<measure::IterationTime> drill() {
  std::vector<Duration> durations(10, 10ms);
  durations[3] = 11ms;
  durations.insert(durations.end(), {10ms, 19ms, 20ms, 20ms, 20ms});
  durations.insert(durations.end(), {20ms, 12ms, 10ms, 10ms, 10ms, 10ms});
  return times(durations);
}
constexpr FaultRange kFaults{10, 15};

TEST(Stages, AreComparedWithTheOneBefore) {
  const StageComparison comparison = compare_stages(drill(), kFaults);
  EXPECT_EQ(comparison.stages[0].time.p50, Duration{10ms});
  EXPECT_EQ(comparison.stages[0].time.count, 10U);
  EXPECT_EQ(comparison.stages[1].time.p50, Duration{20ms});
  EXPECT_DOUBLE_EQ(comparison.stages[1].times_before.value_or(0), 2);
  EXPECT_EQ(comparison.stages[0].tail, Duration{11ms});
  EXPECT_EQ(comparison.stages[2].end, 21U);
}

TEST(Stages, SayWhenAFaultWasNoticedAndHowLongTheJobTookToRecover) {
  const StageComparison comparison = compare_stages(drill(), kFaults);
  EXPECT_EQ(comparison.iterations_to_notice, 2U);
  EXPECT_EQ(comparison.time_to_notice, Duration{29ms});
  EXPECT_EQ(comparison.iterations_to_recover, 2U);
  EXPECT_EQ(comparison.time_to_recover, Duration{32ms});
}

TEST(Stages, AFaultThatNobodyFeelsIsNotNoticed) {
  const StageComparison comparison =
      compare_stages(times(std::vector<Duration>(21, 10ms)), kFaults);
  EXPECT_FALSE(comparison.iterations_to_notice);
  EXPECT_EQ(comparison.iterations_to_recover, 0U);
}

TEST(Stages, AJobThatStaysSlowDoesNotRecover) {
  auto iterations = drill();
  for (std::size_t i = 15; i < iterations.size(); ++i) iterations[i].time = 12ms;
  EXPECT_FALSE(compare_stages(iterations, kFaults).iterations_to_recover);
  EXPECT_EQ(compare_stages(iterations, kFaults, 0.25).iterations_to_recover, 0U);
}

TEST(Stages, WithoutIterationsNothingIsKnown) {
  const StageComparison comparison = compare_stages({}, kFaults);
  EXPECT_FALSE(comparison.stages[0].time.p50);
  EXPECT_FALSE(comparison.stages[1].times_before);
  EXPECT_FALSE(comparison.iterations_to_recover);
}

TEST(StageExpectations, OfTheStageDuring) {
  StageExpectation expectation{.stage = Stage::during, .at_most_times_before = 2};
  EXPECT_EQ(judge_stage(drill(), kFaults, expectation).outcome, Outcome::met);
  expectation.at_most_times_before = 1.9;
  const StageJudgement missed = judge_stage(drill(), kFaults, expectation);
  EXPECT_EQ(missed.outcome, Outcome::missed);
  EXPECT_EQ(missed.reason,
            "Iteration p50 during is 20.0 ms, 2.00 times that before, expected at most 1.90 times "
            "that before.");
  expectation.p99 = true;
  EXPECT_EQ(judge_stage(drill(), kFaults, expectation).outcome, Outcome::not_measured);
}

TEST(StageExpectations, OfRecovery) {
  StageExpectation expectation{.stage = Stage::after, .within_of_before = 0.05, .in_iterations = 2};
  EXPECT_EQ(judge_stage(drill(), kFaults, expectation).outcome, Outcome::met);
  expectation.in_iterations = 1;
  const StageJudgement late = judge_stage(drill(), kFaults, expectation);
  EXPECT_EQ(late.outcome, Outcome::missed);
  EXPECT_THAT(late.reason, HasSubstr("recovered in 2 iterations"));
  EXPECT_EQ(judge_stage(drill(), {10, 21}, expectation).outcome, Outcome::not_measured);
}

TEST(Waits, AreRankedAndGivenForAnIteration) {
  measure::FlowMeasurements flows;
  flows.windows = {0, 10, 15};
  flows.flows = {{.source = Rank{2},
                  .destination = Rank{1},
                  .outgoing = false,
                  .windows = {{}, {.stood = 50ms}, {.stood = 1ms}}},
                 {.source = Rank{1},
                  .destination = Rank{0},
                  .outgoing = true,
                  .windows = {{.stood = 9ms}, {.stood = 10ms}, {}}}};
  const std::vector<AgentFlows> agents = {{.host = HostIndex{0}, .measurements = &flows}};
  const std::vector<Wait> waits = longest_waits(agents, 10, 15, 21);
  ASSERT_EQ(waits.size(), 2U);
  EXPECT_EQ(waits[0], (Wait{JobIndex{0}, Rank{1}, Rank{2}, false, 10ms}));
  EXPECT_EQ(waits[1], (Wait{JobIndex{0}, Rank{1}, Rank{0}, true, 2ms}));
}

TEST(StageTable, IsGolden) {
  StageComparison comparison = compare_stages(drill(), kFaults);
  comparison.stages[1].waits = {{JobIndex{0}, Rank{1}, Rank{2}, false, 10ms},
                                {JobIndex{0}, Rank{1}, Rank{0}, true, 2ms}};
  rehearsal::test::expect_golden("report/stages.txt", stage_table(comparison, "dlrm"));
}

}  // namespace
}  // namespace rehearsal::report
