// Traffic beside a job, and agents that a fault crashes, in worlds whose true time is known.
#include <gmock/gmock.h>

#include "core/report/summary.hpp"
#include "core/simulation/nic_network.hpp"
#include "tests/simulation/cluster.hpp"
#include "tests/support/cluster/cluster.hpp"
#include "tests/support/cluster/plans.hpp"

namespace rehearsal::simulation {
namespace {

using profile::OpKind;
using testing::HasSubstr;

constexpr BitRate kRate{10'000'000'000};

/// Three flows that share no NIC and direction: 1 to 0, 2 to 3 and 0 to 4; 5 has none.
plan::Plan three_flows() {
  profile::Profile profile = test::profile_of(6, {});
  const std::vector<std::vector<profile::Op>> ops = {
      {test::op_of(OpKind::recv, 8 << 20, 1), test::op_of(OpKind::send, 8 << 20, 4)},
      {test::op_of(OpKind::send, 8 << 20, 0)},
      {test::op_of(OpKind::send, 8 << 20, 3)},
      {test::op_of(OpKind::recv, 8 << 20, 2)},
      {test::op_of(OpKind::recv, 8 << 20, 0)},
      {test::compute_of(1us)}};
  profile.classes.clear();
  for (std::uint32_t rank = 0; rank < 6; ++rank)
    profile.classes.push_back(
        {.name = "rank" + std::to_string(rank), .ranks = {Rank{rank}}, .ops = ops[rank]});
  profile.classes[0].ops[1].stream = 1;
  return test::plan_of(std::move(profile), 1);
}

/// How long each rank's ops took: of rank 0 first what it received.
std::vector<std::vector<Duration>> times_of(const plan::Plan& plan, Bytes* beside = nullptr) {
  test::VirtualClock clock;
  NicNetwork network({.rate = kRate, .jitter = 0ns, .seed = 1});
  test::Cluster cluster(plan, clock, [&](HostIndex host) { return network.transport(host); });
  EXPECT_EQ(cluster.connect(), "");
  EXPECT_EQ(cluster.run(), "");
  std::vector<std::vector<Duration>> times(6, std::vector<Duration>(2));
  for (const auto& op : cluster.ops()) times[op.rank.value][op.op] = op.done - op.ready;
  if (beside != nullptr) *beside = cluster.background(HostIndex{0})->counts()[0].received;
  return times;
}

TEST(Congestion, AnIncastSlowsTheFlowsIntoItsNicAndNoOthers) {
  plan::Plan plan = three_flows();
  const auto healthy = times_of(plan);
  fault::PlannedFault incast{.name = "incast",
                             .what = {.kind = fault::Kind::incast,
                                      .levels = {{.traffic = BitRate{4'000'000'000}}},
                                      .message = Bytes{64U << 10},
                                      .credits = 8},
                             .when = {.length = 1s}};
  for (const std::uint32_t source : {4U, 5U})
    incast.places.push_back({.host = HostIndex{0},
                             .side = fault::Side::received,
                             .nic = NicIndex{0},
                             .peer = HostIndex{source}});
  plan.faults = {incast};
  Bytes beside;
  const auto jammed = times_of(plan, &beside);
  // 8 of the NIC's 10 Gbit/s are offered beside the flow, which keeps a share of what they all
  // want.
  EXPECT_GT(to_seconds(jammed[0][0]), 1.3 * to_seconds(healthy[0][0]));
  EXPECT_LT(to_seconds(jammed[0][0]), 6 * to_seconds(healthy[0][0]));
  EXPECT_EQ(jammed[0][1], healthy[0][1]) << "what host 0 sends";
  EXPECT_EQ(jammed[2], healthy[2]);
  EXPECT_EQ(jammed[3], healthy[3]);
  EXPECT_EQ(jammed[4], healthy[4]);
  EXPECT_GT(beside, Bytes{4U << 20});
}

report::Summary run_to_summary(World& world, const DrillOptions& drill) {
  EXPECT_TRUE(world.run_until([&] { return all_joined(world); }, 10s));
  const std::size_t person = request_run(world, drill);
  EXPECT_TRUE(world.run_until([&] { return finished(world, person) != nullptr; }, 60s))
      << log_tail(world);
  const auto summary = report::read_summary(stored_file(world, "summary.json"));
  EXPECT_TRUE(summary.has_value()) << log_tail(world);
  return summary.value_or(report::Summary{});
}

TEST(Congestion, ARunWithAnIncastPassesAndCountsItApart) {
  World world(cluster(3, 21));
  const report::Summary summary =
      run_to_summary(world, {.agents = 3, .iterations = 12, .more = R"(faults:
  - name: jam
    what: {kind: incast, rate: 50%, message: 64KiB}
    where: {hosts: host0, nics: data0}
    when: {iteration: 4, iterations: 4, for: 10s}
)"});
  EXPECT_EQ(summary.verdict, report::Verdict::pass) << testing::PrintToString(summary.reasons);
  ASSERT_EQ(summary.faults.size(), 1U);
  const report::FaultSummary& fault = summary.faults[0];
  EXPECT_TRUE(fault.traffic);
  EXPECT_GT(fault.background_sent, Bytes{1U << 20});
  EXPECT_EQ(fault.background_received, fault.background_sent) << "what was under way arrived";
  ASSERT_EQ(fault.spells.size(), 2U) << "on the hosts that send";
  Bytes sent;
  for (const report::NicSummary& nic : summary.nics) {
    EXPECT_EQ(nic.sent, nic.sent_planned) << nic.host << " " << nic.nic;
    EXPECT_EQ(nic.received, nic.received_planned) << nic.host << " " << nic.nic;
    sent += nic.background_sent;
    const bool jammed = nic.host == "host0" && nic.nic == "data0";
    EXPECT_EQ(nic.background_received, jammed ? fault.background_sent : Bytes{});
  }
  EXPECT_EQ(sent, fault.background_sent);
}

TEST(Congestion, FlowsThatAreOnToTheEndOfTheRunDoNotHoldItUp) {
  for (const char* mode : {"free", "iteration", "phase"}) {
    World world(cluster(2, 22));
    const report::Summary summary =
        run_to_summary(world, {.agents = 2, .iterations = 6, .mode = mode, .more = R"(faults:
  - name: jam
    what: {kind: background}
    where: {hosts: host1}
    when: {after: 1ms, for: 1min}
)"});
    EXPECT_EQ(summary.verdict, report::Verdict::pass)
        << mode << ": " << testing::PrintToString(summary.reasons);
    EXPECT_GT(summary.faults.at(0).background_sent, Bytes{});
  }
}

TEST(Congestion, AnAgentThatAFaultCrashesEndsTheRunByName) {
  World world(cluster(3, 23));
  const report::Summary summary =
      run_to_summary(world, {.agents = 3, .iterations = 50, .more = R"(faults:
  - name: power-cut
    what: {kind: crash}
    where: {hosts: host1}
    when: {iteration: 3}
)"});
  EXPECT_EQ(summary.verdict, report::Verdict::unknown);
  EXPECT_EQ(summary.stop, "agent_lost");
  EXPECT_FALSE(world.agent_alive(1));
  ASSERT_EQ(summary.agents.size(), 3U);
  EXPECT_THAT(summary.agents[1].lost, HasSubstr("fault 'power-cut' of the plan"));
}

}  // namespace
}  // namespace rehearsal::simulation
