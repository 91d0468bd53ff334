#include "core/plan/expectations.hpp"

#include <gmock/gmock.h>

#include "core/plan/checks.hpp"
#include "core/plan/drill_text.hpp"
#include "tests/support/sample_plan.hpp"

namespace rehearsal::plan {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::StartsWith;

constexpr std::string_view kCut =
    "faults:\n  - {name: cut, what: {kind: rate, to: 50%}, where: {hosts: host1}, when: "
    "{iteration: 5, iterations: 5, for: 1min}}\n";

std::string drill_of(std::string_view expectation, std::string_view faults) {
  return "drill: d\njobs: [{name: sample, profile: sample, hosts: \"host[0-1]\"}]\niterations: "
         "20\nexpectations:\n  - {" +
         std::string(expectation) + "}\n" + std::string(faults);
}

Result<Plan> plan_of(std::string_view expectation, std::string_view faults = kCut) {
  ASSIGN_OR_RETURN(const Drill drill, parse_drill(drill_of(expectation, faults), "drill.yaml"));
  const test::Profiles profiles = {
      {"sample", std::make_shared<const profile::Profile>(test::sample_profile(4))}};
  return make_plan(drill, test::sample_inventories(2), profiles);
}

std::string failure_of(std::string_view expectation, std::string_view faults = kCut) {
  const auto plan = plan_of(expectation, faults);
  return plan ? "" : plan.error().message;
}

Expectation read(std::string_view expectation) {
  const auto plan = plan_of(expectation);
  EXPECT_TRUE(plan) << plan.error().text();
  return plan ? plan->expectations.at(0) : Expectation{};
}

TEST(StageExpectations, AreReadFromADrill) {
  EXPECT_EQ(
      read("metric: iteration_p50, stage: during, at_most: 250%"),
      (Expectation{
          .metric = "iteration_p50", .stage = Stage::during, .at_most_of_before = {2'500'000}}));
  EXPECT_EQ(read("metric: iteration_tail, stage: before, at_most: 20ms"),
            (Expectation{.metric = "iteration_tail", .at_most = 20ms, .stage = Stage::before}));
  EXPECT_EQ(read("metric: recovery, iterations: 10"),
            (Expectation{.metric = "recovery", .within = {50'000}, .iterations = 10}));
  EXPECT_EQ(read("metric: recovery, within: 25%, at_most: 2s"),
            (Expectation{.metric = "recovery", .at_most = 2s, .within = {250'000}}));
  EXPECT_EQ(read("metric: notice, iterations: 2"),
            (Expectation{.metric = "notice", .iterations = 2}));
  EXPECT_EQ(read("metric: found, fault: cut"), (Expectation{.metric = "found", .of_fault = "cut"}));
  EXPECT_EQ(read("metric: found"), (Expectation{.metric = "found"}));
}

TEST(StageExpectations, AreSaidInWords) {
  EXPECT_EQ(describe(read("metric: iteration_p50, stage: during, at_most: 250%")),
            "iteration_p50 during at most 250% of before");
  EXPECT_EQ(describe(read("metric: recovery, within: 5%, iterations: 10")),
            "recovery to within 5% of before in 10 iterations");
  EXPECT_EQ(describe(read("metric: notice, at_most: 100ms")), "notice at most 100ms");
  EXPECT_EQ(describe(read("metric: found")), "found: every fault");
  EXPECT_EQ(describe(read("metric: iteration_p50, at_most: 20ms")), "iteration_p50 at most 20ms");
}

TEST(StageExpectations, AreRefusedWithTheKeyThatIsWrong) {
  const std::pair<std::string, std::string> cases[] = {
      {"metric: iteration_p50, at_most: 200%",
       "drill.yaml:5:38: expectations[0].at_most: is a share of what it is before the faults; "
       "stage: during or after, or at_most: with a duration, like 20ms"},
      {"metric: iteration_p50, stage: before, at_most: 200%",
       "expectations[0].at_most: is a share"},
      {"metric: iteration_p50, stage: during", "at_most: iteration_p50 is a duration"},
      {"metric: iteration_p50, stage: meanwhile, at_most: 200%",
       "expectations[0].stage: 'meanwhile' is unknown; expected one of before, during, after"},
      {"metric: iteration_tail, at_most: 20ms", "stage: iteration_tail is of a stage"},
      {"metric: start_skew_max, stage: during, at_most: 1ms",
       "expectations[0].stage: start_skew_max has no stage; beside metric it takes at_most"},
      {"metric: recovery, stage: after, iterations: 3", "stage: recovery has no stage"},
      {"metric: recovery", "iterations: recovery needs one bound"},
      {"metric: recovery, iterations: 3, at_most: 1s", "iterations: recovery needs one bound"},
      {"metric: recovery, iterations: 3, within: 200%", "within: is 200%; expected above 0%"},
      {"metric: recovery, iterations: 0", "iterations: '0' is out of range"},
      {"metric: notice, iterations: 3, within: 5%", "within: notice has no within"},
      {"metric: found, iterations: 3", "iterations: found has no iterations"},
      {"metric: found, fault: two words", "fault: 'two words' is no name"},
      {"metric: all_reduce_busbw, at_least: 1Gbit/s, stage: during",
       "stage: all_reduce_busbw has no stage"}};
  for (const auto& [expectation, message] : cases)
    EXPECT_THAT(failure_of(expectation), HasSubstr(message)) << expectation;
}

TEST(StageExpectations, NeedFaults) {
  for (const char* expectation :
       {"metric: iteration_p50, stage: during, at_most: 200%", "metric: recovery, iterations: 3",
        "metric: notice, iterations: 3", "metric: found"})
    EXPECT_THAT(failure_of(expectation, ""), HasSubstr("the drill has no faults")) << expectation;
  EXPECT_THAT(failure_of("metric: iteration_p50, stage: during, at_most: 20ms", ""),
              StartsWith("expectations[0].stage: "));
}

std::string cut_when(std::string_view when) {
  return "faults:\n  - {name: cut, what: {kind: rate, to: 50%}, where: {hosts: host1}, when: {" +
         std::string(when) + "}}\n";
}

TEST(StageExpectations, NeedIterationsBefore) {
  constexpr std::string_view kDuring = "metric: iteration_p50, stage: during, at_most: 200%";
  EXPECT_EQ(failure_of(kDuring, cut_when("iteration: 0, iterations: 5, for: 1min")),
            "expectations[0].stage: fault 'cut' begins with the run, so there is nothing before it "
            "to compare with; faults[0].when.iteration: 1 or more");
  EXPECT_THAT(failure_of("metric: notice, iterations: 1", cut_when("after: 0s, for: 1min")),
              StartsWith("expectations[0].metric: fault 'cut' begins with the run"));
  EXPECT_EQ(failure_of(kDuring, cut_when("after: 1s, for: 1min")), "");
  EXPECT_EQ(failure_of("metric: iteration_p50, stage: during, at_most: 20ms",
                       cut_when("iteration: 0, iterations: 5, for: 1min")),
            "")
      << "nothing is compared";
}

TEST(StageExpectations, NeedIterationsAfter) {
  EXPECT_EQ(failure_of("metric: recovery, iterations: 3",
                       cut_when("iteration: 10, iterations: 10, for: 1min")),
            "expectations[0].metric: fault 'cut' goes on to the last iteration, so nothing comes "
            "after it; iterations: more than 20");
  EXPECT_EQ(failure_of("metric: recovery, iterations: 3", cut_when("iteration: 10, for: 1min")), "")
      << "it may end in time";
}

TEST(StageExpectations, AskForFaultsThatCanBeFound) {
  EXPECT_THAT(failure_of("metric: found, fault: cup"),
              HasSubstr("expectations[0].fault: no fault is named 'cup'; did you mean 'cut'?"));
  constexpr std::string_view kCrash =
      "faults:\n  - {name: power, what: {kind: crash}, where: {hosts: host1}, when: {iteration: "
      "5}}\n";
  EXPECT_THAT(failure_of("metric: found, fault: power", kCrash),
              HasSubstr("'power' is nothing that could be found"));
  EXPECT_THAT(failure_of("metric: found", kCrash), HasSubstr("no fault of this drill could be"));
  EXPECT_THAT(failure_of("metric: recovery, iterations: 3", kCrash), HasSubstr("ends the run"));
}

TEST(StageExpectations, DoNotChangeThePlanHash) {
  EXPECT_EQ(plan_hash(*plan_of("metric: found")),
            plan_hash(*plan_of("metric: recovery, iterations: 3")));
}

}  // namespace
}  // namespace rehearsal::plan
