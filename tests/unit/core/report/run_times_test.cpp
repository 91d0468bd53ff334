#include "core/report/run_times.hpp"

#include <gmock/gmock.h>

#include "tests/unit/core/report/small_run.hpp"

namespace rehearsal::report {
namespace {

using namespace std::chrono_literals;
using plan::FaultRange;

/// Four iterations of 6 ms, 10 ms apart, on two hosts; the second one's clock is 5 s ahead.
struct Sample {
  Sample() { run = test::good_run(); }

  void by_iteration(std::uint32_t iteration, std::uint32_t iterations) {
    plan.faults = {{.name = "cut",
                    .what = {.kind = fault::Kind::rate, .levels = {{.rate = {500'000}}}},
                    .when = {.iteration = iteration, .length = 1s, .iterations = iterations},
                    .places = {{.host = HostIndex{1}}}}};
  }
  void by_time() {
    by_iteration(0, 0);
    plan.faults[0].when = {.after = 5ms, .length = 1s};
  }
  /// On host2, by the coordinator's clock.
  void on(Duration began, Duration ended) {
    run.agents[1].measurements->faults.spells.push_back(
        {.began = Instant{105s} + began, .ended = Instant{105s} + ended});
  }
  std::vector<CountedAgent> agents() const {
    return counted(run, std::vector<std::string>(run.agents.size()));
  }
  std::optional<FaultRange> range() const {
    return fault_ranges(plan, agents(), iteration_spans(plan, agents())).at(0);
  }

  plan::Plan plan = test::small_plan();
  RunMeasurements run;
};

TEST(IterationSpans, AreOnTheCoordinatorsClock) {
  const Sample sample;
  const IterationSpans spans = iteration_spans(sample.plan, sample.agents());
  ASSERT_EQ(spans.size(), 1U);
  ASSERT_EQ(spans[0].size(), 4U);
  EXPECT_EQ(spans[0][0].begin, Instant{100s} + 20us);
  EXPECT_EQ(spans[0][0].end, Instant{100s} + 55us + 6ms);
  EXPECT_EQ(spans[0][3].iteration, 3U);
  EXPECT_EQ(spans[0][3].begin, Instant{100s} + 30ms + 20us);
}

TEST(FaultRanges, OfAFaultByTimeAreTheIterationsThatItHit) {
  Sample sample;
  sample.by_time();
  EXPECT_FALSE(sample.range()) << "it was never on";
  sample.on(11ms, 23ms);
  EXPECT_EQ(sample.range(), (FaultRange{1, 3}));
}

TEST(FaultRanges, GoFromTheFirstTimeToTheLast) {
  Sample sample;
  sample.by_time();
  sample.on(11ms, 12ms);
  sample.on(34ms, 35ms);
  EXPECT_EQ(sample.range(), (FaultRange{1, 4}));
}

TEST(FaultRanges, AFaultBetweenIterationsHitsNone) {
  Sample sample;
  sample.by_time();
  sample.on(8ms, 9ms);
  EXPECT_FALSE(sample.range());
}

TEST(FaultRanges, WhatEndsRightAfterAnIterationBeganDidNotHitIt) {
  Sample sample;
  sample.by_time();
  sample.on(11ms, 20ms + 50us);
  EXPECT_EQ(sample.range(), (FaultRange{1, 2}));
}

TEST(FaultRanges, AShortFaultInALongIterationHitsIt) {
  Sample sample;
  sample.by_time();
  sample.on(22ms, 22ms + 20us);
  EXPECT_EQ(sample.range(), (FaultRange{2, 3}));
}

TEST(FaultRanges, OfAFaultByIterationAreThoseOfThePlan) {
  Sample sample;
  sample.by_iteration(1, 2);
  EXPECT_EQ(sample.range(), (FaultRange{1, 3})) << "nobody says when it was on";
  sample.on(10ms + 60us, 30ms + 3ms);
  EXPECT_EQ(sample.range(), (FaultRange{1, 3}));
}

TEST(FaultRanges, ADeadlineCutsThem) {
  Sample sample;
  sample.by_iteration(1, 2);
  sample.on(10ms + 60us, 14ms);
  EXPECT_EQ(sample.range(), (FaultRange{1, 2}));
  sample.by_iteration(1, 0);
  EXPECT_EQ(sample.range(), (FaultRange{1, 2})) << "it ends by time";
}

TEST(FaultRanges, AJobThatRunsFreeOfTheFaultsJobHasItsOwn) {
  Sample sample;
  sample.by_iteration(1, 2);
  sample.plan.jobs.push_back(sample.plan.jobs[0]);
  sample.plan.faults[0].job = JobIndex{0};
  sample.on(10ms + 60us, 29ms);
  for (AgentResult& agent : sample.run.agents) {
    auto& iterations = agent.measurements->results.iterations;
    const auto first_job = iterations;
    for (measure::IterationPartial partial : first_job) {
      partial.job = JobIndex{1};
      partial.first_start += 10ms;
      partial.last_done += 10ms;
      iterations.push_back(partial);
    }
  }
  const auto ranges = [&] {
    return fault_ranges(sample.plan, sample.agents(),
                        iteration_spans(sample.plan, sample.agents()));
  };
  sample.plan.synchronisation = plan::SyncMode::free;
  EXPECT_EQ(ranges().at(0), (FaultRange{1, 3}));
  EXPECT_EQ(ranges().at(1), (FaultRange{0, 2}));
  sample.run.agents[1].measurements->faults.spells.clear();
  EXPECT_FALSE(ranges().at(1));
  sample.plan.synchronisation = plan::SyncMode::iteration;
  EXPECT_EQ(ranges().at(1), (FaultRange{1, 3})) << "they are in step";
}

TEST(StageSpans, DivideTheRunOnTheHostsOwnClock) {
  const Sample sample;
  const std::vector<std::optional<FaultRange>> ranges = {FaultRange{1, 3}};
  const StageSpans spans = stage_spans(sample.agents().at(1), ranges);
  ASSERT_TRUE(spans[0] && spans[1] && spans[2]);
  const Instant start = Instant{105s} + 55us;
  EXPECT_EQ(*spans[0], std::pair(start, start + 10ms));
  EXPECT_EQ(*spans[1], std::pair(start + 10ms, start + 30ms));
  EXPECT_EQ(*spans[2], std::pair(start + 30ms, start + 36ms + 300us));
}

TEST(StageSpans, AreAbsentWhereThereIsNoSuchStage) {
  const Sample sample;
  const std::vector<std::optional<FaultRange>> to_the_end = {FaultRange{0, 4}};
  const StageSpans spans = stage_spans(sample.agents().at(0), to_the_end);
  EXPECT_FALSE(spans[0]);
  EXPECT_TRUE(spans[1]);
  EXPECT_FALSE(spans[2]);
  const std::vector<std::optional<FaultRange>> unknown = {std::nullopt};
  EXPECT_EQ(stage_spans(sample.agents().at(0), unknown), StageSpans{});
}

TEST(CountedAgents, AreThoseWithoutContradictions) {
  const Sample sample;
  const auto agents = counted(sample.run, std::vector<std::string>{"it lies", ""});
  ASSERT_EQ(agents.size(), 1U);
  EXPECT_EQ(agents[0].host, HostIndex{1});
}

}  // namespace
}  // namespace rehearsal::report
