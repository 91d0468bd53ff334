#include "core/report/verdict.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/report/results.hpp"
#include "tests/unit/core/report/small_run.hpp"

namespace rehearsal::report {
namespace {

using namespace std::chrono_literals;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

struct Given {
  plan::Plan plan = test::small_plan();
  plan::Load load = test::small_load();
  RunMeasurements run = test::good_run();

  Summary judged() const { return make_report(plan, load, run).summary; }
};

TEST(Verdict, HasAnExitCodeEach) {
  EXPECT_EQ(exit_code(Verdict::pass), 0);
  EXPECT_EQ(exit_code(Verdict::warn), 1);
  EXPECT_EQ(exit_code(Verdict::fail), 2);
  EXPECT_EQ(exit_code(Verdict::unknown), 3);
  for (const Verdict verdict : {Verdict::pass, Verdict::warn, Verdict::fail, Verdict::unknown}) {
    EXPECT_EQ(verdict_from(to_string(verdict)), verdict);
  }
  EXPECT_FALSE(verdict_from("PASS"));
}

TEST(Verdict, PassSaysWhatWasDone) {
  const Summary summary = Given{}.judged();
  EXPECT_EQ(summary.verdict, Verdict::pass);
  EXPECT_THAT(summary.reasons,
              ElementsAre("All 40 ops planned were completed and all 12,800,000 B received."));
}

TEST(Verdict, OneByteShortIsAFail) {
  Given given;
  given.run.agents[1].measurements->jobs[0].received -= Bytes{1};
  const Summary summary = given.judged();
  EXPECT_EQ(summary.verdict, Verdict::fail);
  EXPECT_THAT(summary.reasons,
              ElementsAre("Job training: bytes received 12,799,999 B, planned 12,800,000 B."));
}

TEST(Verdict, BytesOnTheWrongNicAreAFail) {
  Given given;
  given.run.agents[1].measurements->nics[0].sent -= Bytes{1};
  EXPECT_EQ(given.judged().verdict, Verdict::fail);
  EXPECT_THAT(given.judged().reasons, ElementsAre(HasSubstr("NIC host2 eth1: sent 6,399,999 B")));
}

TEST(Verdict, AMissingOpIsAFail) {
  Given given;
  given.run.agents[0].measurements->results.instances.pop_back();
  const Summary summary = given.judged();
  EXPECT_EQ(summary.verdict, Verdict::fail);
  EXPECT_THAT(summary.reasons, Contains(HasSubstr("ops completed 38, planned 40")));
}

TEST(Verdict, ExpectationsAreMetOrMissed) {
  Given given;
  given.plan.expectations = {{.metric = "iteration_p50", .at_most = 10ms},
                             {.metric = "all_reduce_busbw", .at_least = BitRate{7'000'000'000}},
                             {.metric = "start_skew_max", .at_most = 35us}};
  EXPECT_EQ(given.judged().verdict, Verdict::pass);
  EXPECT_THAT(given.judged().reasons, ElementsAre(HasSubstr("3 expectations are met")));

  given.plan.expectations = {{.metric = "iteration_p50", .at_most = 6ms},
                             {.metric = "all_reduce_busbw", .at_least = BitRate{8'000'000'000}}};
  const Summary summary = given.judged();
  EXPECT_EQ(summary.verdict, Verdict::fail);
  EXPECT_THAT(
      summary.reasons,
      ElementsAre("Job training: iteration p50 is 6.10 ms, expected at most 6.00 ms.",
                  "Job training: busbw of all_reduce (1.00 MiB) is 7.32 Gbit/s, expected at least "
                  "8.00 Gbit/s."));
}

TEST(Verdict, AnExpectationThatWasNotMeasuredIsUnknown) {
  Given given;
  given.plan.expectations = {{.metric = "iteration_p99", .at_most = 1s}};
  EXPECT_EQ(given.judged().verdict, Verdict::unknown);
  EXPECT_THAT(given.judged().reasons, ElementsAre(HasSubstr("iteration p99 was not measured")));
}

TEST(Verdict, SkewOverItsLimitIsAWarning) {
  Given given;
  given.plan.limits.start_skew = 30us;
  EXPECT_EQ(given.judged().verdict, Verdict::warn);
  EXPECT_THAT(given.judged().reasons,
              ElementsAre("Start skew reached 35.0 us (± 6.00 us), the limit is 30.0 us."));
  given.plan.limits.start_skew = 35us;
  EXPECT_EQ(given.judged().verdict, Verdict::pass);
}

TEST(Verdict, ALostAgentIsUnknownAndNamed) {
  Given given;
  given.run.stop = StopReason::agent_lost;
  given.run.agents[1].measurements.reset();
  given.run.agents[1].lost = "connection closed while running";
  given.run.waited_for = {"host2"};
  const Summary summary = given.judged();
  EXPECT_EQ(summary.verdict, Verdict::unknown);
  ASSERT_GE(summary.reasons.size(), 2U);
  EXPECT_EQ(summary.reasons[0], "Agent host2: connection closed while running.");
  EXPECT_THAT(summary.reasons[1], HasSubstr("Waited for host2."));
}

TEST(Verdict, ATimeoutIsUnknownAndSaysForWhom) {
  Given given;
  given.run.stop = StopReason::timed_out;
  given.run.stop_detail = "no op done for 30 s";
  given.run.waited_for = {"host1", "host2"};
  EXPECT_EQ(given.judged().verdict, Verdict::unknown);
  EXPECT_EQ(given.judged().reasons[0],
            "The run timed out: no op done for 30 s. Waited for host1, host2.");
}

TEST(Verdict, AStoppedRunIsUnknownAndPartial) {
  Given given;
  given.run.stop = StopReason::stopped;
  EXPECT_EQ(given.judged().verdict, Verdict::unknown);
  EXPECT_EQ(given.judged().reasons[0],
            "The operator stopped the run after 4 of 4 iterations of training; the report is "
            "partial.");
}

TEST(Verdict, MeasurementsThatDidNotComeAreUnknown) {
  Given given;
  given.run.agents.pop_back();
  EXPECT_EQ(given.judged().verdict, Verdict::unknown);
  EXPECT_EQ(given.judged().reasons[0], "No measurements came from agent host2.");
}

TEST(Verdict, ResultsThatContradictThePlanDoNotCount) {
  Given given;
  given.run.agents[1].measurements->results.instances[0].key.iteration = 99;
  const Summary summary = given.judged();
  EXPECT_EQ(summary.verdict, Verdict::unknown);
  EXPECT_THAT(summary.reasons[0], HasSubstr("its results contradict the plan"));
  EXPECT_FALSE(summary.agents[1].results);

  given.run = test::good_run();
  given.run.agents[1].measurements->nics[0].nic = NicIndex{7};
  EXPECT_THAT(given.judged().reasons[0], HasSubstr("NIC 7"));
}

}  // namespace
}  // namespace rehearsal::report
