#include "core/report/observe.hpp"

#include <gtest/gtest.h>

#include "tests/unit/core/report/small_run.hpp"

namespace rehearsal::report {
namespace {

constexpr Duration kLongest{(std::int64_t{1} << 62) - 1};  // that an agent can send

/// Three pairs of ranks whose traffic goes from the first host's NIC to the second's, seen from one
/// end.
measure::FlowMeasurements three_flows(bool outgoing, const measure::FlowFigures& figures) {
  measure::FlowMeasurements measured{.windows = {0}};
  const std::vector<std::pair<std::uint32_t, std::uint32_t>> ranks = {{0, 2}, {0, 3}, {1, 3}};
  for (const auto& [from, to] : ranks)
    measured.flows.push_back({.source = Rank{from},
                              .destination = Rank{to},
                              .outgoing = outgoing,
                              .windows = {figures}});
  return measured;
}

diagnosis::Passage seen_by_both(const measure::FlowFigures& sent,
                                const measure::FlowFigures& received) {
  const auto sender = three_flows(true, sent);
  const auto receiver = three_flows(false, received);
  const std::vector<AgentFlows> agents = {{HostIndex{0}, &sender}, {HostIndex{1}, &receiver}};
  const auto observations = observe(test::small_plan(), agents, {});
  EXPECT_EQ(observations.flows.size(), 1U);
  return observations.flows.at(0).windows.at(0);
}

TEST(Observe, RanksOfTheSameNicsAreAddedUp) {
  const auto passage =
      seen_by_both({.messages = 2, .held = Duration{50}, .stood = Duration{7}, .instants = 100},
                   {.messages = 2, .held = Duration{20}, .stood = Duration{5}, .instants = 140});
  EXPECT_EQ(passage.messages, 6U);
  EXPECT_EQ(passage.exposed, Duration{90});
  EXPECT_EQ(passage.blocked, Duration{21});
  EXPECT_EQ(passage.starved, Duration{15});
  EXPECT_EQ(passage.under_way, Duration{120});
}

TEST(Observe, SumsOfTheLongestTimesStopAtTheLimit) {
  const auto passage = seen_by_both({.held = kLongest, .stood = kLongest}, {.stood = kLongest});
  EXPECT_EQ(passage.exposed, Duration::max());
  EXPECT_EQ(passage.blocked, Duration::max());
  EXPECT_EQ(passage.starved, Duration::max());
  EXPECT_EQ(seen_by_both({}, {.held = kLongest}).exposed, Duration::min());
}

TEST(Observe, InstantsWrapAndOnlyTheirDifferenceCounts) {
  // Sent just before the sum wraps, arrived after it.
  EXPECT_EQ(seen_by_both({.instants = ~std::uint64_t{0}}, {.instants = 9}).under_way, Duration{30});
  EXPECT_EQ(seen_by_both({}, {.instants = std::uint64_t{1} << 62}).under_way,
            Duration{-(std::int64_t{1} << 62)});
}

TEST(Observe, EndsThatDoNotAgreeOnTheMessagesSayNothingOfTheirWay) {
  EXPECT_FALSE(seen_by_both({.messages = 2}, {.messages = 1}).under_way);
}

}  // namespace
}  // namespace rehearsal::report
