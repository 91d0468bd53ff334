#include "core/report/stages.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/golden.hpp"

namespace rehearsal::report {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;

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
  EXPECT_EQ(comparison.noticed, (Reached{.iteration = 11, .iterations = 2, .time = 29ms}));
  EXPECT_EQ(comparison.recovered, (Reached{.iteration = 17, .iterations = 2, .time = 32ms}));
}

TEST(Stages, AFaultThatNobodyFeelsIsNotNoticed) {
  const StageComparison comparison =
      compare_stages(times(std::vector<Duration>(21, 10ms)), kFaults);
  EXPECT_FALSE(comparison.noticed);
  EXPECT_EQ(comparison.recovered, (Reached{.iteration = 15, .iterations = 0, .time = 0ms}));
}

TEST(Stages, AJobThatStaysSlowDoesNotRecover) {
  auto iterations = drill();
  for (std::size_t i = 15; i < iterations.size(); ++i) iterations[i].time = 12ms;
  EXPECT_FALSE(compare_stages(iterations, kFaults).recovered);
  EXPECT_TRUE(compare_stages(iterations, kFaults, fault::Fraction{250'000}).recovered);
}

TEST(Stages, WithoutIterationsNothingIsKnown) {
  const StageComparison comparison = compare_stages({}, kFaults);
  EXPECT_FALSE(comparison.stages[0].time.p50);
  EXPECT_FALSE(comparison.stages[1].times_before);
  EXPECT_FALSE(comparison.recovered);
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
  const std::vector<Wait> waits = longest_waits(agents, JobIndex{0}, 10, 15, 21);
  EXPECT_THAT(waits,
              ElementsAre(Wait{Rank{1}, Rank{2}, false, 10ms}, Wait{Rank{1}, Rank{0}, true, 2ms}));
}

TEST(Waits, AreOfOneJobAndOfWholeWindows) {
  measure::FlowMeasurements flows;
  flows.windows = {0, 10, 15};
  flows.flows = {{.job = JobIndex{1},
                  .source = Rank{2},
                  .destination = Rank{1},
                  .outgoing = false,
                  .windows = {{.stood = 1ms}, {.stood = 50ms}, {.stood = 1ms}}}};
  const measure::FlowMeasurements nothing;
  const std::vector<AgentFlows> agents = {{.host = HostIndex{0}, .measurements = &flows},
                                          {.host = HostIndex{1}, .measurements = &nothing}};
  EXPECT_TRUE(longest_waits(agents, JobIndex{0}, 10, 15, 21).empty());
  EXPECT_TRUE(longest_waits(agents, JobIndex{1}, 11, 15, 21).empty());
  EXPECT_THAT(longest_waits(agents, JobIndex{1}, 10, 15, 21),
              ElementsAre(Wait{Rank{1}, Rank{2}, false, 10ms}));
}

TEST(StageTable, IsGolden) {
  StageComparison comparison = compare_stages(drill(), kFaults);
  comparison.stages[1].waits = {{Rank{1}, Rank{2}, false, 10ms}, {Rank{1}, Rank{0}, true, 2ms}};
  rehearsal::test::expect_golden("report/stages.txt", stage_table(comparison, "dlrm"));
}

}  // namespace
}  // namespace rehearsal::report
