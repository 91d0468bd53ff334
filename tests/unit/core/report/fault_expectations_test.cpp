#include "core/report/fault_expectations.hpp"

#include <gmock/gmock.h>

namespace rehearsal::report {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using Outcome = Checked::Outcome;
using plan::Expectation;
using plan::Stage;

/// Ten iterations at 10 ms, a fault for five from the second of which it is felt, recovery in two.
StagedJob job(std::string name = "dlrm") {
  std::vector<Duration> durations(10, 10ms);
  durations.insert(durations.end(), {10ms, 19ms, 20ms, 20ms, 20ms});
  durations.insert(durations.end(), {20ms, 12ms, 10ms, 10ms, 10ms, 10ms});
  StagedJob job{.name = std::move(name), .faults = plan::FaultRange{10, 15}};
  for (const Duration duration : durations) {
    job.times.push_back(
        {.iteration = static_cast<std::uint32_t>(job.times.size()), .time = duration});
  }
  return job;
}

Checked check(const Expectation& expectation, const StagedJob& staged = job()) {
  const auto checked = check_stages(expectation, std::vector{staged});
  EXPECT_EQ(checked.size(), 1U);
  return checked.at(0);
}

Expectation during(std::uint32_t millionths, std::string metric = "iteration_p50") {
  return {.metric = std::move(metric), .stage = Stage::during, .at_most_of_before = {millionths}};
}

TEST(StageExpectations, AsAShareOfBefore) {
  const Checked met = check(during(2'000'000));
  EXPECT_EQ(met.outcome, Outcome::met) << "just twice is not more than twice";
  EXPECT_EQ(met.reason,
            "Job dlrm: iteration p50 during the faults is 20.0 ms, 2.00 times that before, "
            "expected at most 2.00 times.");
  EXPECT_EQ(check(during(1'999'999)).outcome, Outcome::missed);
  EXPECT_EQ(check(during(2'000'000, "iteration_tail")).outcome, Outcome::met);
}

TEST(StageExpectations, AsADuration) {
  Expectation expectation{.metric = "iteration_p50", .at_most = 10ms, .stage = Stage::before};
  EXPECT_EQ(check(expectation).outcome, Outcome::met);
  expectation.stage = Stage::during;
  EXPECT_EQ(check(expectation).reason,
            "Job dlrm: iteration p50 during the faults is 20.0 ms, expected at most 10.0 ms.");
  EXPECT_EQ(check(expectation).outcome, Outcome::missed);
}

TEST(StageExpectations, OfFiguresThatTheCountDoesNotCarryAreNotMeasured) {
  EXPECT_EQ(check(during(2'000'000, "iteration_p99")).outcome, Outcome::not_measured);
  StagedJob never = job();
  never.faults.reset();
  const Checked unknown = check(during(2'000'000), never);
  EXPECT_EQ(unknown.outcome, Outcome::not_measured);
  EXPECT_THAT(unknown.reason, HasSubstr("not known in which iterations"));
}

TEST(StageExpectations, OfRecovery) {
  Expectation expectation{.metric = "recovery", .within = {50'000}, .iterations = 2};
  EXPECT_EQ(check(expectation).outcome, Outcome::met);
  EXPECT_EQ(check(expectation).reason,
            "Job dlrm: recovery to within 5% of before in 2 iterations (32.0 ms), expected in at "
            "most 2 iterations.");
  expectation.iterations = 1;
  EXPECT_EQ(check(expectation).outcome, Outcome::missed);
  expectation = {.metric = "recovery", .at_most = 32ms, .within = {50'000}};
  EXPECT_EQ(check(expectation).outcome, Outcome::met);
  expectation.at_most -= 1ns;
  EXPECT_EQ(check(expectation).outcome, Outcome::missed);

  StagedJob slow = job();
  for (std::size_t i = 15; i < slow.times.size(); ++i) slow.times[i].time = 20ms;
  EXPECT_THAT(check(expectation, slow).reason, HasSubstr("no recovery to within 5% of before"));
  EXPECT_EQ(check(expectation, slow).outcome, Outcome::missed);
  slow.faults->end = 21;
  EXPECT_EQ(check(expectation, slow).outcome, Outcome::not_measured) << "nothing came after";
}

TEST(StageExpectations, OfNoticingAskTheJobThatNoticesFirst) {
  const Expectation expectation{.metric = "notice", .iterations = 2};
  StagedJob untouched = job("beside");
  for (auto& iteration : untouched.times) iteration.time = 10ms;
  const auto checked = check_stages(expectation, std::vector{untouched, job()});
  ASSERT_EQ(checked.size(), 1U);
  EXPECT_EQ(checked[0].outcome, Outcome::met);
  EXPECT_EQ(checked[0].reason,
            "Job dlrm noticed the faults in 2 iterations (29.0 ms), expected in at most 2 "
            "iterations.");
  EXPECT_EQ(check(expectation, untouched).outcome, Outcome::missed);
  EXPECT_EQ(check({.metric = "notice", .at_most = 28ms}).outcome, Outcome::missed);
  untouched.faults->begin = 0;
  EXPECT_EQ(check(expectation, untouched).outcome, Outcome::not_measured);
}

TEST(FoundExpectations, AreOfOneFaultOrOfAllThatCanBeFound) {
  const std::vector<FaultSummary> faults = {
      {.name = "cut", .found = Found::yes, .finding = "The cut was named."},
      {.name = "late", .found = Found::no, .finding = "The delay was not found."},
      {.name = "power", .found = Found::not_applicable, .finding = "Not looked for."}};
  const auto all = check_found({.metric = "found"}, faults);
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].outcome, Outcome::met);
  EXPECT_EQ(all[0].reason, "The cut was named.");
  EXPECT_EQ(all[1].outcome, Outcome::missed);
  const auto one = check_found({.metric = "found", .of_fault = "power"}, faults);
  ASSERT_EQ(one.size(), 1U);
  EXPECT_EQ(one[0].outcome, Outcome::not_measured);
  EXPECT_EQ(check_found({.metric = "found"}, {}).at(0).outcome, Outcome::not_measured);
}

}  // namespace
}  // namespace rehearsal::report
