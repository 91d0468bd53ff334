// Whole drills in virtual time, from the YAML to the report: steady state, fault, recovery,
// verdict.
#include <gmock/gmock.h>

#include "core/report/summary.hpp"
#include "tests/simulation/cluster.hpp"

namespace rehearsal::simulation {
namespace {

using report::Found;
using report::Summary;
using report::Verdict;
using testing::Contains;
using testing::HasSubstr;

constexpr std::uint32_t kHosts = 4;
constexpr std::uint64_t kChunk = 64 << 10;
constexpr BitRate kRate{1'000'000'000};

/// A rank a host: compute, then an all_reduce of twenty rounds of chunks.
profile::Profile ring_job(Duration compute) {
  profile::Profile profile = test::sample_profile(kHosts);
  profile::Op work = profile.classes[0].ops[0];
  profile::Op reduce = profile.classes[0].ops[2];
  work.duration = compute;
  reduce.after = {0};
  reduce.bytes = Bytes{kHosts * 20 * kChunk};
  profile.classes[0].ops = {work, reduce};
  if (compute == Duration::zero()) {
    reduce.after.clear();
    profile.classes[0].ops = {reduce};
  }
  return profile;
}

/// Ten iterations before, ten with the fault, ten after.
std::string drill_of(const std::string& fault, const std::string& expectations) {
  return "drill: rehearsed\n"
         "jobs: [{name: ring, profile: sample, hosts: \"host[0-3]\", nics: [data0]}]\n"
         "iterations: 30\n"
         "collectives: {channels: 1, slices_per_chunk: 1, chunk: 64KiB}\n"
         "faults:\n  - {name: bad, " +
         fault + "}\nexpectations:\n" + expectations;
}

/// A chunk takes a whole number of nanoseconds and has no latency, and control messages all take
/// the same time, so that clocks are known exactly.
WorldOptions exact(std::uint64_t seed) {
  WorldOptions options = cluster(kHosts, seed);
  options.control = {.delay_min = 20us, .delay_max = 20us};
  options.fabric.latency = 0us;
  options.fabric.rate = kRate;
  for (plan::Inventory& host : options.inventories)
    for (plan::Nic& nic : host.nics) nic.line_rate = kRate;
  return options;
}

struct Cut {
  const char* share;
  std::uint32_t times;
};
class NicRateDrill : public testing::TestWithParam<Cut> {};

TEST_P(NicRateDrill, IsAsManyTimesSlowerDuringAndRecoversAndIsFound) {
  const Cut cut = GetParam();
  World world(exact(21));
  const Summary summary = live_through(
      world, ring_job(0s),
      drill_of(
          "what: {kind: rate, to: " + std::string(cut.share) +
              "}, where: {hosts: host1, nics: data0}, when: {iteration: 10, iterations: 10, "
              "for: 1min}",
          "  - {metric: iteration_p50, stage: during, at_most: " + std::to_string(cut.times * 100) +
              "%}\n"
              "  - {metric: notice, iterations: 1}\n"
              "  - {metric: recovery, within: 1%, iterations: 1}\n"
              "  - {metric: found, fault: bad}\n"));
  EXPECT_EQ(summary.verdict, Verdict::pass) << testing::PrintToString(summary.reasons);
  ASSERT_EQ(summary.jobs.size(), 1U);
  ASSERT_TRUE(summary.jobs[0].stages);
  const report::StageComparison& stages = *summary.jobs[0].stages;
  EXPECT_EQ(stages.stages[1].begin, 10U);
  EXPECT_EQ(stages.stages[1].end, 20U);
  ASSERT_TRUE(stages.stages[0].time.p50 && stages.stages[1].time.p50);
  EXPECT_EQ(*stages.stages[1].time.p50, *stages.stages[0].time.p50 * cut.times);
  EXPECT_EQ(stages.stages[2].time.p50, stages.stages[0].time.p50);
  ASSERT_TRUE(stages.noticed);
  EXPECT_EQ(stages.noticed->iteration, 10U);
  ASSERT_TRUE(stages.recovered);
  EXPECT_LE(stages.recovered->iterations, 1U);

  ASSERT_EQ(summary.faults.size(), 1U);
  EXPECT_EQ(summary.faults[0].found, Found::yes) << summary.faults[0].finding;
  ASSERT_TRUE(summary.suspects && summary.suspects->size() == 1U);
  EXPECT_EQ(summary.suspects->front().host, "host1");
  EXPECT_EQ(summary.suspects->front().nic, "data0");
  EXPECT_GE(summary.suspects->front().confidence, 0.8);
}

INSTANTIATE_TEST_SUITE_P(Parts, NicRateDrill, testing::Values(Cut{"1/2", 2}, Cut{"1/4", 4}),
                         [](const auto& tested) {
                           return "To" + std::to_string(tested.param.times);
                         });

TEST(NicRateDrills, WhoWaitsForWhomPointsAtTheSlowNic) {
  World world(exact(22));
  const Summary summary = live_through(
      world, ring_job(0s),
      drill_of("what: {kind: rate, to: 25%}, where: {hosts: host1, nics: data0, direction: sent}, "
               "when: {iteration: 10, iterations: 10, for: 1min}",
               "  - {metric: found}\n"));
  ASSERT_TRUE(!summary.jobs.empty() && summary.jobs[0].stages);
  const auto& waits = summary.jobs[0].stages->stages[1].waits;
  ASSERT_FALSE(waits.empty());
  EXPECT_EQ(waits.front().waiting, Rank{2}) << "the ring's next rank";
  EXPECT_EQ(waits.front().awaited, Rank{1});
  EXPECT_FALSE(waits.front().for_credit);
}

TEST(NicRateDrills, TheTimeLineHasWhatHappenedInItsOrder) {
  World world(exact(23));
  const Summary summary = live_through(
      world, ring_job(0s),
      drill_of("what: {kind: rate, to: [50%, 25%]}, where: {hosts: host1, nics: data0}, when: "
               "{iteration: 10, iterations: 10, for: 1min}",
               "  - {metric: found}\n"));
  std::vector<std::string> events;
  for (const report::TimelineEvent& event : summary.timeline) events.push_back(event.event);
  EXPECT_THAT(events, testing::ElementsAre("started", "fault_began", "noticed", "fault_began",
                                           testing::AnyOf("fault_ended", "recovered"),
                                           testing::AnyOf("fault_ended", "recovered"), "ended"));
}

TEST(StragglerDrill, AddsWhatItComputesLongerAndIsFoundAsComputingNotAsNetwork) {
  World world(exact(24));
  const Summary summary = live_through(
      world, ring_job(40ms),
      drill_of("what: {kind: straggler, compute: 200%}, where: {ranks: 2}, when: {iteration: 10, "
               "iterations: 10, for: 1min}",
               "  - {metric: iteration_p50, stage: during, at_most: 200%}\n"
               "  - {metric: recovery, within: 1%, iterations: 1}\n"
               "  - {metric: found, fault: bad}\n"));
  EXPECT_EQ(summary.verdict, Verdict::pass) << testing::PrintToString(summary.reasons);
  ASSERT_TRUE(!summary.jobs.empty() && summary.jobs[0].stages);
  const auto& stages = summary.jobs[0].stages->stages;
  ASSERT_TRUE(stages[0].time.p50 && stages[1].time.p50);
  EXPECT_EQ(*stages[1].time.p50 - *stages[0].time.p50, Duration{40ms});
  ASSERT_TRUE(summary.suspects && summary.suspects->size() == 1U);
  EXPECT_EQ(summary.suspects->front().place, "rank");
  EXPECT_EQ(summary.suspects->front().rank, 2U);
}

TEST(DrillsByTime, TheStagesAreWhenTheFaultTrulyWasOn) {
  World world(exact(25));
  const Summary summary = live_through(
      world, ring_job(0s),
      drill_of("what: {kind: rate, to: 50%}, where: {hosts: host1}, when: {after: 400ms, for: "
               "400ms}",
               "  - {metric: iteration_p50, stage: during, at_most: 200%}\n"
               "  - {metric: recovery, within: 1%, iterations: 2}\n"));
  EXPECT_EQ(summary.verdict, Verdict::pass) << testing::PrintToString(summary.reasons);
  ASSERT_TRUE(!summary.jobs.empty() && summary.jobs[0].stages);
  const auto& stages = summary.jobs[0].stages->stages;
  EXPECT_GT(stages[0].time.count, 0U);
  EXPECT_GT(stages[1].time.count, 0U);
  EXPECT_GT(stages[2].time.count, 0U);
  EXPECT_EQ(stages[0].time.count + stages[1].time.count + stages[2].time.count, 30U);
  EXPECT_EQ(stages[2].time.p50, stages[0].time.p50);
}

TEST(DrillsThatMiss, AFaultThatSlowsNothingIsNotFound) {
  World world(exact(26));
  const Summary summary = live_through(
      world, ring_job(0s),
      drill_of("what: {kind: delay, by: 1ns}, where: {hosts: host1}, when: {iteration: 10, "
               "iterations: 10, for: 1min}",
               "  - {metric: found}\n  - {metric: notice, iterations: 5}\n"));
  EXPECT_EQ(summary.verdict, Verdict::fail);
  EXPECT_THAT(summary.reasons, Contains(HasSubstr("was not found: nobody was named")));
  EXPECT_THAT(summary.reasons, Contains(HasSubstr("No job noticed the faults")));
}

}  // namespace
}  // namespace rehearsal::simulation
