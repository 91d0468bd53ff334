#include "core/replay/replayer.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/cluster/cluster.hpp"
#include "tests/support/cluster/plans.hpp"

namespace rehearsal::replay {
namespace {

using profile::Op;
using profile::OpKind;
using std::chrono::microseconds;
using test::Cluster;
using test::compute_of;
using test::op_of;
using test::plan_of;
using test::profile_of;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr Instant kStart{std::chrono::seconds{1}};

plan::Plan without_latency(plan::Plan plan) {
  plan.local = {.rate = BitRate{}, .latency = Duration{0}};
  return plan;
}

/// A rank that has nobody to talk to.
class AloneTest : public testing::Test {
 protected:
  void make(std::vector<Op> ops, plan::SyncMode mode = plan::SyncMode::iteration,
            std::uint32_t iterations = 1) {
    plan_ = plan_of(profile_of(1, std::move(ops)), 1);
    plan_.synchronisation = mode;
    plan_.iterations = iterations;
    plan_.jobs[0].profile = profile_with_phases(2);
    replayer_ = std::make_unique<Replayer>(plan_, JobIndex{0}, Rank{0},
                                           plan::connections_of(plan_, HostIndex{0}));
  }
  std::shared_ptr<const profile::Profile> profile_with_phases(std::uint32_t count) {
    auto profile = *plan_.jobs[0].profile;
    profile.phases.resize(count, "phase");
    return std::make_shared<const profile::Profile>(profile);
  }
  Instant iteration_done() const { return replayer_->iteration_records().back().done; }

