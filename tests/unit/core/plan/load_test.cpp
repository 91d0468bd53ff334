#include <gtest/gtest.h>

#include <chrono>
#include <map>

#include "core/base/random.hpp"
#include "core/collective/expansion.hpp"
#include "core/plan/placement.hpp"
#include "core/plan/plan.hpp"
#include "tests/support/cluster/plans.hpp"

namespace rehearsal::plan {
namespace {

using profile::Op;
using profile::OpKind;
using test::op_of;
using test::plan_of;
using test::profile_of;

/// Ops of every kind, on the whole and on halves, with repeats.
profile::Profile some_of_everything(std::uint32_t ranks, Random& random) {
  std::vector<Op> ops;
  for (const OpKind kind :
       {OpKind::all_reduce, OpKind::all_gather, OpKind::reduce_scatter, OpKind::all_to_all,
        OpKind::broadcast, OpKind::reduce, OpKind::gather, OpKind::scatter, OpKind::barrier})
    for (int i = 0; i < 3; ++i)
      ops.push_back(
          op_of(kind, random.below(6000), static_cast<std::uint32_t>(random.below(ranks))));
  ops.push_back(ops.front());
  profile::PeerBytes sizes{.name = "v", .size = ranks, .bytes = {}};
  for (std::uint32_t i = 0; i < ranks * ranks; ++i) sizes.bytes.emplace_back(random.below(900));
  ops.push_back(op_of(OpKind::all_to_all, 0));
  ops.back().peer_bytes = 0;
  auto profile = profile_of(ranks, ops);
  profile.peer_bytes.push_back(sizes);
  return profile;
}

struct Walked {
  std::map<std::pair<HostIndex, HostIndex>, std::pair<std::uint64_t, std::uint64_t>> flows;
  std::uint64_t local = 0;
};

/// Adds up the steps of all cursors, one by one.
Walked walk(const Plan& plan) {
  Walked walked;
  const auto& job = plan.jobs[0];
  Shapes shapes{plan, JobIndex{0}};
  for (std::uint32_t rank = 0; rank < job.profile->ranks; ++rank)
    for (const Op& op : job.profile->class_of(Rank{rank}).ops) {
      const auto& communicator = job.profile->communicators[op.communicator.value];
      const auto expansion = collective::expand(
          op, communicator.position(Rank{rank}), shapes.of(op.communicator),
          choice_of(plan, JobIndex{0}, op), peer_bytes_of(*job.profile, op), plan.collectives);
      for (std::uint32_t lane = 0; lane < expansion.lane_count(); ++lane) {
        auto cursor = expansion.lane(lane);
        collective::Step step;
        while (cursor.next(step)) {
          if (!collective::sends(step.action)) continue;
          const HostIndex from = job.bindings[rank].host;
          const HostIndex to = job.bindings[communicator.ranks[step.to].value].host;
          if (from == to) {
            walked.local += step.wire;
            continue;
          }
          auto& [bytes, messages] = walked.flows[{from, to}];
          bytes += step.wire;
          ++messages;
        }
      }
    }
  return walked;
}

TEST(ExpandLoad, IsWhatTheCursorsSend) {
  const std::uint64_t seed = 5;
  std::printf("seed %llu\n", static_cast<unsigned long long>(seed));
  Random random{seed};
  for (const std::uint32_t ranks : {1U, 2U, 5U, 8U, 12U})
    for (const std::uint32_t per_host : {1U, 2U, 3U}) {
      SCOPED_TRACE(testing::Message() << ranks << " ranks, " << per_host << " a host");
      const Plan plan =
          plan_of(some_of_everything(ranks, random), per_host, test::small_settings());
      const Load load = expand_load(plan);
      const Walked walked = walk(plan);
      ASSERT_EQ(load.flows.size(), walked.flows.size());
      std::uint64_t total = 0;
      for (const Flow& flow : load.flows) {
        const auto& [bytes, messages] = walked.flows.at({flow.source_host, flow.destination_host});
        EXPECT_EQ(flow.bytes.count(), bytes);
        EXPECT_EQ(flow.messages, messages);
        total += bytes;
      }
      EXPECT_EQ(load.jobs[0].on_wire.count(), total);
      EXPECT_EQ(load.jobs[0].local.count(), walked.local);
      EXPECT_EQ(load.jobs[0].ops, std::uint64_t{ranks} * 29);
      Bytes sent;
      Bytes received;
      for (const NicLoad& nic : load.nics) {
        sent += nic.sent;
        received += nic.received;
      }
      EXPECT_EQ(sent.count(), total);
      EXPECT_EQ(received.count(), total);
    }
}

TEST(ExpandLoad, ExpectsTheLongerOfComputeAndTheBusiestNic) {
  using std::chrono::milliseconds;
  auto profile = profile_of(2, {op_of(OpKind::broadcast, 1'000'000, 0)});
  profile.classes[0].ops.push_back(test::compute_of(milliseconds{3}));
  profile.classes[0].ops.push_back(test::compute_of(milliseconds{4}));
  profile.classes[0].ops.push_back(test::compute_of(milliseconds{6}, 1));
  Plan plan = plan_of(profile, 1);
  EXPECT_EQ(expand_load(plan).expected_iteration, milliseconds{7}) << "no line rate is known";
  EXPECT_EQ(expand_load(plan).jobs[0].compute_max, milliseconds{7});
  plan.hosts[1].nics[0].line_rate = BitRate{1'000'000'000};
  EXPECT_EQ(expand_load(plan).expected_iteration, milliseconds{8});
}

TEST(ExpandLoad, NicsThatCarryNothingAreListed) {
  const Plan plan = plan_of(profile_of(2, {}), 1);
  const Load load = expand_load(plan);
  ASSERT_EQ(load.nics.size(), 2U);
  EXPECT_EQ(load.nics[1].sent, Bytes{0});
  EXPECT_TRUE(load.flows.empty());
}

TEST(ExpandLoad, AJobOfSomeHundredRanksTakesLessThanASecond) {
  std::vector<Op> ops;
  for (std::uint64_t i = 0; i < 50; ++i) {
    ops.push_back(op_of(OpKind::all_reduce, (i + 1) << 20));
    ops.push_back(op_of(OpKind::all_gather, (i + 1) << 20));
  }
  ops.push_back(op_of(OpKind::all_to_all, 64U << 20));
  ops.push_back(op_of(OpKind::all_to_all, 32U << 20));
  const Plan plan = plan_of(profile_of(512, ops), 8);
  const auto begin = std::chrono::steady_clock::now();
  const Load load = expand_load(plan);
  const Connections connections = connections_of(plan, HostIndex{3});
  const auto taken = std::chrono::steady_clock::now() - begin;
  EXPECT_LT(taken, std::chrono::seconds{1});
  EXPECT_GT(load.jobs[0].on_wire.count(), 0U);
  EXPECT_FALSE(connections.outgoing.empty());
}

TEST(ConnectionsOf, BothEndsAgreeAndCountThrough) {
  Random random{9};
  for (const std::uint32_t per_host : {1U, 2U, 3U}) {
    const Plan plan = plan_of(some_of_everything(8, random), per_host, test::small_settings());
    std::map<ConnectionKey, ConnectionSpec> outgoing;
    std::map<ConnectionKey, ConnectionSpec> incoming;
    for (std::uint32_t host = 0; host < plan.hosts.size(); ++host) {
      const Connections connections = connections_of(plan, HostIndex{host});
      std::uint32_t index = 0;
      for (const auto* specs : {&connections.outgoing, &connections.incoming, &connections.local}) {
        for (std::size_t i = 0; i < specs->size(); ++i) {
          EXPECT_EQ((*specs)[i].index.value, index++);
          EXPECT_TRUE(i == 0 || (*specs)[i - 1].key < (*specs)[i].key);
        }
      }
      for (const auto& spec : connections.outgoing) {
        EXPECT_EQ(plan.jobs[0].bindings[spec.key.source.value].host.value, host);
        EXPECT_TRUE(outgoing.emplace(spec.key, spec).second);
      }
      for (const auto& spec : connections.incoming)
        EXPECT_TRUE(incoming.emplace(spec.key, spec).second);
      for (const auto& spec : connections.local) {
        EXPECT_EQ(plan.jobs[0].bindings[spec.key.source.value].host.value, host);
        EXPECT_EQ(plan.jobs[0].bindings[spec.key.destination.value].host.value, host);
      }
    }
    ASSERT_EQ(outgoing.size(), incoming.size());
    for (const auto& [key, spec] : outgoing) {
      ASSERT_TRUE(incoming.contains(key));
      EXPECT_EQ(incoming[key].message_bytes_max, spec.message_bytes_max);
      EXPECT_EQ(incoming[key].credits, spec.credits);
    }
  }
}

TEST(ConnectionsOf, ARingHasItsNeighboursOnly) {
  const Plan plan = plan_of(profile_of(6, {op_of(OpKind::all_reduce, 1U << 20)}), 1);
  const Connections connections = connections_of(plan, HostIndex{2});
  ASSERT_EQ(connections.outgoing.size(), 2U) << "a connection a channel";
  EXPECT_EQ(connections.outgoing[1].key.destination, Rank{3});
  EXPECT_EQ(connections.outgoing[1].key.channel, 1U);
  ASSERT_EQ(connections.incoming.size(), 2U);
  EXPECT_EQ(connections.incoming[0].key.source, Rank{1});
  EXPECT_TRUE(connections.local.empty());
}

TEST(ConnectionsOf, SmallOpsNeedNoSecondChannel) {
  const Plan plan = plan_of(profile_of(4, {op_of(OpKind::all_reduce, 1000)}), 1);
  EXPECT_EQ(connections_of(plan, HostIndex{0}).outgoing.size(), 1U);
}

TEST(Shapes, RanksOfAHostAreANodeAndRingsFollowTheCommunicator) {
  const Plan plan = plan_of(profile_of(5, {}), 2);
  Shapes shapes{plan, JobIndex{0}};
  const collective::Shape& shape = shapes.of(CommunicatorIndex{0});
  EXPECT_EQ(&shape, &shapes.of(CommunicatorIndex{0}));
  EXPECT_EQ(shape.nodes(), 3U);
  EXPECT_EQ(shape.node_of(3), 1U);
  EXPECT_EQ(shape.next(0, 1), 2U);
  EXPECT_EQ(shape.next(1, 4), 0U);
}

}  // namespace
}  // namespace rehearsal::plan
