#include "core/replay/flow_meter.hpp"

#include <gtest/gtest.h>

#include "tests/support/cluster/cluster.hpp"
#include "tests/support/cluster/plans.hpp"

namespace rehearsal::replay {
namespace {

using namespace std::chrono_literals;
using profile::OpKind;
using test::op_of;

/// Rank 0 computes for 5 µs and sends 1,000 B to rank 1, which waits for it: 8 µs at 1 Gbit/s, 3 µs
/// latency each way.
struct OneMessage {
  OneMessage() {
    profile::Profile profile =
        test::profile_of(2, {test::compute_of(5us), op_of(OpKind::send, 1000, 1)});
    profile.classes[0].ranks = {Rank{0}};
    profile.classes.push_back(
        {.name = "receiver", .ranks = {Rank{1}}, .ops = {op_of(OpKind::recv, 1000, 0)}});
    plan = test::plan_of(profile, 1);
    plan.iterations = 2;
  }

  measure::FlowMeasurements measured_by(std::uint32_t rank) {
    test::Cluster cluster(plan, clock,
                          [&](HostIndex) { return std::make_unique<MemoryTransport>(fabric); });
    EXPECT_EQ(cluster.connect(), "");
    EXPECT_EQ(cluster.run(), "");
    cluster.settle();
    measure::FlowMeasurements measured;
    cluster.replayers()[rank]->append_flow_times(measured);
    return measured;
  }

  plan::Plan plan;
  test::VirtualClock clock;
  MemoryFabric fabric{{.latency = 3us, .rate = BitRate{1'000'000'000}}};
};

TEST(FlowMeter, TheSenderHoldsAMessageUntilItsCreditIsBack) {
  const measure::FlowMeasurements measured = OneMessage{}.measured_by(0);
  ASSERT_EQ(measured.flows.size(), 1U);
  const measure::FlowTimes& flow = measured.flows[0];
  EXPECT_TRUE(flow.outgoing);
  EXPECT_FALSE(flow.local);
  EXPECT_EQ(flow.destination, Rank{1});
  ASSERT_EQ(flow.windows.size(), 2U);
  EXPECT_EQ(
      flow.windows[0],
      (measure::FlowFigures{
          .messages = 1, .bytes = Bytes{1000}, .held = 14us, .stood = 0us, .instants = 5000}));
}

TEST(FlowMeter, TheReceiverStandsStillForAMessageAndHoldsNone) {
  const measure::FlowMeasurements measured = OneMessage{}.measured_by(1);
  ASSERT_EQ(measured.flows.size(), 1U);
  EXPECT_FALSE(measured.flows[0].outgoing);
  EXPECT_EQ(
      measured.flows[0].windows[1],
      (measure::FlowFigures{
          .messages = 1, .bytes = Bytes{1000}, .held = 0us, .stood = 16us, .instants = 16000}));
}

TEST(FlowMeter, KnowsWhatARankComputed) {
  const measure::FlowMeasurements measured = OneMessage{}.measured_by(0);
  ASSERT_EQ(measured.ranks.size(), 1U);
  EXPECT_EQ(measured.ranks[0].windows[0].computed, Duration{5us});
  EXPECT_EQ(measured.ranks[0].windows[0].late, Duration{0});
}

/// The meter of rank 1 alone, two windows of an iteration each, and the link by which rank 0 sends.
struct Receiver {
  Receiver() {
    for (std::uint32_t i = 0; i < links.size(); ++i)
      if (!links[i].outgoing) link = &links[i];
  }
  void arrives(Instant now) {
    ++link->arrived;
    meter.arrived(*link, 1000, now);
    --link->arrived;
    meter.consumed(*link, now);
  }
  std::vector<measure::FlowFigures> windows() const {
    measure::FlowMeasurements measured;
    meter.append_to(measured);
    return measured.flows.at(0).windows;
  }

  plan::Plan plan = OneMessage{}.plan;
  plan::Connections connections = plan::connections_of(plan, HostIndex{1});
  Links links{connections, JobIndex{0}, Rank{1}};
  FlowMeter meter{connections, JobIndex{0}, Rank{1}, links, {0, 1}};
  Link* link = nullptr;
};

measure::FlowFigures one_message(std::int64_t after_start) {
  return {.messages = 1, .bytes = Bytes{1000}, .instants = static_cast<std::uint64_t>(after_start)};
}

TEST(FlowMeter, WhatArrivesBeforeTheFirstStartIsCountedFromItsAppointment) {
  Receiver receiver;
  const Instant appointment{1000s};
  receiver.arrives(appointment - 2us);
  receiver.meter.begin_iteration(0, appointment);
  EXPECT_EQ(receiver.windows()[0], one_message(-2000));
}

TEST(FlowMeter, WhatArrivesBetweenIterationsIsOfTheNextOne) {
  Receiver receiver;
  const Instant first{1000s};
  const Instant second{1001s};
  receiver.meter.begin_iteration(0, first);
  receiver.arrives(first + 5us);
  receiver.meter.end_iteration();
  receiver.arrives(second - 3us);
  receiver.meter.begin_iteration(1, second);
  EXPECT_EQ(receiver.windows()[0], one_message(5000));
  EXPECT_EQ(receiver.windows()[1], one_message(-3000));
}

}  // namespace
}  // namespace rehearsal::replay
