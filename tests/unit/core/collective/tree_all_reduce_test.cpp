#include "core/collective/tree_all_reduce.hpp"

#include <gmock/gmock.h>

#include <map>

#include "core/base/random.hpp"
#include "tests/support/collective/rehearsed.hpp"
#include "tests/support/collective/shapes.hpp"

namespace rehearsal::collective {
namespace {

using profile::OpKind;
using test::blocks;
using test::from_all;
using test::Rehearsed;
using testing::ElementsAre;
using Inside = TreeAllReduce::Inside;

constexpr std::uint32_t kNone = TreeNode::kNone;

Choice choice_of(Algorithm algorithm, std::uint32_t channels, std::uint64_t chunk = 512U << 10,
                 Protocol protocol = Protocol::simple) {
  return {.algorithm = algorithm,
          .protocol = protocol,
          .channels = channels,
          .chunk = Bytes{chunk},
          .slices_per_chunk = 1,
          .credits = 8};
}

/// As NCCL prints a rank's place in a tree: "down/down/down->rank->up".
std::string links_as_nccl_prints(const Shape& shape, std::uint32_t channels, std::uint32_t channel,
                                 std::uint32_t rank) {
  const auto links =
      TreeAllReduce{Inside::chain, 1, rank, shape, choice_of(Algorithm::tree, channels)}.links(
          channel);
  std::string text;
  for (std::uint32_t i = 0; i < 3; ++i)
    text += (i > 0 ? "/" : "") +
            (i < links.children() ? std::to_string(links.child(i)) : std::string{"-1"});
  return text + "->" + std::to_string(rank) + "->" +
         (links.is_root() ? "-1" : std::to_string(links.up()));
}

// 4 nodes of 4 GPUs with 2 NICs near GPUs 0 and 2, "NCCL INFO Trees" of the log in
// https://github.com/NVIDIA/nccl/issues/634: its channels 0, 2, 5 and 7 are 0, 1, 2 and 3 here.
TEST(TreeAllReduce, LinksAreThoseNcclPrintedOnFourNodesOfFour) {
  std::vector<Shape::Member> members;
  for (std::uint32_t rank = 0; rank < 16; ++rank)
    members.push_back({.node = rank / 4, .rail = rank % 4 / 2});
  const Shape shape{members};
  const auto line = [&](std::uint32_t channel, std::uint32_t rank) {
    return links_as_nccl_prints(shape, 4, channel, rank);
  };
  EXPECT_EQ(line(0, 0), "1/8/-1->0->-1");
  EXPECT_EQ(line(1, 0), "1/-1/-1->0->3");
  EXPECT_EQ(line(2, 0), "1/-1/-1->0->4");
  EXPECT_EQ(line(3, 0), "1/-1/-1->0->3");
  EXPECT_EQ(line(0, 6), "7/-1/-1->6->5");
  EXPECT_EQ(line(1, 6), "7/-1/-1->6->11");
  EXPECT_EQ(line(2, 6), "7/-1/-1->6->5");
  EXPECT_EQ(line(3, 6), "7/2/-1->6->14");
  EXPECT_EQ(line(1, 7), "4/-1/-1->7->6");
  EXPECT_EQ(line(3, 7), "4/10/-1->7->6");
  EXPECT_EQ(line(1, 10), "11/14/-1->10->2");
  EXPECT_EQ(line(1, 11), "8/6/-1->11->10");
  EXPECT_EQ(line(0, 11), "-1/-1/-1->11->10");
}

TEST(TreeAllReduce, TwoNodesOfEight) {
  const Shape shape = blocks(2, 8);
  EXPECT_EQ(links_as_nccl_prints(shape, 16, 0, 0), "1/8/-1->0->-1");
  EXPECT_EQ(links_as_nccl_prints(shape, 16, 1, 0), "-1/-1/-1->0->7");
  EXPECT_EQ(links_as_nccl_prints(shape, 16, 8, 0), "1/-1/-1->0->8");
  EXPECT_EQ(links_as_nccl_prints(shape, 16, 8, 8), "9/0/-1->8->-1");
}

/// What each pair of ranks sends one way, with one rank a node.
std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint64_t> edge_bytes(std::uint32_t nodes,
                                                                            std::uint64_t bytes) {
  const Shape shape = Shape::flat(nodes);
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint64_t> result;
  for (std::uint32_t rank = 0; rank < nodes; ++rank) {
    std::vector<Traffic> traffic;
    TreeAllReduce{Inside::chain, bytes, rank, shape, choice_of(Algorithm::tree, 2, 64)}.append_sent(
        traffic);
    for (const Traffic& t : traffic) result[{rank, t.peer}] += t.amount.bytes;
  }
  return result;
}

/// `times` halves of the array both ways between each pair.
void expect_edges(std::uint32_t nodes,
                  const std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint64_t>& times) {
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint64_t> expected;
  for (const auto& [edge, halves] : times) {
    expected[edge] = halves * 1600;
    expected[{edge.second, edge.first}] = halves * 1600;
  }
  EXPECT_EQ(edge_bytes(nodes, 3200), expected) << nodes << " nodes";
}

// Both trees' edges by hand (nccl src/graph/trees.cc), half of the array on each.
TEST(TreeAllReduce, BytesOfEachEdgeByHand) {
  expect_edges(2, {{{0, 1}, 2}});
  expect_edges(3, {{{0, 2}, 2}, {{1, 2}, 1}, {{0, 1}, 1}});
  expect_edges(4, {{{0, 2}, 1}, {{1, 2}, 2}, {{2, 3}, 1}, {{1, 3}, 1}, {{0, 1}, 1}});
  expect_edges(
      5,
      {{{0, 4}, 1}, {{2, 4}, 1}, {{1, 2}, 1}, {{2, 3}, 2}, {{0, 1}, 1}, {{0, 3}, 1}, {{3, 4}, 1}});
  expect_edges(8, {{{0, 4}, 1},
                   {{2, 4}, 1},
                   {{4, 6}, 1},
                   {{1, 2}, 2},
                   {{2, 3}, 1},
                   {{5, 6}, 2},
                   {{6, 7}, 1},
                   {{3, 7}, 1},
                   {{3, 5}, 1},
                   {{1, 3}, 1},
                   {{4, 5}, 1},
                   {{0, 1}, 1}});
}

struct Stage {
  Action action;
  std::uint32_t from;
  std::uint32_t to;
};

void expect_chunks(TreeAllReduce::Cursor cursor, std::vector<std::uint64_t> offsets,
                   const std::vector<Stage>& stages) {
  Step step;
  for (const std::uint64_t offset : offsets)
    for (const Stage& stage : stages) {
      ASSERT_TRUE(cursor.next(step));
      EXPECT_EQ(step.action, stage.action);
      EXPECT_EQ(step.offset, offset);
      if (receives(stage.action)) {
        EXPECT_EQ(step.from, stage.from);
      }
      if (sends(stage.action)) {
        EXPECT_EQ(step.to, stage.to);
      }
    }
  EXPECT_FALSE(cursor.next(step));
}

TEST(TreeAllReduce, ReducesUpAndBroadcastsDownAtTheSameTimeChunkByChunk) {
  // Two nodes of two, one rail, 2 channels: tree 0 is 0 → 1 and 0 → 2 (the head of node 1), 2 → 3.
  const Shape shape = blocks(2, 2, 2);
  const Choice choice = choice_of(Algorithm::tree, 2, 512U << 10);
  const std::uint64_t bytes = 2 * ((1U << 20) + 4096);  // a part is two chunks and a rest
  const auto of = [&](std::uint32_t rank) {
    return TreeAllReduce{Inside::chain, bytes, rank, shape, choice};
  };
  const std::vector<std::uint64_t> offsets{0, 512U << 10, 1U << 20};
  EXPECT_EQ(of(0).lane_count(), 3U) << "the root of tree 0, not of tree 1";
  expect_chunks(
      of(0).lane(0), offsets,
      {{Action::recv_reduce, 1, 0}, {Action::recv_reduce_copy_send, 2, 1}, {Action::send, 0, 2}});
  EXPECT_EQ(of(2).lane_count(), 3U);
  expect_chunks(of(2).lane(0), offsets, {{Action::recv_reduce_send, 3, 0}});
  expect_chunks(of(2).lane(1), offsets, {{Action::recv_copy_send, 0, 3}});
  EXPECT_EQ(of(3).lane_count(), 4U);
  expect_chunks(of(3).lane(0), offsets, {{Action::send, 0, 2}});
  expect_chunks(of(3).lane(1), offsets, {{Action::recv, 2, 0}});
}

TEST(TreeAllReduce, MessagesAreOneStepOfTheProtocol) {
  const Shape shape = Shape::flat(2);
  const auto largest = [&](Protocol protocol, std::uint64_t chunk) {
    std::vector<Traffic> traffic;
    TreeAllReduce{Inside::chain, 100U << 20, 0, shape,
                  choice_of(Algorithm::tree, 2, chunk, protocol)}
        .append_sent(traffic);
    EXPECT_EQ(traffic.size(), 2U);
    return traffic.at(0).message_bytes_max;
  };
  EXPECT_EQ(largest(Protocol::simple, 512U << 10), 512U << 10);
  EXPECT_EQ(largest(Protocol::ll, 32U << 10), 64U << 10);
  EXPECT_EQ(largest(Protocol::ll128, 576'000), 614'400U);
}

TEST(TreeAllReduce, NvlsTreeCarriesAShareOfTheArrayOnEachRail) {
  // 5 nodes of 8 GPUs and 8 rails: a node is inside one tree or both, and each head of it talks to
  // its rail's heads only.
  const Shape shape = blocks(5, 8);
  const std::uint64_t bytes = 64U << 20;
  std::map<std::uint32_t, std::uint64_t> by_rail;
  for (std::uint32_t rank = 0; rank < shape.size(); ++rank) {
    std::vector<Traffic> traffic;
    TreeAllReduce{Inside::star, bytes, rank, shape, choice_of(Algorithm::nvls_tree, 4)}.append_sent(
        traffic);
    for (const Traffic& t : traffic) {
      if (shape.node_of(t.peer) == shape.node_of(rank)) continue;
      EXPECT_EQ(shape.rail_of(t.peer), shape.rail_of(rank));
      EXPECT_EQ(shape.rail_of_channel(t.channel), shape.rail_of(rank));
      by_rail[shape.rail_of(rank)] += t.amount.bytes;
    }
  }
  ASSERT_EQ(by_rail.size(), 8U);
  for (const auto& [rail, sent] : by_rail) EXPECT_EQ(sent, 2 * 4 * bytes / 8) << "rail " << rail;
}

TEST(TreeAllReduce, NvlsInsideOneNodeGoesThroughTheHeadsOnly) {
  const Shape shape = blocks(1, 4);
  const auto lanes = [&](std::uint32_t rank) {
    return TreeAllReduce{Inside::star, 4096, rank, shape, choice_of(Algorithm::nvls, 1, 1024)};
  };
  // One channel of four heads: rank 2 is the head of the third and gives to the others.
  EXPECT_EQ(lanes(2).lane_count(), 7U);
  expect_chunks(lanes(2).lane(4), {2048},
                {{Action::recv_reduce, 3, 0},
                 {Action::recv_reduce, 0, 0},
                 {Action::recv_reduce_copy_send, 1, 3},
                 {Action::send, 0, 0},
                 {Action::send, 0, 1}});
}

/// Bytes that pass between nodes.
std::uint64_t between_nodes(const Rehearsed& run, const Shape& shape) {
  std::uint64_t total = 0;
  for (const auto& [link, traffic] : run.links)
    if (shape.node_of(std::get<0>(link)) != shape.node_of(std::get<1>(link)))
      total += traffic.amount.bytes;
  return total;
}

TEST(TreeAllReduce, GivesEveryRankTheSumOfAll) {
  const std::uint64_t seed = 31;
  std::printf("seed %llu\n", static_cast<unsigned long long>(seed));
  Random random{seed};
  const Algorithm algorithms[] = {Algorithm::tree, Algorithm::nvls_tree, Algorithm::nvls};
  for (int round = 0; round < 900; ++round) {
    const Algorithm algorithm = algorithms[round % 3];
    const Shape shape = test::random_shape(random, algorithm == Algorithm::nvls ? 1 : 7);
    const bool nvls = algorithm != Algorithm::tree;
    const Choice choice =
        choice_of(algorithm, static_cast<std::uint32_t>(random.between(1, 5)),
                  random.between(1, 200), nvls ? Protocol::simple : kProtocols[random.below(3)]);
    const std::uint64_t special[] = {0, 1, 15, 17, choice.chunk.count()};
    const std::uint64_t bytes = round % 4 == 0 ? special[random.below(5)] : random.below(4000);
    const std::uint32_t credits[] = {0, 1, 2, 8};
    SCOPED_TRACE(testing::Message()
                 << to_string(algorithm) << ", " << to_string(choice.protocol) << ", "
                 << test::text(shape) << ", " << bytes << " B, " << choice.channels
                 << " channels, chunk " << choice.chunk.count());
    const Rehearsed run{{OpKind::all_reduce, bytes}, shape, choice, {}, credits[random.below(4)]};
    const std::uint64_t n = shape.size();
    for (std::uint32_t rank = 0; n > 1 && rank < n; ++rank)
      for (std::uint64_t i = 0; i < bytes; ++i)
        ASSERT_EQ(run.data[rank][i], from_all(shape.size())) << "rank " << rank << ", byte " << i;
    EXPECT_EQ(run.bytes_sent(), 2 * (n - 1) * bytes);
    EXPECT_EQ(between_nodes(run, shape), 2 * (shape.nodes() - 1) * bytes);
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace rehearsal::collective
