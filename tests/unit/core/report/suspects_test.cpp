#include "core/report/suspects.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/report/results.hpp"
#include "core/report/table.hpp"
#include "tests/support/golden.hpp"
#include "tests/unit/core/report/small_run.hpp"

namespace rehearsal::report {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

/// A ring of four hosts of one NIC each, whose third sends at half the rate.
plan::Plan ring_plan() {
  plan::Plan plan = test::small_plan();
  plan.hosts.clear();
  for (int i = 0; i < 4; ++i) {
    plan.hosts.push_back(
        {"h" + std::to_string(i), {{"rail0", "10.79.1.1", BitRate{0}, 1500}}, false});
  }
  return plan;
}

diagnosis::Observations ring(Duration slow) {
  diagnosis::Observations observations;
  observations.windows = {{.iterations = 5, .iteration_time = 10ms},
                          {.iterations = 5, .iteration_time = 10ms}};
  for (std::uint32_t nic = 0; nic < 4; ++nic) {
    observations.host_of_nic.push_back(HostIndex{nic});
    diagnosis::Flow flow{.source = nic, .destination = (nic + 1) % 4};
    flow.windows.resize(2, {.messages = 100, .bytes = 1e6, .exposed = nic == 2 ? slow : 10ms});
    observations.flows.push_back(flow);
    observations.ranks.push_back(
        {.rank = Rank{nic}, .host = HostIndex{nic}, .planned = 1ms, .taken = {5ms, 5ms}});
  }
  return observations;
}

TEST(SuspectSummaries, NameALinkWhoseEndsLookAlike) {
  const auto suspects = in_names(ring_plan(), suspects_of(ring(20ms)));
  ASSERT_TRUE(suspects);
  ASSERT_EQ(suspects->size(), 1U);
  const SuspectSummary& suspect = suspects->front();
  EXPECT_EQ(suspect.place, "link");
  EXPECT_EQ(suspect.host, "h2");
  EXPECT_EQ(suspect.peer_host, "h3");
  EXPECT_EQ(suspect.finding,
            "the link from h2/rail0 to h3/rail0 carries traffic more slowly than its peers");
  EXPECT_GE(suspect.confidence, 0.8);
}

TEST(SuspectSummaries, AreEmptyWhereNothingStandsOut) {
  const auto suspects = in_names(ring_plan(), suspects_of(ring(11ms)));
  ASSERT_TRUE(suspects);
  EXPECT_TRUE(suspects->empty());
}

TEST(SuspectSummaries, AreAbsentWhereNothingWasMeasured) {
  EXPECT_FALSE(in_names(ring_plan(), suspects_of({})));
}

TEST(SuspectSummaries, NameARankThatComputesLonger) {
  diagnosis::Observations observations = ring(10ms);
  observations.ranks[1].taken = {15ms, 15ms};
  const auto suspects = in_names(ring_plan(), suspects_of(observations));
  ASSERT_TRUE(suspects);
  ASSERT_EQ(suspects->size(), 1U);
  EXPECT_EQ(suspects->front().place, "rank");
  EXPECT_EQ(suspects->front().rank, 1U);
  EXPECT_THAT(suspects->front().finding,
              HasSubstr("on host h1 computes 2.00 ms longer than planned"));
}

TEST(SuspectSummaries, TheTableIsGolden) {
  Summary summary = make_report(test::small_plan(), test::small_load(), test::good_run()).summary;
  diagnosis::Observations observations = ring(20ms);
  observations.ranks[1].taken = {15ms, 15ms};
  summary.suspects = in_names(ring_plan(), suspects_of(observations));
  std::string table = summary_table(summary, false);
  summary.suspects->clear();
  table += "\n" + summary_table(summary, false).substr(0, 400);
  table.resize(table.rfind('\n') + 1);
  rehearsal::test::expect_golden("report/table_suspects.txt", table);
}

TEST(SuspectSummaries, ComeBackFromJson) {
  Summary summary = make_report(test::small_plan(), test::small_load(), test::good_run()).summary;
  summary.suspects = in_names(ring_plan(), suspects_of(ring(20ms)));
  const auto back = read_summary(summary_json(summary));
  ASSERT_TRUE(back) << back.error().text();
  EXPECT_EQ(back->suspects, summary.suspects);
}

}  // namespace
}  // namespace rehearsal::report
