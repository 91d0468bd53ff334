#include "core/profile/traffic.hpp"

#include <gtest/gtest.h>

#include "tests/support/profiles.hpp"

namespace rehearsal::profile {
namespace {

Traffic of(OpKind kind, std::uint64_t bytes, std::uint32_t ranks) {
  Profile profile;
  profile.communicators = {{"world", {}}};
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    profile.communicators[0].ranks.push_back(Rank{rank});
  }
  Op op;
  op.kind = kind;
  op.bytes = Bytes{bytes};
  return traffic_of(profile, op);
}

TEST(Traffic, RingAllReduceOfResNetGradients) {
  const Traffic traffic = of(OpKind::all_reduce, 102'228'128, 4);
  EXPECT_EQ(traffic.rank_least, Bytes{153'342'192});
  EXPECT_EQ(traffic.rank_most, Bytes{153'342'192});
  EXPECT_EQ(traffic.total, Bytes{4ULL * 153'342'192});
}

TEST(Traffic, SumsAreExactWhereSharesAreNot) {
  const Traffic traffic = of(OpKind::all_reduce, 1, 3);
  EXPECT_EQ(traffic.total, Bytes{4});
  EXPECT_EQ(traffic.rank_least, Bytes{1});
  EXPECT_EQ(traffic.rank_most, Bytes{2});
}

TEST(Traffic, OneRankSendsNothing) {
  for (int kind = static_cast<int>(OpKind::all_reduce); kind <= static_cast<int>(OpKind::scatter);
       ++kind) {
    const Traffic traffic = of(static_cast<OpKind>(kind), 1000, 1);
    EXPECT_EQ(traffic.total, Bytes{0}) << to_string(static_cast<OpKind>(kind));
    EXPECT_EQ(traffic.rank_most, Bytes{0}) << to_string(static_cast<OpKind>(kind));
  }
}

TEST(Traffic, PerPeerSizesLeaveTheOwnPartOut) {
  const Profile profile = test::small_profile();
  const Traffic traffic = traffic_of(profile, profile.classes[0].ops[1]);
  EXPECT_EQ(traffic.total, Bytes{100 * (120 - 0 - 5 - 10 - 15)});
  EXPECT_EQ(traffic.rank_least, Bytes{100 * (1 + 2 + 3)});
  EXPECT_EQ(traffic.rank_most, Bytes{100 * (12 + 13 + 14)});
}

TEST(Traffic, OtherKinds) {
  EXPECT_EQ(of(OpKind::all_gather, 1000, 4).total, Bytes{3000});
  EXPECT_EQ(of(OpKind::all_to_all, 1000, 4).rank_most, Bytes{750});
  EXPECT_EQ(of(OpKind::broadcast, 1000, 4).total, Bytes{3000});
  EXPECT_EQ(of(OpKind::gather, 1000, 4).total, Bytes{750});
  EXPECT_EQ(of(OpKind::scatter, 1000, 4).rank_most, Bytes{750});
  EXPECT_EQ(of(OpKind::barrier, 0, 4).total, Bytes{0});
  EXPECT_EQ(of(OpKind::send, 7, 4).total, Bytes{7});
}

}  // namespace
}  // namespace rehearsal::profile
