#include <gtest/gtest.h>

#include "core/base/random.hpp"
#include "tests/conformance/transports.hpp"
#include "tests/support/cluster/plans.hpp"

namespace rehearsal::test {
namespace {

using profile::Op;
using profile::OpKind;
using profile::Profile;

/// What the suite rehearses: every collective, and some of them together.
enum class Work : std::uint8_t {
  all_reduce,
  all_gather,
  reduce_scatter,
  all_to_all,
  all_to_all_per_peer,
  broadcast,
  reduce,
  gather,
  scatter,
  send_recv,
  barrier,
  mixed,
};

constexpr const char* kWorkNames[] = {
    "all_reduce", "all_gather", "reduce_scatter", "all_to_all", "all_to_all_per_peer",
    "broadcast",  "reduce",     "gather",         "scatter",    "send_recv",
    "barrier",    "mixed"};

/// Nothing, one byte, odd, one chunk, several chunks, several loops of a ring.
std::vector<std::uint64_t> sizes(std::uint32_t ranks) {
  return {0, 1, 37, 256, 256 * 5 + 3, std::uint64_t{256} * ranks * 5 + 1};
}

/// The same op for all ranks, once for every size.
Profile one_kind(std::uint32_t ranks, OpKind kind) {
  std::vector<Op> ops;
  std::uint32_t root = 0;
  for (const std::uint64_t bytes : sizes(ranks)) ops.push_back(op_of(kind, bytes, root++ % ranks));
  return profile_of(ranks, ops);
}

Profile per_peer(std::uint32_t ranks) {
  Random random{ranks};
  std::vector<Op> ops;
  Profile profile = profile_of(ranks, {});
  for (std::uint32_t i = 0; i < 3; ++i) {
    profile::PeerBytes sizes{.name = "v" + std::to_string(i), .size = ranks, .bytes = {}};
    for (std::uint32_t pair = 0; pair < ranks * ranks; ++pair)
      sizes.bytes.emplace_back(random.chance(0.3) ? 0 : random.below(3000));
    profile.peer_bytes.push_back(sizes);
    Op op = op_of(OpKind::all_to_all, 0);
    op.peer_bytes = i;
    profile.classes[0].ops.push_back(op);
  }
  return profile;
}

/// Every rank sends to the next and receives from the one before, on two streams.
Profile send_recv(std::uint32_t ranks) {
  Profile profile = profile_of(ranks, {});
  profile.classes.clear();
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    profile::RankClass mine{.name = std::to_string(rank), .ranks = {Rank{rank}}, .ops = {}};
    for (const std::uint64_t bytes : sizes(ranks)) {
      mine.ops.push_back(op_of(OpKind::send, bytes, (rank + 1) % ranks));
      mine.ops.push_back(op_of(OpKind::recv, bytes, (rank + ranks - 1) % ranks));
      mine.ops.back().stream = 1;
    }
    profile.classes.push_back(mine);
  }
  return profile;
}

/// Collectives of two communicators at once, with compute beside them and phases.
Profile mixed(std::uint32_t ranks) {
  Profile profile = profile_of(ranks, {});
  profile.communicators.push_back(profile.communicators[0]);
  profile.communicators[1].name = "twin";
  std::reverse(profile.communicators[1].ranks.begin(), profile.communicators[1].ranks.end());
  profile.phases = {"forward", "backward"};
  auto& ops = profile.classes[0].ops;
  for (std::uint32_t phase = 0; phase < 2; ++phase) {
    const auto add = [&](Op op, std::uint32_t stream, std::uint32_t communicator) {
      op.stream = stream;
      op.phase = phase;
      op.communicator = CommunicatorIndex{communicator};
      ops.push_back(op);
    };
    const auto first = static_cast<profile::OpIndex>(ops.size());
    add(compute_of(std::chrono::microseconds{30}), 0, 0);
    add(op_of(OpKind::all_reduce, 3001), 1, 0);
    add(op_of(OpKind::all_to_all, 2000), 2, 1);
    add(op_of(OpKind::all_gather, 777), 3, 0);
    ops.back().after = {first};
    add(op_of(OpKind::broadcast, 500, ranks - 1), 0, 1);
    ops.back().after = {first + 1};
  }
  return profile;
}

Profile profile_for(Work work, std::uint32_t ranks) {
  switch (work) {
    case Work::all_reduce:
      return one_kind(ranks, OpKind::all_reduce);
    case Work::all_gather:
      return one_kind(ranks, OpKind::all_gather);
    case Work::reduce_scatter:
      return one_kind(ranks, OpKind::reduce_scatter);
    case Work::all_to_all:
      return one_kind(ranks, OpKind::all_to_all);
    case Work::all_to_all_per_peer:
      return per_peer(ranks);
    case Work::broadcast:
      return one_kind(ranks, OpKind::broadcast);
    case Work::reduce:
      return one_kind(ranks, OpKind::reduce);
    case Work::gather:
      return one_kind(ranks, OpKind::gather);
    case Work::scatter:
      return one_kind(ranks, OpKind::scatter);
    case Work::send_recv:
      return send_recv(ranks);
    case Work::barrier:
      return one_kind(ranks, OpKind::barrier);
    case Work::mixed:
      return mixed(ranks);
  }
  return {};
}

/// Every NIC carried what the plan says, every op was done, nothing is left.
void expect_as_planned(const plan::Plan& plan, Cluster& cluster) {
  cluster.settle();
  const plan::Load load = plan::expand_load(plan);
  std::vector<Bytes> sent(plan.hosts.size());
  std::vector<Bytes> received(plan.hosts.size());
  Bytes local;
  std::uint64_t messages_sent = 0;
  std::uint64_t messages_received = 0;
  std::uint64_t ops = 0;
  for (const replay::Replayer* replayer : cluster.replayers()) {
    const std::uint32_t host = plan.jobs[0].bindings[replayer->rank().value].host.value;
    EXPECT_FALSE(replayer->failure());
    EXPECT_TRUE(replayer->requests().empty());
    EXPECT_TRUE(replayer->waiting_for().empty());
    EXPECT_EQ(replayer->iterations_done(), plan.iterations);
    sent[host] += replayer->counters().sent;
    received[host] += replayer->counters().received;
    local += replayer->counters().local;
    messages_sent += replayer->counters().messages_sent;
    messages_received += replayer->counters().messages_received;
    ops += replayer->ops_done();
  }
  std::uint64_t messages = 0;
  for (const plan::Flow& flow : load.flows) messages += flow.messages;
  for (const plan::NicLoad& nic : load.nics) {
    EXPECT_EQ(sent[nic.host.value].count(), nic.sent.count() * plan.iterations);
    EXPECT_EQ(received[nic.host.value].count(), nic.received.count() * plan.iterations);
  }
  EXPECT_EQ(local.count(), load.jobs[0].local.count() * plan.iterations);
  EXPECT_EQ(messages_sent, messages * plan.iterations);
  EXPECT_EQ(messages_received, messages * plan.iterations);
  EXPECT_EQ(ops, load.jobs[0].ops * plan.iterations);
  EXPECT_EQ(cluster.ops().size(), ops);
  EXPECT_EQ(cluster.iterations().size(), cluster.replayers().size() * plan.iterations);
}

class Conformance : public testing::TestWithParam<std::tuple<std::size_t, Work>> {
 protected:
  const TransportUnderTest& under_test() const { return under_test_; }

