#include "core/profile/profile.hpp"

#include <gtest/gtest.h>

#include "tests/support/profiles.hpp"

namespace rehearsal::profile {
namespace {

TEST(Profile, PositionInACommunicator) {
  const Communicator ends{"ends", {Rank{3}, Rank{0}}};
  EXPECT_EQ(ends.position(Rank{3}), 0U);
  EXPECT_EQ(ends.position(Rank{0}), 1U);
  EXPECT_EQ(ends.position(Rank{1}), 2U) << "size() for a rank that is no member";
}

TEST(Profile, PeerBytesSumOverRowsAndColumns) {
  const PeerBytes matrix{"m", 2, {Bytes{1}, Bytes{2}, Bytes{30}, Bytes{40}}};
  EXPECT_EQ(matrix.from_to(0, 1), Bytes{2});
  EXPECT_EQ(matrix.sent_by(1), Bytes{70});
  EXPECT_EQ(matrix.received_by(0), Bytes{31});
}

TEST(Profile, ClassOfARank) {
  const Profile profile = test::small_profile();
  EXPECT_EQ(profile.class_of(Rank{2}).name, "middle");
  EXPECT_EQ(profile.class_of(Rank{3}).name, "last");
}

}  // namespace
}  // namespace rehearsal::profile
