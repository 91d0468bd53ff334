#include "core/report/fault_summary.hpp"

#include <gmock/gmock.h>

#include "core/plan/plan.hpp"
#include "core/report/run_measurements.hpp"
#include "core/report/summary.hpp"

namespace rehearsal::report {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::IsEmpty;

/// Two hosts; the second one's clock is 100 s behind the coordinator's.
struct Sample {
  Sample() {
    plan.hosts.resize(2);
    plan.hosts[0].host = "h1";
    plan.hosts[1].host = "h2";
    plan.faults = {{.name = "cut",
                    .what = {.kind = fault::Kind::rate, .levels = {{.rate = {500'000}}}},
                    .when = {.iteration = 3, .length = 30s},
                    .places = {{.host = HostIndex{1}}}},
                   {.name = "power",
                    .what = {.kind = fault::Kind::crash, .levels = {{}}},
                    .when = {.iteration = 9, .length = 1s},
                    .places = {{.host = HostIndex{0}}}}};
    AgentResult first{.host = HostIndex{0}, .measurements = measure::AgentMeasurements{}};
    first.measurements->results.iterations = {{.first_start = Instant{1000s}}};
    AgentResult second{.host = HostIndex{1},
                       .measurements = measure::AgentMeasurements{},
                       .clocks = {{.reference = Instant{900s}, .offset = 100s}}};
    second.measurements->results.iterations = {{.first_start = Instant{901s}}};
    second.measurements->faults = {
        .spells = {{.fault = 0, .level = 0, .began = Instant{903s}, .ended = Instant{905s}}},
        .effects = {{.fault = 0, .messages = 50, .hit = 40}}};
    run.agents = {first, second};
  }
  plan::Plan plan;
  RunMeasurements run;
};

TEST(FaultSummary, TimesCountFromTheFirstStartOnTheCoordinatorsClock) {
  const Sample sample;
  const auto faults = fault_summaries(sample.plan, sample.run);
  ASSERT_EQ(faults.size(), 2U);
  EXPECT_EQ(faults[0].what, "rate 50%");
  EXPECT_EQ(faults[0].messages, 50U);
  EXPECT_EQ(faults[0].hit, 40U);
  ASSERT_EQ(faults[0].spells.size(), 1U);
  EXPECT_EQ(faults[0].spells[0].host, "h2");
  EXPECT_EQ(faults[0].spells[0].began, 3s);
  EXPECT_EQ(faults[0].spells[0].ended, 5s);
  EXPECT_THAT(faults[1].spells, IsEmpty());
}

TEST(FaultSummary, WhatWasNotAsPlannedIsLoud) {
  Sample sample;
  sample.run.agents[1].measurements->faults.problems = {{.fault = 0, .text = "STUCK: no"},
                                                        {.fault = 9, .text = "of no fault"}};
  const auto faults = fault_summaries(sample.plan, sample.run);
  ASSERT_EQ(faults[0].problems.size(), 1U);
  EXPECT_EQ(faults[0].problems[0], (FaultProblemSummary{.host = "h2", .text = "STUCK: no"}));
  EXPECT_THAT(fault_lines(faults), HasSubstr("!! cut on h2: STUCK: no"));
}

TEST(FaultSummary, ALevelEndsWhereTheNextOneBeginsHoweverTheClockWasEstimated) {
  Sample sample;
  sample.run.agents[1].clocks.push_back({.reference = Instant{905s}, .offset = 100s - 7us});
  sample.run.agents[1].measurements->faults.spells.push_back(
      {.fault = 0, .level = 1, .began = Instant{905s}, .ended = Instant{907s}});
  const auto faults = fault_summaries(sample.plan, sample.run);
  ASSERT_EQ(faults[0].spells.size(), 2U);
  EXPECT_EQ(faults[0].spells[0].ended, faults[0].spells[1].began);
}

TEST(FaultSummary, StandsInTheTableAndTheSeries) {
  const Sample sample;
  const std::string table = fault_lines(fault_summaries(sample.plan, sample.run));
  EXPECT_THAT(table, HasSubstr("never on"));
  EXPECT_THAT(table, HasSubstr("40 of 50"));
  const std::string series = fault_series(sample.plan, sample.run);
  EXPECT_THAT(series, HasSubstr(R"("fault":"cut")"));
  EXPECT_THAT(series, HasSubstr(R"("clock_offset_ns":100000000000)"));
  EXPECT_THAT(fault_lines({}), IsEmpty());
}

TEST(FaultSummary, WhatAnAgentMakesUpDoesNotCount) {
  Sample sample;
  sample.run.agents[1].measurements->faults.spells[0].fault = 7;
  sample.run.agents[1].measurements->faults.effects[0].fault = 7;
  EXPECT_THAT(fault_summaries(sample.plan, sample.run)[0].spells, IsEmpty());
  EXPECT_THAT(fault_series(sample.plan, sample.run), IsEmpty());
}

TEST(FaultSummary, TrafficIsAddedUpOverAgents) {
  Sample sample;
  sample.plan.faults[0].what = {
      .kind = fault::Kind::incast, .levels = {{}}, .message = Bytes{1'000}, .credits = 4};
  sample.run.agents[0].measurements->faults.background = {
      {.fault = 0, .received = Bytes{4'000'000}}, {.fault = 7, .sent = Bytes{1}}};
  sample.run.agents[1].measurements->faults.background = {{.fault = 0, .sent = Bytes{5'000'000}}};
  const auto faults = fault_summaries(sample.plan, sample.run);
  EXPECT_TRUE(faults[0].traffic);
  EXPECT_FALSE(faults[1].traffic);
  EXPECT_EQ(faults[0].background_sent, Bytes{5'000'000});
  EXPECT_EQ(faults[0].background_received, Bytes{4'000'000});
  EXPECT_THAT(fault_lines(faults), HasSubstr("4.77 MiB sent, 3.81 MiB received"));
}

TEST(FaultSummary, TrafficIsReadBackFromTheSummary) {
  Summary summary;
  summary.faults = {{.name = "jam", .traffic = true, .background_sent = Bytes{5}}, {.name = "cut"}};
  summary.nics = {{.host = "h1", .background_received = Bytes{7}}, {.host = "h2"}};
  const auto read = read_summary(summary_json(summary));
  ASSERT_TRUE(read) << read.error().text();
  EXPECT_EQ(read->faults, summary.faults);
  EXPECT_EQ(read->nics, summary.nics);
}

TEST(FaultSummary, ACrashIsNamed) {
  const Sample sample;
  EXPECT_EQ(crash_of(sample.plan, 0), "power");
  EXPECT_EQ(crash_of(sample.plan, 1), "");
}

}  // namespace
}  // namespace rehearsal::report
