#include "core/replay/background_traffic.hpp"

#include <gmock/gmock.h>

#include "tests/support/allocation_counter.hpp"
#include "tests/support/cluster/cluster.hpp"
#include "tests/support/cluster/plans.hpp"

namespace rehearsal::replay {
namespace {

using namespace std::chrono_literals;
using fault::Kind;
using fault::Side;
using profile::OpKind;
using test::Cluster;
using test::op_of;
using test::plan_of;
using test::profile_of;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr Bytes kMessage{125'000};  // a megabit
constexpr BitRate kGigabit{1'000'000'000};

fault::PlannedFault incast(std::vector<fault::Level> levels, fault::When when,
                           std::vector<std::uint32_t> sources) {
  fault::PlannedFault fault{.name = "incast",
                            .what = {.kind = Kind::incast,
                                     .levels = std::move(levels),
                                     .message = kMessage,
                                     .credits = 4},
                            .when = when};
  for (const std::uint32_t source : sources)
    fault.places.push_back({.host = HostIndex{0},
                            .side = Side::received,
                            .nic = NicIndex{0},
                            .peer = HostIndex{source}});
  return fault;
}

plan::Plan plan_with(fault::PlannedFault fault, std::uint32_t hosts = 3) {
  plan::Plan plan = plan_of(profile_of(hosts, {op_of(OpKind::all_reduce, 1 << 20)}), 1);
  plan.faults = {std::move(fault)};
  return plan;
}

/// The traffic of one host over a network that is told what it does.
class Host {
 public:
  Host(const plan::Plan& plan, std::uint32_t host)
      : connections_(plan::connections_of(plan, HostIndex{host})), traffic(plan, connections_) {}

  /// Posts what is due; after how many milliseconds that was, for each message.
  void step() {
    traffic.advance(now);
    for (const Request& request : traffic.requests()) {
      ++posted;
      at.push_back(std::chrono::duration<double, std::milli>(now - start).count());
      last = request;
    }
    traffic.accepted(traffic.requests().size());
  }
  void give_back(std::uint32_t credits) {
    for (std::uint32_t i = 0; i < credits; ++i) {
      const Completion credit{.kind = Completion::Kind::credit, .connection = last.connection};
      traffic.on({&credit, 1});
    }
  }
  /// Every message is sent and its credit back at once.
  void run_until(Instant end) {
    while (now <= end) {
      const std::size_t before = posted;
      step();
      give_back(static_cast<std::uint32_t>(posted - before));
      const Instant next = traffic.next_deadline();
      if (next == kNever) return;
      ASSERT_GT(next, now) << "time must pass";
      now = next;
    }
  }

 private:
  plan::Connections connections_;

 public:
  BackgroundTraffic traffic;
  Instant start{1s};
  Instant now{1s};
  std::size_t posted = 0;
  std::vector<double> at;
  Request last;
};

TEST(BackgroundTraffic, AFlowSendsAtItsRateWhileItsFaultIsOn) {
  const plan::Plan plan =
      plan_with(incast({{.traffic = kGigabit}}, {.after = 10ms, .length = 5ms}, {1, 2}));
  Host host(plan, 1);
  host.traffic.schedule().start(host.start);
  host.run_until(host.start + 1s);
  EXPECT_THAT(host.at, ElementsAre(10, 11, 12, 13, 14));
  EXPECT_EQ(host.last.sequence, 4U);
  EXPECT_EQ(host.last.bytes, kMessage.count());
}

TEST(BackgroundTraffic, LevelsFollowOneAnotherEachFromItsBegin) {
  const plan::Plan plan = plan_with(
      incast({{.traffic = kGigabit}, {.traffic = BitRate{2'000'000'000}}}, {.length = 6ms}, {1}));
  Host host(plan, 1);
  host.traffic.schedule().start(host.start);
  host.run_until(host.start + 1s);
  EXPECT_THAT(host.at, ElementsAre(0, 1, 2, 3, 3.5, 4, 4.5, 5, 5.5));
}

TEST(BackgroundTraffic, ItRepeats) {
  const plan::Plan plan =
      plan_with(incast({{.traffic = kGigabit}}, {.length = 12ms, .on = 2ms, .off = 4ms}, {1}));
  Host host(plan, 1);
  host.traffic.schedule().start(host.start);
  host.run_until(host.start + 1s);
  EXPECT_THAT(host.at, ElementsAre(0, 1, 6, 7));
}

TEST(BackgroundTraffic, ItFollowsIterations) {
  const plan::Plan plan = plan_with(
      incast({{.traffic = kGigabit}}, {.iteration = 1, .length = 1s, .iterations = 1}, {1}));
  Host host(plan, 1);
  fault::Schedule& schedule = host.traffic.schedule();
  schedule.start(host.start);
  schedule.edge(JobIndex{0}, 0, 0);
  host.step();
  EXPECT_EQ(host.posted, 0U);
  schedule.edge(JobIndex{0}, 1, 0);
  host.step();
  EXPECT_EQ(host.posted, 1U);
  schedule.edge(JobIndex{0}, 2, 0);
  host.now += 10ms;
  host.step();
  EXPECT_EQ(host.posted, 1U);
  EXPECT_EQ(host.traffic.next_deadline(), kNever);
  ASSERT_EQ(schedule.spells().size(), 1U);
  EXPECT_EQ(schedule.spells()[0].ended, host.now);
}

TEST(BackgroundTraffic, WithoutARateAllCreditsAreUnderWay) {
  const plan::Plan plan = plan_with(incast({{}}, {.length = 1s}, {1}));
  Host host(plan, 1);
  host.traffic.schedule().start(host.start);
  host.step();
  EXPECT_EQ(host.posted, 4U);
  host.step();
  EXPECT_EQ(host.posted, 4U) << "nothing came back";
  host.give_back(2);
  host.step();
  EXPECT_EQ(host.posted, 6U);
}

TEST(BackgroundTraffic, AfterAJamItMakesGoodForItsCreditsAndNoMore) {
  const plan::Plan plan = plan_with(incast({{.traffic = kGigabit}}, {.length = 1s}, {1}));
  Host host(plan, 1);
  host.traffic.schedule().start(host.start);
  for (; host.now < host.start + 4ms; host.now += 1ms) host.step();
  EXPECT_EQ(host.posted, 4U);
  host.now = host.start + 100ms;  // 96 messages late
  for (int i = 0; i < 2; ++i) {
    host.give_back(4);
    host.step();
  }
  EXPECT_EQ(host.posted, 4U + 4U + 1U);
  EXPECT_EQ(host.traffic.next_deadline(), host.start + 101ms);
}

TEST(BackgroundTraffic, TheEndOfTheRunEndsIt) {
  const plan::Plan plan = plan_with(incast({{}}, {.length = 1s}, {1}));
  Host host(plan, 1);
  host.traffic.schedule().start(host.start);
  host.step();
  host.now += 1ms;
  host.traffic.end(host.now);
  host.give_back(4);
  host.step();
  EXPECT_EQ(host.posted, 4U);
  EXPECT_EQ(host.traffic.next_deadline(), kNever);
  EXPECT_EQ(host.traffic.schedule().spells()[0].ended, host.now);
}

TEST(BackgroundTraffic, WhatArrivesIsReleasedAndCounted) {
  const plan::Plan plan = plan_with(incast({{}}, {.length = 1s}, {1, 2}));
  Host host(plan, 0);
  EXPECT_FALSE(host.traffic.connected());
  const auto specs = plan::connections_of(plan, HostIndex{0}).background_incoming;
  ASSERT_EQ(specs.size(), 2U);
  for (const auto& spec : specs) {
    EXPECT_TRUE(host.traffic.is_mine(spec.index));
    const Completion connected{.kind = Completion::Kind::connected, .connection = spec.index};
    host.traffic.on({&connected, 1});
  }
  EXPECT_TRUE(host.traffic.connected());
  const Completion received{.connection = specs[1].index, .sequence = 0, .bytes = 125'000};
  host.traffic.on({&received, 1});
  ASSERT_EQ(host.traffic.requests().size(), 1U);
  EXPECT_EQ(host.traffic.requests()[0].kind, Request::Kind::release);
  ASSERT_EQ(host.traffic.counts().size(), 1U);
  EXPECT_EQ(host.traffic.counts()[0].received, kMessage);
  EXPECT_EQ(host.traffic.counts()[0].messages_received, 1U);
  EXPECT_EQ(host.traffic.counts()[0].sent, Bytes{});
}

TEST(BackgroundTraffic, AFailedConnectionIsToldAndNothingMoreIsSent) {
  const plan::Plan plan = plan_with(incast({{}}, {.length = 1s}, {1}));
  Host host(plan, 1);
  host.traffic.schedule().start(host.start);
  const auto spec = plan::connections_of(plan, HostIndex{1}).background_outgoing.at(0);
  const Completion failed{.kind = Completion::Kind::failed,
                          .connection = spec.index,
                          .sequence = 0,
                          .bytes = 0,
                          .reason = "connection reset by peer"};
  host.traffic.on({&failed, 1});
  host.step();
  EXPECT_EQ(host.posted, 0U);
  ASSERT_TRUE(host.traffic.failure());
  EXPECT_EQ(host.traffic.failure()->reason, "connection reset by peer");
  EXPECT_EQ(host.traffic.failure()->connection, spec.index);
}

TEST(BackgroundTraffic, ConnectionsOfOthersArePassedOver) {
  const plan::Plan plan = plan_with(incast({{}}, {.length = 1s}, {1}));
  Host host(plan, 1);
  const Completion of_job{.kind = Completion::Kind::sent, .connection = ConnectionIndex{0}};
  host.traffic.on({&of_job, 1});
  EXPECT_EQ(host.traffic.counts()[0].messages_sent, 0U);
  EXPECT_FALSE(BackgroundTraffic::needed(plan::connections_of(plan, HostIndex{2})));
}

TEST(BackgroundTraffic, TurnsDoNotAllocate) {
  const plan::Plan plan = plan_with(incast({{.traffic = kGigabit}}, {.length = 1s}, {1}));
  Host host(plan, 1);
  host.traffic.schedule().start(host.start);
  const Completion credit{
      .kind = Completion::Kind::credit,
      .connection = plan::connections_of(plan, HostIndex{1}).background_outgoing.at(0).index};
  const std::size_t before = test::allocations();
  for (int i = 0; i < 100; ++i) {
    host.traffic.advance(host.now);
    const std::size_t count = host.traffic.requests().size();
    host.traffic.accepted(count);
    for (std::size_t c = 0; c < count; ++c) host.traffic.on({&credit, 1});
    host.now += 1ms;
  }
  EXPECT_EQ(test::allocations(), before);
}

/// A run in virtual time; the job's bytes and those beside it.
struct Replayed {
  explicit Replayed(plan::Plan its_plan)
      : plan(std::move(its_plan)),
        fabric({.latency = 1us, .rate = kGigabit, .sharing = MemoryFabric::Sharing::nic_pair}),
        cluster(plan, clock,
                [this](HostIndex) { return std::make_unique<MemoryTransport>(fabric); }) {
    EXPECT_THAT(cluster.connect(), IsEmpty());
    EXPECT_THAT(cluster.run(), IsEmpty());
    cluster.settle();
  }
  Bytes of_job() const {
    Bytes bytes;
    for (const auto* replayer : cluster.replayers()) bytes += replayer->counters().received;
    return bytes;
  }

  plan::Plan plan;
  test::VirtualClock clock;
  MemoryFabric fabric;
  Cluster cluster;
};

TEST(BackgroundTraffic, BesideAJobBothAreCountedExactly) {
  plan::Plan plan =
      plan_of(profile_of(3, {test::compute_of(20ms), op_of(OpKind::all_reduce, 3 << 20)}), 1);
  const Bytes alone = Replayed(plan).of_job();
  // 500 Mbit/s of a gigabit: a message every 2 ms, in 5 ms three of each source.
  plan.faults = {
      incast({{.traffic = BitRate{500'000'000}}}, {.after = 1ms, .length = 5ms}, {1, 2})};
  Replayed with(plan);
  EXPECT_EQ(with.of_job(), alone);
  Bytes sent;
  for (const std::uint32_t host : {1U, 2U}) {
    const BackgroundCount& count = with.cluster.background(HostIndex{host})->counts()[0];
    EXPECT_EQ(count.messages_sent, 3U);
    EXPECT_EQ(count.messages_received, 0U);
    sent += count.sent;
  }
  const BackgroundCount& here = with.cluster.background(HostIndex{0})->counts()[0];
  EXPECT_EQ(sent, kMessage * 6);
  EXPECT_EQ(here.received, sent);
  EXPECT_EQ(here.sent, Bytes{});
}

TEST(BackgroundTraffic, AFaultOfItsNicHitsItToo) {
  plan::Plan plan = plan_of(profile_of(2, {test::compute_of(100ms)}), 1);
  plan.faults = {incast({{.traffic = BitRate{500'000'000}}}, {.length = 4ms}, {1})};
  plan.faults.push_back({.name = "dark",
                         .what = {.kind = Kind::blackhole, .levels = {{}}},
                         .when = {.length = 50ms},
                         .places = {{.host = HostIndex{1}, .side = Side::sent}},
                         .seed = 1});
  Replayed run(plan);
  ASSERT_NE(run.cluster.faulted(HostIndex{1}), nullptr);
  EXPECT_EQ(run.cluster.faulted(HostIndex{1})->counts()[0].messages, 2U);
  EXPECT_EQ(run.cluster.background(HostIndex{0})->counts()[0].messages_received, 2U);
}

}  // namespace
}  // namespace rehearsal::replay
