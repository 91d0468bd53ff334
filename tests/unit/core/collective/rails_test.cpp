#include "core/collective/rails.hpp"

#include <gtest/gtest.h>

#include "tests/support/collective/shapes.hpp"

namespace rehearsal::collective {
namespace {

using Crossing = Shape::Crossing;

Shape nodes_of_four(std::uint32_t nodes, Crossing crossing) {
  std::vector<Shape::Member> members;
  for (std::uint32_t i = 0; i < 4 * nodes; ++i) members.push_back({.node = i / 4, .rail = i % 4});
  return Shape{members, crossing};
}

/// Rails of the ring's hop out of a node.
RailPath hop(const Shape& shape, std::uint32_t channel, std::uint32_t node) {
  for (std::uint32_t local = 0; local < shape.node_size(node); ++local) {
    const std::uint32_t source = shape.at(node, local);
    const std::uint32_t next = shape.next(channel, source);
    if (shape.node_of(next) != node) return collective_rails(shape, channel, source, next);
  }
  ADD_FAILURE() << "the ring never leaves the node";
  return {};
}

TEST(CrossingOf, TwoCrossesOnlyWhereNothingLeadsBackToTheNic) {
  EXPECT_EQ(crossing_of({}), Crossing::none);
  EXPECT_EQ(crossing_of({.cross_nic = 0}), Crossing::none);
  EXPECT_EQ(crossing_of({.cross_nic = 1}), Crossing::free);
  EXPECT_EQ(crossing_of({.cross_nic = 2, .pxn_level = 0}), Crossing::alternate);
  EXPECT_EQ(crossing_of({.cross_nic = 0, .pxn_level = 0}), Crossing::none);
}

TEST(CollectiveRails, RingsKeepTheChannelsRail) {
  const Shape shape = nodes_of_four(3, Crossing::none);
  for (std::uint32_t channel = 0; channel < 8; ++channel)
    for (std::uint32_t node = 0; node < 3; ++node)
      EXPECT_EQ(hop(shape, channel, node), (RailPath{channel % 4, channel % 4}));
}

TEST(CollectiveRails, FreeRingsLeaveByTheirLastRanksRail) {
  const Shape shape = nodes_of_four(2, Crossing::free);
  EXPECT_EQ(hop(shape, 0, 0), (RailPath{1, 0})) << "0 3 2 1, then 4";
  EXPECT_EQ(hop(shape, 3, 1), (RailPath{0, 3}));
}

TEST(CollectiveRails, AlternatingRingsChangeRailsInsideNodesOnly) {
  const Shape shape = nodes_of_four(4, Crossing::alternate);
  ASSERT_EQ(shape.crossing(), Crossing::alternate);
  for (std::uint32_t channel = 0; channel < 8; ++channel) {
    for (std::uint32_t node = 0; node < 4; ++node) {
      const RailPath path = hop(shape, channel, node);
      EXPECT_EQ(path.departure, path.arrival) << "channel " << channel << ", node " << node;
      EXPECT_EQ(path.departure, node % 2 == 0 ? (channel ^ 1) % 4 : channel % 4);
    }
  }
  // With an odd number of nodes the last hop cannot keep its rail.
  const RailPath last = hop(nodes_of_four(3, Crossing::alternate), 0, 2);
  EXPECT_EQ(last, (RailPath{1, 0}));
}

TEST(CollectiveRails, AlternatingNeedsPairsOfRailsThatRingsJoin) {
  std::vector<Shape::Member> three{{0, 0}, {0, 1}, {0, 2}, {1, 0}, {1, 1}, {1, 2}};
  EXPECT_EQ((Shape{three, Crossing::alternate}).crossing(), Crossing::none);
  std::vector<Shape::Member> shared{{0, 0}, {0, 0}, {0, 1}, {0, 1}, {1, 0}, {1, 0}, {1, 1}, {1, 1}};
  EXPECT_EQ((Shape{shared, Crossing::alternate}).crossing(), Crossing::none);
}

TEST(CollectiveRails, RanksOfOneRailStayOnIt) {
  const Shape shape = nodes_of_four(2, Crossing::none);
  EXPECT_EQ(collective_rails(shape, 0, 2, 6), (RailPath{2, 2})) << "heads of NVLS trees";
}

TEST(PairRails, PxnLeavesByTheDestinationsRail) {
  const Shape shape = nodes_of_four(2, Crossing::none);
  EXPECT_EQ(pair_rails(shape, {}, 0, 7), (RailPath{3, 3}));
  EXPECT_EQ(pair_rails(shape, {.pxn_level = 1}, 0, 7), (RailPath{3, 3}));
  EXPECT_EQ(pair_rails(shape, {.pxn_level = 0}, 0, 7), (RailPath{0, 3})) << "crosses rails";
  EXPECT_EQ(pair_rails(shape, {.cross_nic = 0, .pxn_level = 0}, 0, 7), (RailPath{3, 3}));
}

TEST(PairRails, WhereNoRankStandsOnThatRailTheSourcesOwnIsUsed) {
  const std::vector<Shape::Member> members{{0, 0}, {0, 1}, {1, 1}, {1, 2}};
  const Shape shape{members};
  EXPECT_TRUE(shape.stands_on(0, 1));
  EXPECT_FALSE(shape.stands_on(0, 2));
  EXPECT_FALSE(shape.stands_on(0, 7));
  EXPECT_EQ(pair_rails(shape, {}, 0, 2), (RailPath{1, 1}));
  EXPECT_EQ(pair_rails(shape, {}, 0, 3), (RailPath{0, 2}));
}

}  // namespace
}  // namespace rehearsal::collective