  plan::Plan plan_;
  std::unique_ptr<Replayer> replayer_;
};

Op on_stream(Op op, std::uint32_t stream, std::vector<profile::OpIndex> after = {}) {
  op.stream = stream;
  op.after = std::move(after);
  return op;
}

Op in_phase(Op op, std::uint32_t phase) {
  op.phase = phase;
  return op;
}

TEST_F(AloneTest, ComputeOfAStreamIsChainedExactlyHoweverLateAdvanceIs) {
  make({compute_of(microseconds{10}), compute_of(microseconds{20})});
  replayer_->start(0, 0, kStart, kStart);
  replayer_->advance(kStart);
  EXPECT_EQ(replayer_->next_deadline(), kStart + microseconds{10});
  replayer_->advance(kStart + microseconds{17});
  EXPECT_EQ(replayer_->next_deadline(), kStart + microseconds{30});
  EXPECT_FALSE(replayer_->idle());
  replayer_->advance(kStart + microseconds{99});
  EXPECT_TRUE(replayer_->idle());
  EXPECT_EQ(iteration_done(), kStart + microseconds{30});
  EXPECT_EQ(replayer_->next_deadline(), kNever);
}

TEST_F(AloneTest, StreamsRunBesideEachOther) {
  make({compute_of(microseconds{10}, 0), compute_of(microseconds{25}, 1),
        on_stream(compute_of(microseconds{1}), 0, {1})});
  replayer_->start(0, 0, kStart, kStart);
  replayer_->advance(kStart + microseconds{100});
  EXPECT_EQ(iteration_done(), kStart + microseconds{26});
}

TEST_F(AloneTest, ACollectiveOfOneRankIsDoneAtOnce) {
  make({op_of(OpKind::all_reduce, 1000), op_of(OpKind::all_to_all, 1000)});
  replayer_->start(0, 0, kStart, kStart + microseconds{3});
  replayer_->advance(kStart + microseconds{3});
  EXPECT_TRUE(replayer_->idle());
  EXPECT_EQ(replayer_->ops_done(), 2U);
  ASSERT_EQ(replayer_->op_records().size(), 2U);
  EXPECT_EQ(replayer_->op_records()[1].instance, 1U);
  EXPECT_EQ(replayer_->iteration_records()[0].start, kStart + microseconds{3});
  EXPECT_EQ(replayer_->iteration_records()[0].appointment, kStart);
}

TEST_F(AloneTest, FreeIterationsFollowEachOtherWithoutDrift) {
  make({compute_of(microseconds{10}), op_of(OpKind::barrier, 0)}, plan::SyncMode::free, 3);
  replayer_->start(0, 0, kStart, kStart);
  Instant now = kStart;
  while (!replayer_->idle()) {
    replayer_->advance(now);
    replayer_->clear_records();
    now += microseconds{1};
    ASSERT_LT(now, kStart + microseconds{100});
  }
  EXPECT_EQ(replayer_->iterations_done(), 3U);
}

TEST_F(AloneTest, FreeIterationsWaitForRoomInTheRecords) {
  make({op_of(OpKind::barrier, 0)}, plan::SyncMode::free, 5);
  replayer_->start(0, 0, kStart, kStart);
  replayer_->advance(kStart);
  EXPECT_EQ(replayer_->iterations_done(), 2U);
  EXPECT_FALSE(replayer_->idle());
  EXPECT_EQ(replayer_->next_deadline(), kNever);
  replayer_->clear_records();
  EXPECT_LE(replayer_->next_deadline(), kStart);
  replayer_->advance(kStart);
  replayer_->clear_records();
  replayer_->advance(kStart);
  EXPECT_EQ(replayer_->iterations_done(), 5U);
  EXPECT_TRUE(replayer_->idle());
}

TEST_F(AloneTest, PhasesAreHeldBackAndTheWaitBetweenThemIsCounted) {
  make({compute_of(microseconds{10}), on_stream(in_phase(compute_of(microseconds{5}), 1), 1)},
       plan::SyncMode::phase);
  replayer_->start(0, 0, kStart, kStart);
  replayer_->advance(kStart + microseconds{100});
  EXPECT_TRUE(replayer_->idle());
  EXPECT_THAT(replayer_->iteration_records(), IsEmpty());
  replayer_->start(0, 1, kStart + microseconds{40}, kStart + microseconds{42});
  EXPECT_FALSE(replayer_->idle());
  replayer_->advance(kStart + microseconds{100});
  EXPECT_TRUE(replayer_->idle());
  ASSERT_EQ(replayer_->iteration_records().size(), 1U);
  EXPECT_EQ(replayer_->iteration_records()[0].waited, microseconds{32});
  EXPECT_EQ(iteration_done(), kStart + microseconds{47});
}

TEST_F(AloneTest, AnOpThatDependsOnALaterPhaseRunsInThatPhase) {
  make({in_phase(compute_of(microseconds{5}), 1), on_stream(compute_of(microseconds{1}), 1, {0})},
       plan::SyncMode::phase);
  replayer_->start(0, 0, kStart, kStart);
  replayer_->advance(kStart + microseconds{1});
  EXPECT_TRUE(replayer_->idle());
  replayer_->start(0, 1, kStart, kStart + microseconds{1});
  replayer_->advance(kStart + microseconds{50});
  EXPECT_EQ(replayer_->iterations_done(), 1U);
}

TEST_F(AloneTest, ARankWithoutOpsIsDoneWhenItStarts) {
  make({});
  replayer_->start(0, 0, kStart, kStart);
  EXPECT_TRUE(replayer_->idle());
  EXPECT_EQ(replayer_->iterations_done(), 1U);
}

/// One rank of two, its peer played by the test.
class PairTest : public testing::Test {
 protected:
  /// `spare`: credits that connections have beyond those of the ops.
  void make(std::vector<Op> ops, std::uint32_t spare = 0) {
    plan::CollectiveSettings settings;
    settings.channels = 1;
    settings.chunk = Bytes{64};
    settings.slices_per_chunk = 1;
    settings.pipeline_chunk = Bytes{64};
    settings.credits = 2;
    plan_ = plan_of(profile_of(2, std::move(ops)), 1, settings);
    connections_ = plan::connections_of(plan_, HostIndex{0});
    for (auto* specs : {&connections_.outgoing, &connections_.incoming})
      for (plan::ConnectionSpec& spec : *specs) spec.credits += spare;
    replayer_ = std::make_unique<Replayer>(plan_, JobIndex{0}, Rank{0}, connections_);
    replayer_->start(0, 0, kStart, kStart);
    replayer_->advance(kStart);
  }
  void take(Completion::Kind kind, ConnectionIndex connection, std::uint64_t sequence,
            std::uint64_t bytes) {
    const Completion completion{kind, connection, sequence, bytes};
    replayer_->on({&completion, 1}, kStart);
    replayer_->advance(kStart);
  }
  /// "send 0 64", "release 0 64": what is to be posted; takes it as accepted.
  std::vector<std::string> requests() {
    std::vector<std::string> texts;
    for (const Request& request : replayer_->requests())
      texts.push_back((request.kind == Request::Kind::send ? "send " : "release ") +
                      std::to_string(request.sequence) + " " + std::to_string(request.bytes));
    replayer_->accepted(texts.size());
    return texts;
  }
  ConnectionIndex out() const { return connections_.outgoing.at(0).index; }
  ConnectionIndex in() const { return connections_.incoming.at(0).index; }

