#include "core/replay/faulted_transport.hpp"

#include <gmock/gmock.h>

#include <cmath>

#include "tests/support/allocation_counter.hpp"
#include "tests/support/cluster/cluster.hpp"
#include "tests/support/cluster/plans.hpp"

namespace rehearsal::replay {
namespace {

using namespace std::chrono_literals;
using fault::Kind;
using profile::OpKind;
using test::Cluster;
using test::op_of;
using test::plan_of;
using test::profile_of;
using testing::Each;
using testing::IsEmpty;

constexpr BitRate kRate{1'000'000'000};
constexpr std::uint64_t kChunk = 64 << 10;

plan::CollectiveSettings one_slice() {
  plan::CollectiveSettings settings;
  settings.channels = 1;
  settings.point_to_point_channels = 1;
  settings.slices_per_chunk = 1;
  settings.chunk = Bytes{kChunk};
  settings.point_to_point_chunk = Bytes{kChunk};
  return settings;
}

/// One rank a host, one op an iteration.
plan::Plan one_op_plan(std::uint32_t hosts, profile::Op op, std::uint32_t iterations = 1) {
  plan::Plan plan = plan_of(profile_of(hosts, {std::move(op)}), 1, one_slice());
  plan.iterations = iterations;
  return plan;
}

fault::PlannedFault always(Kind kind, fault::Level level, std::vector<fault::Place> places) {
  return {.name = "fault",
          .what = {.kind = kind, .levels = {level}},
          .when = {.after = 0s, .length = 1h},
          .places = std::move(places),
          .seed = 1};
}

fault::Place at_host(std::uint32_t host, fault::Side side = fault::Side::both) {
  return {.host = HostIndex{host}, .side = side};
}

std::vector<fault::Place> at_all(const plan::Plan& plan, fault::Side side) {
  std::vector<fault::Place> places;
  for (std::uint32_t host = 0; host < plan.hosts.size(); ++host)
    places.push_back(at_host(host, side));
  return places;
}

/// A run in virtual time, over a network where each pair of NICs has kRate.
struct Replayed {
  explicit Replayed(const plan::Plan& its_plan, BitRate rate = kRate)
      : plan(its_plan),
        fabric({.latency = 0ns, .rate = rate, .sharing = MemoryFabric::Sharing::nic_pair}),
        cluster(plan, clock,
                [this](HostIndex) { return std::make_unique<MemoryTransport>(fabric); }) {
    EXPECT_THAT(cluster.connect(), IsEmpty());
    EXPECT_THAT(cluster.run(), IsEmpty());
  }

  Duration time_of(std::uint32_t rank) const {
    Duration time{0};
    for (const auto& op : cluster.ops())
      if (op.rank.value == rank) time += op.done - op.ready;
    return time;
  }
  Duration longest() const {
    Duration longest{0};
    for (std::uint32_t rank = 0; rank < plan.jobs[0].bindings.size(); ++rank)
      longest = std::max(longest, time_of(rank));
    return longest;
  }
  std::uint64_t received() const {
    std::uint64_t bytes = 0;
    for (const auto* replayer : cluster.replayers()) bytes += replayer->counters().received.count();
    return bytes;
  }

  plan::Plan plan;
  test::VirtualClock clock;
  MemoryFabric fabric;
  Cluster cluster;
};

Duration time_with(plan::Plan plan, fault::PlannedFault fault) {
  plan.faults = {std::move(fault)};
  return Replayed(plan).longest();
}

class NicRateTest : public testing::TestWithParam<std::uint32_t> {};

TEST_P(NicRateTest, AnAllReduceTakesAsManyTimesLonger) {
  const std::uint32_t parts = GetParam();
  for (const std::uint32_t hosts : {2U, 3U, 4U, 8U}) {
    const plan::Plan plan = one_op_plan(hosts, op_of(OpKind::all_reduce, hosts * 20 * kChunk));
    const Duration healthy = Replayed(plan).longest();
    auto cut = always(Kind::rate, {.rate = {fault::Fraction::kWhole / parts}}, {at_host(1)});
    cut.what.of = kRate;
    EXPECT_EQ(time_with(plan, cut), healthy * parts) << hosts << " hosts";
  }
}

TEST_P(NicRateTest, EveryRankOfTheCommunicatorWaits) {
  const std::uint32_t parts = GetParam();
  const std::uint32_t hosts = 4;
  plan::Plan plan = one_op_plan(hosts, op_of(OpKind::all_reduce, hosts * 100 * kChunk));
  const Replayed healthy(plan);
  plan.faults = {always(Kind::rate, {.rate = {fault::Fraction::kWhole / parts}}, {at_host(1)})};
  plan.faults[0].what.of = kRate;
  const Replayed cut(plan);
  for (std::uint32_t rank = 0; rank < hosts; ++rank)
    EXPECT_NEAR(to_seconds(cut.time_of(rank)) / to_seconds(healthy.time_of(rank)), parts,
                0.01 * parts);
}

INSTANTIATE_TEST_SUITE_P(Parts, NicRateTest, testing::Values(2U, 4U));

TEST(FaultedTransport, TheWholeRateChangesNothing) {
  const plan::Plan plan = one_op_plan(4, op_of(OpKind::all_reduce, 80 * kChunk));
  auto whole = always(Kind::rate, {.rate = fault::kWhole}, {at_host(1)});
  whole.what.of = kRate;
  EXPECT_EQ(time_with(plan, whole), Replayed(plan).longest());
}

TEST(FaultedTransport, ACommunicatorThatDoesNotUseTheNicIsLeftAlone) {
  profile::Profile profile = profile_of(4, {});
  profile.communicators = {{.name = "left", .ranks = {Rank{0}, Rank{1}}},
                           {.name = "right", .ranks = {Rank{2}, Rank{3}}}};
  profile::Op left = op_of(OpKind::all_reduce, 40 * kChunk);
  profile::Op right = left;
  right.communicator = CommunicatorIndex{1};
  profile.classes = {{.name = "left", .ranks = {Rank{0}, Rank{1}}, .ops = {left}},
                     {.name = "right", .ranks = {Rank{2}, Rank{3}}, .ops = {right}}};
  plan::Plan plan = plan_of(profile, 1, one_slice());
  const Replayed healthy(plan);
  plan.faults = {always(Kind::rate, {.rate = {250'000}}, {at_host(0)})};
  plan.faults[0].what.of = kRate;
  const Replayed cut(plan);
  for (const std::uint32_t rank : {0U, 1U}) EXPECT_EQ(cut.time_of(rank), healthy.time_of(rank) * 4);
  for (const std::uint32_t rank : {2U, 3U}) EXPECT_EQ(cut.time_of(rank), healthy.time_of(rank));
}

TEST(FaultedTransport, TheReceivingSideOfANicIsSharedByAllWhoSendToIt) {
  // Three senders at half the rate together: as long as at a sixth each.
  const plan::Plan plan = one_op_plan(4, op_of(OpKind::gather, 50 * kChunk));
  auto cut = always(Kind::rate, {.rate = {500'000}}, {at_host(0, fault::Side::received)});
  cut.what.of = kRate;
  const Duration alone = Replayed(plan).longest();
  const Duration shared = time_with(plan, cut);
  EXPECT_NEAR(to_seconds(shared) / to_seconds(alone), 6, 0.1);
}

TEST(FaultedTransport, ADelayOfEachMessageAddsOneForEachStepOfARing) {
  for (const Duration delay : {Duration{1ms}, Duration{20ms}}) {
    for (std::uint32_t hosts = 2; hosts <= 6; ++hosts) {
      const plan::Plan plan = one_op_plan(hosts, op_of(OpKind::all_reduce, hosts * kChunk));
      const auto late = always(Kind::delay, {.delay = delay}, at_all(plan, fault::Side::sent));
      EXPECT_EQ(time_with(plan, late), Replayed(plan).longest() + 2 * (hosts - 1) * delay) << hosts;
    }
  }
}

TEST(FaultedTransport, ADelayIsNoGapBetweenMessages) {
  plan::Plan plan = one_op_plan(2, op_of(OpKind::broadcast, 0));
  plan.collectives.pipeline_chunk = Bytes{kChunk};
  plan.collectives.credits = 64;
  profile::Profile profile = profile_of(2, {op_of(OpKind::broadcast, 50 * kChunk)});
  plan.jobs[0].profile = std::make_shared<const profile::Profile>(profile);
  const Duration healthy = Replayed(plan).longest();
  const auto late = always(Kind::delay, {.delay = 7ms}, at_all(plan, fault::Side::sent));
  EXPECT_EQ(time_with(plan, late), healthy + 7ms);
}

TEST(FaultedTransport, OneDirectionOnlyIsOneDirection) {
  const plan::Plan plan = one_op_plan(2, op_of(OpKind::broadcast, kChunk));  // host 0 to host 1
  const Duration healthy = Replayed(plan).longest();
  const auto late = [&](std::uint32_t host, fault::Side side) {
    return time_with(plan, always(Kind::delay, {.delay = 5ms}, {at_host(host, side)}));
  };
  EXPECT_EQ(late(0, fault::Side::sent), healthy + 5ms);
  EXPECT_EQ(late(0, fault::Side::received), healthy);
  EXPECT_EQ(late(1, fault::Side::received), healthy + 5ms);
  EXPECT_EQ(late(1, fault::Side::sent), healthy);
}

TEST(FaultedTransport, AFlowIsHitByItsPeer) {
  const plan::Plan plan = one_op_plan(3, op_of(OpKind::broadcast, kChunk));  // 0 to 1 to 2
  const Duration healthy = Replayed(plan).longest();
  const auto late = [&](std::uint32_t peer) {
    fault::Place place = at_host(1, fault::Side::both);
    place.peer = HostIndex{peer};
    return time_with(plan, always(Kind::delay, {.delay = 5ms}, {place}));
  };
  EXPECT_EQ(late(0), healthy + 5ms);
  EXPECT_EQ(late(2), healthy + 5ms);
  EXPECT_EQ(late(1), healthy);
}

TEST(FaultedTransport, JitterKeepsMessagesInOrderAndWithinItsBounds) {
  const plan::Plan plan = one_op_plan(2, op_of(OpKind::broadcast, 200 * kChunk));
  const Duration healthy = Replayed(plan).longest();
  auto late = always(Kind::delay, {.delay = 1ms}, {at_host(0)});
  late.what.jitter = 3ms;
  const Duration time = time_with(plan, late);
  EXPECT_GT(time, healthy + 1ms);
  const Duration other = [&] {
    late.seed = 2;
    return time_with(plan, late);
  }();
  EXPECT_NE(time, other);
}

TEST(FaultedTransport, LossHoldsBackASeededShareAndLosesNothing) {
  constexpr double kShare = 0.02;
  for (const std::uint64_t seed : {1U, 2U, 3U}) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    plan::Plan plan = one_op_plan(4, op_of(OpKind::all_reduce, 400 * kChunk), 5);
    const Replayed healthy(plan);
    plan.faults = {always(Kind::loss, {.share = {static_cast<std::uint32_t>(kShare * 1e6)}},
                          at_all(plan, fault::Side::sent))};
    plan.faults[0].what.retransmission = 200ms;
    plan.faults[0].seed = seed;
    Replayed lossy(plan);
    EXPECT_EQ(lossy.received(), healthy.received());
    double messages = 0;
    double lost = 0;
    for (std::uint32_t host = 0; host < 4; ++host) {
      messages += static_cast<double>(lossy.cluster.faulted(HostIndex{host})->counts()[0].messages);
      lost += static_cast<double>(lossy.cluster.faulted(HostIndex{host})->counts()[0].hit);
    }
    const double deviation = std::sqrt(messages * kShare * (1 - kShare));
    EXPECT_GT(messages, 10'000);
    EXPECT_NEAR(lost, messages * kShare, 4 * deviation);
    EXPECT_GT(lossy.longest(), healthy.longest() + 200ms);
  }
}

TEST(FaultedTransport, TheSameSeedLosesTheSameMessages) {
  const plan::Plan plan = one_op_plan(4, op_of(OpKind::all_reduce, 400 * kChunk));
  auto loss = always(Kind::loss, {.share = {20'000}}, at_all(plan, fault::Side::sent));
  loss.what.retransmission = 10ms;
  const Duration first = time_with(plan, loss);
  EXPECT_EQ(time_with(plan, loss), first);
  loss.seed = 99;
  EXPECT_NE(time_with(plan, loss), first);
}

TEST(FaultedTransport, NothingPassesABlackholeUntilItIsOver) {
  plan::Plan plan = one_op_plan(2, op_of(OpKind::broadcast, 50 * kChunk));
  const Duration healthy = Replayed(plan).longest();
  ASSERT_GT(healthy, 20ms);
  fault::PlannedFault hole = always(Kind::blackhole, {}, {at_host(0)});
  hole.when = {.after = 10ms, .length = 3s};
  const Duration time = time_with(plan, hole);
  // What was already under way when it began arrives meanwhile: at most the credits.
  EXPECT_LE(time, healthy + 3s);
  EXPECT_GE(time, healthy + 3s -
                      plan.collectives.credits *
                          transmission_time(plan.collectives.pipeline_chunk, kRate));
}

TEST(FaultedTransport, AFaultOfOneIterationSlowsThatOneAlone) {
  plan::Plan plan = one_op_plan(3, op_of(OpKind::all_reduce, 3 * kChunk), 6);
  const Duration healthy = Replayed(plan).longest() / 6;
  for (const auto mode : {plan::SyncMode::iteration, plan::SyncMode::free}) {
    plan.synchronisation = mode;
    plan.faults = {always(Kind::delay, {.delay = 5ms}, at_all(plan, fault::Side::sent))};
    plan.faults[0].when = {.iteration = 2, .length = 1h, .iterations = 2};
    Replayed run(plan);
    for (const auto& op : run.cluster.ops()) {
      const Duration time = op.done - op.ready;
      const bool hit = op.iteration == 2 || op.iteration == 3;
      if (hit) {
        EXPECT_GE(time, healthy + 15ms) << op.iteration;
      } else if (mode == plan::SyncMode::iteration) {
        EXPECT_EQ(time, healthy) << op.iteration;
      }
    }
    const auto spells = run.cluster.faulted(HostIndex{0})->schedule().spells();
    ASSERT_EQ(spells.size(), 1U);
  }
}

TEST(FaultedTransport, LocalTrafficAndOtherHostsDoNotKnowOfIt) {
  plan::Plan plan = one_op_plan(4, op_of(OpKind::all_reduce, 4 * kChunk));
  plan.faults = {always(Kind::delay, {.delay = 5ms}, {at_host(2)})};
  EXPECT_TRUE(FaultedTransport::needed(plan, HostIndex{2}));
  EXPECT_FALSE(FaultedTransport::needed(plan, HostIndex{1}));
  plan.faults[0].mechanism = fault::Mechanism::kernel;
  EXPECT_FALSE(FaultedTransport::needed(plan, HostIndex{2}));
  plan.faults[0].mechanism = fault::Mechanism::sender;
  plan.faults[0].what.kind = Kind::straggler;
  EXPECT_FALSE(FaultedTransport::needed(plan, HostIndex{2}));
}

TEST(FaultedTransport, AnAbortedConnectionDropsWhatWasHeldBack) {
  plan::Plan plan = one_op_plan(2, op_of(OpKind::broadcast, kChunk));
  plan.faults = {always(Kind::delay, {.delay = 5ms}, {at_host(0)})};
  MemoryFabric fabric({.latency = 0ns, .rate = kRate});
  FaultedTransport sender(std::make_unique<MemoryTransport>(fabric), plan, HostIndex{0});
  MemoryTransport receiver(fabric);
  const auto spec = plan::connections_of(plan, HostIndex{0}).outgoing.at(0);
  const auto peer = plan::connections_of(plan, HostIndex{1}).incoming.at(0);
  ASSERT_TRUE(sender.connect(spec, *receiver.open(peer)));
  const Instant now{1000s};
  Completion completions[8];
  ASSERT_EQ(sender.poll(completions, now), 1U);  // connected
  sender.schedule().start(now);
  const Request request{.kind = Request::Kind::send, .connection = spec.index, .bytes = 100};
  EXPECT_EQ(sender.post({&request, 1}, now), 1U);
  EXPECT_EQ(sender.wakeup().deadline, now + 5ms);
  sender.abort(spec.index);
  const std::size_t count = receiver.poll(completions, now + 1s);
  for (std::size_t i = 0; i < count; ++i)
    EXPECT_NE(completions[i].kind, Completion::Kind::received);
}

TEST(FaultedTransport, TheDataPathDoesNotAllocate) {
  plan::Plan plan = one_op_plan(2, op_of(OpKind::broadcast, kChunk));
  plan.faults = {always(Kind::delay, {.delay = 5ms}, {at_host(0), at_host(1)}),
                 always(Kind::rate, {.rate = {500'000}}, {at_host(0), at_host(1)})};
  plan.faults[1].what.of = kRate;
  plan.faults[1].when.on = 1ms;
  plan.faults[1].when.off = 1ms;
  MemoryFabric fabric({.latency = 0ns, .rate = kRate});
  FaultedTransport sender(std::make_unique<MemoryTransport>(fabric), plan, HostIndex{0});
  FaultedTransport receiver(std::make_unique<MemoryTransport>(fabric), plan, HostIndex{1});
  const auto spec = plan::connections_of(plan, HostIndex{0}).outgoing.at(0);
  const auto peer = plan::connections_of(plan, HostIndex{1}).incoming.at(0);
  ASSERT_TRUE(sender.connect(spec, *receiver.open(peer)));
  Instant now{1000s};
  sender.schedule().start(now);
  receiver.schedule().start(now);
  std::uint64_t received = 0;
  const std::uint64_t before = test::allocations();
  for (std::uint64_t message = 0; message < 100; ++message) {
    const Request request{
        .kind = Request::Kind::send, .connection = spec.index, .sequence = message, .bytes = 1000};
    sender.post({&request, 1}, now);
    Completion completions[8];
    for (const std::uint64_t want = received + 1; received < want;) {
      now = std::min(sender.wakeup().deadline, receiver.wakeup().deadline);
      sender.poll(completions, now);
      const std::size_t count = receiver.poll(completions, now);
      for (std::size_t i = 0; i < count; ++i) {
        if (completions[i].kind != Completion::Kind::received) continue;
        ++received;
        const Request release{.kind = Request::Kind::release,
                              .connection = peer.index,
                              .sequence = message,
                              .bytes = 1000};
        receiver.post({&release, 1}, now);
      }
    }
  }
  EXPECT_EQ(test::allocations(), before);
  EXPECT_EQ(received, 100U);
}

}  // namespace
}  // namespace rehearsal::replay
