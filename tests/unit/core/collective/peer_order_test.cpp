#include "core/collective/peer_order.hpp"

#include <gtest/gtest.h>

#include <set>
#include <vector>

namespace rehearsal::collective {
namespace {

std::vector<PeerOrder::Round> rounds_of(const PeerOrder& order) {
  std::vector<PeerOrder::Round> rounds;
  PeerOrder::Iterator iterator;
  PeerOrder::Round round;
  while (iterator.next(order, round)) rounds.push_back(round);
  return rounds;
}

TEST(PeerOrder, SixteenNodesOfOneRankFollowTheQuadraticSequence) {
  const PeerOrder order{16, 1};
  std::vector<std::uint32_t> distances;
  for (const auto& round : rounds_of(order)) distances.push_back(order.to(0, round));
  EXPECT_EQ(distances,
            (std::vector<std::uint32_t>{0, 1, 3, 6, 10, 15, 5, 12, 4, 13, 7, 2, 14, 11, 9, 8}));
}

TEST(PeerOrder, GroupsAreMetAsAWholeBeforeTheNext) {
  const PeerOrder order{8, 2};  // 4 nodes of 2 ranks: group distances 0, 1, 3, 2
  std::vector<std::uint32_t> peers;
  for (const auto& round : rounds_of(order)) peers.push_back(order.to(3, round));
  EXPECT_EQ(peers, (std::vector<std::uint32_t>{3, 2, 5, 4, 1, 0, 7, 6}));
}

TEST(PeerOrder, EveryPairMeetsOnceAndInTheSameRound) {
  for (std::uint32_t ranks = 1; ranks <= 33; ++ranks)
    for (std::uint32_t group = 1; group <= ranks; ++group) {
      if (ranks % group != 0) continue;
      const PeerOrder order{ranks, group};
      const auto rounds = rounds_of(order);
      ASSERT_EQ(rounds.size(), ranks);
      for (std::uint32_t rank = 0; rank < ranks; ++rank) {
        std::set<std::uint32_t> met;
        for (const auto& round : rounds) {
          met.insert(order.to(rank, round));
          ASSERT_EQ(order.from(order.to(rank, round), round), rank);
        }
        ASSERT_EQ(met.size(), ranks) << "ranks " << ranks << ", group " << group;
      }
    }
}

}  // namespace
}  // namespace rehearsal::collective