  plan::Plan plan_;
  plan::Connections connections_;
  std::unique_ptr<Replayer> replayer_;
};

// Another op of the communicator may have more messages under way: connections are made for it.
TEST_F(PairTest, AnOpKeepsToItsOwnCreditsOnASharedConnection) {
  make({op_of(OpKind::broadcast, 256, 0)}, 6);
  EXPECT_THAT(requests(), ElementsAre("send 0 64", "send 1 64"));
  take(Completion::Kind::sent, out(), 0, 64);
  EXPECT_THAT(requests(), IsEmpty());
  take(Completion::Kind::credit, out(), 0, 64);
  EXPECT_THAT(requests(), ElementsAre("send 2 64"));
}

TEST_F(PairTest, AllReduceIsSendThenFusedThenReceive) {
  make({op_of(OpKind::all_reduce, 128)});
  EXPECT_THAT(requests(), ElementsAre("send 0 64"));
  EXPECT_THAT(replayer_->waiting_for(), ElementsAre(Rank{1}));
  take(Completion::Kind::received, in(), 0, 64);
  EXPECT_THAT(requests(), ElementsAre("send 1 64", "release 0 64"));
  take(Completion::Kind::received, in(), 1, 64);
  EXPECT_THAT(requests(), ElementsAre("release 1 64"));
  EXPECT_FALSE(replayer_->idle()) << "its messages have not left";
  EXPECT_THAT(replayer_->waiting_for(), ElementsAre(Rank{1}));
  take(Completion::Kind::sent, out(), 0, 64);
  take(Completion::Kind::sent, out(), 1, 64);
  EXPECT_TRUE(replayer_->idle());
  EXPECT_EQ(replayer_->counters().sent, Bytes{128});
  EXPECT_EQ(replayer_->counters().received, Bytes{128});
  EXPECT_THAT(replayer_->waiting_for(), IsEmpty());
}

TEST_F(PairTest, MessagesOfAPeerThatIsAheadWait) {
  make({compute_of(microseconds{1}), op_of(OpKind::broadcast, 60, 1)});
  take(Completion::Kind::received, in(), 0, 60);
  EXPECT_THAT(requests(), IsEmpty());
  replayer_->advance(kStart + microseconds{1});
  EXPECT_THAT(requests(), ElementsAre("release 0 60"));
  EXPECT_TRUE(replayer_->idle());
}

TEST_F(PairTest, WithoutCreditsASendWaits) {
  make({op_of(OpKind::send, 300, 1)});
  plan_.collectives.point_to_point_chunk = Bytes{64};
  plan_.collectives.point_to_point_channels = 1;
  connections_ = plan::connections_of(plan_, HostIndex{0});
  replayer_ = std::make_unique<Replayer>(plan_, JobIndex{0}, Rank{0}, connections_);
  replayer_->start(0, 0, kStart, kStart);
  replayer_->advance(kStart);
  EXPECT_THAT(requests(), ElementsAre("send 0 32", "send 1 32"));
  EXPECT_THAT(replayer_->waiting_for(), ElementsAre(Rank{1}));
  take(Completion::Kind::sent, out(), 0, 32);
  EXPECT_THAT(requests(), IsEmpty()) << "sent is not a credit";
  take(Completion::Kind::credit, out(), 0, 0);
  EXPECT_THAT(requests(), ElementsAre("send 2 32"));
}

TEST_F(PairTest, CollectivesOfOneCommunicatorRunOneAfterTheOther) {
  make({on_stream(op_of(OpKind::broadcast, 10, 0), 0),
        on_stream(op_of(OpKind::broadcast, 20, 0), 1)});
  EXPECT_THAT(requests(), ElementsAre("send 0 10"));
  take(Completion::Kind::sent, out(), 0, 10);
  EXPECT_THAT(requests(), ElementsAre("send 1 20"));
}

TEST_F(PairTest, SendsToOnePeerRunOneAfterTheOther) {
  make({on_stream(op_of(OpKind::send, 10, 1), 0), on_stream(op_of(OpKind::send, 20, 1), 1)});
  EXPECT_THAT(requests(), ElementsAre("send 0 10"));
  take(Completion::Kind::sent, out(), 0, 10);
  EXPECT_THAT(requests(), ElementsAre("send 1 20"));
}

TEST_F(PairTest, AMessageOfAnotherSizeIsAFailure) {
  make({op_of(OpKind::broadcast, 60, 1)});
  take(Completion::Kind::received, in(), 0, 61);
  ASSERT_TRUE(replayer_->failure());
  EXPECT_EQ(replayer_->failure()->reason, "a message of another size than expected");
  EXPECT_EQ(replayer_->failure()->peer, Rank{1});
  EXPECT_EQ(replayer_->next_deadline(), kNever);
}

TEST_F(PairTest, AGapInTheSequenceIsAFailure) {
  make({op_of(OpKind::broadcast, 60, 1)});
  take(Completion::Kind::received, in(), 1, 60);
  ASSERT_TRUE(replayer_->failure());
  EXPECT_EQ(replayer_->failure()->reason, "a message out of order");
}

TEST_F(PairTest, AMessageBeyondTheCreditsIsAFailure) {
  make({compute_of(microseconds{1}), op_of(OpKind::broadcast, 200, 1)});
  for (std::uint64_t sequence = 0; sequence < 3; ++sequence)
    take(Completion::Kind::received, in(), sequence, 60);
  ASSERT_TRUE(replayer_->failure());
  EXPECT_EQ(replayer_->failure()->reason, "a message without a credit");
}

TEST_F(PairTest, AFailedConnectionStopsEverything) {
  make({op_of(OpKind::all_reduce, 128)});
  const Completion failed{.kind = Completion::Kind::failed, .connection = in(), .reason = "gone"};
  replayer_->on({&failed, 1}, kStart);
  replayer_->advance(kStart);
  EXPECT_EQ(replayer_->failure()->reason, "gone");
  EXPECT_THAT(requests(), IsEmpty());
}

TEST_F(PairTest, ConnectedWhenAllConnectionsAre) {
  make({op_of(OpKind::all_reduce, 128)});
  EXPECT_FALSE(replayer_->connected());
  take(Completion::Kind::connected, in(), 0, 0);
  take(Completion::Kind::connected, in(), 0, 0);
  EXPECT_FALSE(replayer_->connected());
  take(Completion::Kind::connected, out(), 0, 0);
  EXPECT_TRUE(replayer_->connected());
}

/// Several ranks over virtual time.
struct World {
  World(std::uint32_t ranks, std::vector<Op> ops, const plan::CollectiveSettings& settings,
        Duration latency)
      : plan(without_latency(plan_of(profile_of(ranks, std::move(ops)), 1, settings))),
        fabric({.latency = latency}),
        cluster(plan, clock,
                [this](HostIndex) { return std::make_unique<MemoryTransport>(fabric); }) {}
  std::string run() {
    auto wrong = cluster.connect();
    return wrong.empty() ? cluster.run() : wrong;
  }

