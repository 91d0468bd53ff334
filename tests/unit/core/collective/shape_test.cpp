#include "core/collective/shape.hpp"

#include <gmock/gmock.h>

#include <set>

namespace rehearsal::collective {
namespace {

using testing::ElementsAre;

/// `nodes` nodes of `ranks` ranks, rail = local index, in blocks.
Shape blocks(std::uint32_t nodes, std::uint32_t ranks, std::uint32_t ranks_a_rail = 1) {
  std::vector<Shape::Member> members;
  for (std::uint32_t node = 0; node < nodes; ++node)
    for (std::uint32_t local = 0; local < ranks; ++local)
      members.push_back({.node = 100 + node, .rail = local / ranks_a_rail});
  return Shape{members};
}

std::vector<std::uint32_t> ring(const Shape& shape, std::uint32_t channel) {
  std::vector<std::uint32_t> order;
  for (std::uint32_t i = 0; i < shape.size(); ++i) order.push_back(shape.ring_position(channel, i));
  return order;
}

TEST(Shape, RingsOfTwoNodesEnterAndLeaveAtTheChannelsRail) {
  const Shape shape = blocks(2, 8);
  EXPECT_THAT(ring(shape, 0), ElementsAre(0, 7, 6, 5, 4, 3, 2, 1, 8, 15, 14, 13, 12, 11, 10, 9));
  EXPECT_THAT(ring(shape, 3), ElementsAre(3, 2, 1, 0, 7, 6, 5, 4, 11, 10, 9, 8, 15, 14, 13, 12));
  EXPECT_EQ(shape.rail_of_channel(11), 3U);
  EXPECT_EQ(shape.head(1, 11), 3U);
  EXPECT_EQ(shape.group(), 8U);
}

TEST(Shape, TwoRanksShareARail) {
  const Shape shape = blocks(2, 4, 2);
  EXPECT_THAT(shape.rails(), ElementsAre(0, 1));
  EXPECT_THAT(ring(shape, 1), ElementsAre(2, 1, 0, 3, 6, 5, 4, 7));
}

TEST(Shape, NodesCountInTheOrderTheyAreNamedIn) {
  const std::vector<Shape::Member> members{{9, 0}, {4, 0}, {9, 1}, {4, 1}, {4, 2}};
  const Shape shape{members};
  EXPECT_EQ(shape.nodes(), 2U);
  EXPECT_EQ(shape.node_of(1), 1U);
  EXPECT_EQ(shape.local_of(4), 2U);
  EXPECT_EQ(shape.at(1, 2), 4U);
  EXPECT_EQ(shape.node_size(0), 2U);
  EXPECT_EQ(shape.group(), 1U) << "ranks of a node do not stand together";
}

TEST(Shape, OneRankANodeStandsOnItsOwnRailOnly) {
  const std::vector<Shape::Member> members{{0, 3}, {1, 3}, {2, 3}};
  const Shape shape{members};
  for (std::uint32_t channel = 0; channel < 4; ++channel)
    EXPECT_EQ(shape.rail_of_channel(channel), 3U);
}

TEST(Shape, EveryChannelsRingVisitsEveryRankOnceAndNodesOneAfterTheOther) {
  std::vector<Shape::Member> uneven;
  for (std::uint32_t i = 0; i < 23; ++i) uneven.push_back({.node = i * i % 5, .rail = i % 3});
  for (const Shape& shape : {blocks(3, 4), Shape::flat(5), Shape{uneven}, Shape::flat(1)}) {
    for (std::uint32_t channel = 0; channel < 5; ++channel) {
      const auto order = ring(shape, channel);
      EXPECT_EQ(std::set(order.begin(), order.end()).size(), shape.size());
      for (std::uint32_t i = 0; i < shape.size(); ++i) {
        EXPECT_EQ(shape.ring_index(channel, order[i]), i);
        EXPECT_EQ(shape.next(channel, order[i]), order[(i + 1) % shape.size()]);
        EXPECT_EQ(shape.previous(channel, order[(i + 1) % shape.size()]), order[i]);
        if (i > 0) {
          EXPECT_LE(shape.node_of(order[i - 1]), shape.node_of(order[i]));
        }
      }
    }
  }
}

TEST(Shape, RingsMayFollowTheCommunicator) {
  const std::vector<Shape::Member> members{{0, 1}, {0, 0}, {1, 1}, {1, 0}};
  EXPECT_THAT(ring(Shape::in_order(members), 0), ElementsAre(0, 1, 2, 3));
  EXPECT_EQ(Shape::in_order(members).next(1, 3), 0U);
  EXPECT_EQ(Shape::in_order(members).previous(1, 0), 3U);
}

TEST(Shape, TheGroupIsWhatDividesEveryRunOnANodeUpToEight) {
  const auto group = [](std::uint32_t ranks, std::uint32_t a_node) {
    std::vector<Shape::Member> members;
    for (std::uint32_t i = 0; i < ranks; ++i) members.push_back({.node = i / a_node, .rail = 0});
    return Shape{members}.group();
  };
  EXPECT_EQ(group(16, 1), 1U);
  EXPECT_EQ(group(16, 2), 2U);
  EXPECT_EQ(group(5, 2), 1U);
  EXPECT_EQ(group(32, 16), 8U);
  EXPECT_EQ(group(24, 12), 4U);
}

}  // namespace
}  // namespace rehearsal::collective