  void rehearse(std::uint32_t ranks, std::uint32_t ranks_per_host, plan::SyncMode mode) {
    const Work work = std::get<1>(GetParam());
    SCOPED_TRACE(testing::Message() << ranks << " ranks, " << ranks_per_host << " a host");
    plan::Plan plan = plan_of(profile_for(work, ranks), ranks_per_host, small_settings());
    plan.iterations = 2;
    plan.synchronisation = mode;
    const auto clock = under_test().make_clock();
    const auto make = under_test().make(plan);
    Cluster cluster{plan, *clock, make};
    ASSERT_EQ(cluster.connect(), "");
    ASSERT_EQ(cluster.run(), "");
    expect_as_planned(plan, cluster);
  }

 private:
  TransportUnderTest under_test_ = transports_under_test()[std::get<0>(GetParam())];
};

TEST_P(Conformance, MovesWhatThePlanSays) {
  std::vector<std::uint32_t> all = under_test().ranks;
  if (std::get<1>(GetParam()) == Work::all_reduce)
    all.insert(all.end(), under_test().all_reduce_ranks.begin(),
               under_test().all_reduce_ranks.end());
  for (const std::uint32_t ranks : all) {
    rehearse(ranks, 1, plan::SyncMode::iteration);
    if (HasFailure()) return;
  }
}

TEST_P(Conformance, KeepsRanksOfOneHostInside) {
  for (const std::uint32_t ranks : under_test().paired_ranks) {
    rehearse(ranks, 2, plan::SyncMode::iteration);
    if (HasFailure()) return;
  }
  rehearse(4, 4, plan::SyncMode::iteration);
}

TEST_P(Conformance, KeepsStepInEveryWay) {
  rehearse(4, 1, plan::SyncMode::free);
  rehearse(4, 2, plan::SyncMode::phase);
}

INSTANTIATE_TEST_SUITE_P(
    Transports, Conformance,
    testing::Combine(testing::Range(std::size_t{0}, transports_under_test().size()),
                     testing::Values(Work::all_reduce, Work::all_gather, Work::reduce_scatter,
                                     Work::all_to_all, Work::all_to_all_per_peer, Work::broadcast,
                                     Work::reduce, Work::gather, Work::scatter, Work::send_recv,
                                     Work::barrier, Work::mixed)),
    [](const auto& instance) {
      return transports_under_test()[std::get<0>(instance.param)].name + "_" +
             kWorkNames[static_cast<std::size_t>(std::get<1>(instance.param))];
    });

}  // namespace
}  // namespace rehearsal::test