  plan::Plan plan;
  test::VirtualClock clock;
  MemoryFabric fabric;
  Cluster cluster;
};

plan::CollectiveSettings one_channel(std::uint32_t slices, std::uint32_t credits) {
  plan::CollectiveSettings settings;
  settings.channels = 1;
  settings.chunk = Bytes{64};
  settings.slices_per_chunk = slices;
  settings.credits = credits;
  return settings;
}

TEST(ReplayerInVirtualTime, ARingAllReduceCosts2TimesNMinus1Latencies) {
  for (const std::uint32_t ranks : {2U, 3U, 4U, 9U, 16U}) {
    World world{ranks, {op_of(OpKind::all_reduce, 64 * ranks)}, one_channel(1, 4), microseconds{7}};
    ASSERT_EQ(world.run(), "");
    ASSERT_EQ(world.cluster.ops().size(), ranks);
    for (const auto& op : world.cluster.ops())
      EXPECT_EQ(op.done - op.ready, 2 * (ranks - 1) * microseconds{7}) << ranks << " ranks";
  }
}

TEST(ReplayerInVirtualTime, CollectivesOfTwoCommunicatorsOverlap) {
  auto profile = profile_of(4, {op_of(OpKind::all_reduce, 256), op_of(OpKind::all_reduce, 256)});
  profile.communicators.push_back(profile.communicators[0]);
  profile.classes[0].ops[1].communicator = CommunicatorIndex{1};
  profile.classes[0].ops[1].stream = 1;
  const plan::Plan plan = plan_of(profile, 1, one_channel(1, 4));
  test::VirtualClock clock;
  MemoryFabric fabric{{.latency = microseconds{7}}};
  Cluster cluster{plan, clock,
                  [&](HostIndex) { return std::make_unique<MemoryTransport>(fabric); }};
  ASSERT_EQ(cluster.connect(), "");
  ASSERT_EQ(cluster.run(), "");
  for (const auto& iteration : cluster.iterations())
    EXPECT_EQ(iteration.done - iteration.start, 6 * microseconds{7});
}

TEST(ReplayerInVirtualTime, ComputeAndCommunicationOverlap) {
  World world{2,
              {compute_of(microseconds{50}, 0), on_stream(op_of(OpKind::all_reduce, 128), 1)},
              one_channel(1, 4),
              microseconds{20}};
  ASSERT_EQ(world.run(), "");
  for (const auto& iteration : world.cluster.iterations())
    EXPECT_EQ(iteration.done - iteration.start, microseconds{50});
}

TEST(ReplayerInVirtualTime, AFusedRingNeedsOneCreditMoreThanSlices) {
  const std::vector<Op> ops{op_of(OpKind::all_reduce, 256)};
  struct {
    std::uint32_t slices;
    std::uint32_t credits;
    bool works;
  } const cases[] = {{1, 1, false}, {1, 2, true}, {2, 2, false}, {2, 3, true}, {2, 4, true}};
  for (const auto& [slices, credits, works] : cases) {
    World world{4, ops, one_channel(slices, credits), microseconds{1}};
    const std::string wrong = world.run();
    EXPECT_EQ(wrong.empty(), works) << slices << " slices, " << credits << " credits: " << wrong;
    if (!works) {
      EXPECT_THAT(wrong, testing::HasSubstr("0 waits for 1;"));
    }
  }
}

TEST(ReplayerInVirtualTime, ExchangesNeedOneCredit) {
  plan::CollectiveSettings settings = test::small_settings();
  settings.credits = 1;
  settings.slices_per_chunk = 1;
  for (const OpKind kind : {OpKind::all_to_all, OpKind::gather, OpKind::scatter}) {
    World world{16, {op_of(kind, 50'000, 3)}, settings, microseconds{1}};
    EXPECT_EQ(world.run(), "") << profile::to_string(kind);
  }
}

}  // namespace
}  // namespace rehearsal::replay
