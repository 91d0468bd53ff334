#include "core/profile/rank_list.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rehearsal::profile {
namespace {

TEST(RankList, FormatsRunsInOrder) {
  EXPECT_EQ(format_ranks(std::vector<Rank>{}), "");
  EXPECT_EQ(format_ranks(std::vector{Rank{5}}), "5");
  EXPECT_EQ(format_ranks(std::vector{Rank{0}, Rank{1}, Rank{2}, Rank{8}}), "0-2,8");
  EXPECT_EQ(format_ranks(std::vector{Rank{3}, Rank{2}, Rank{1}}), "3,2,1") << "order is kept";
}

TEST(RankList, ReadsARankOrARange) {
  std::vector<Rank> ranks;
  ASSERT_TRUE(append_ranks("4", 8, ranks));
  ASSERT_TRUE(append_ranks("0-2", 8, ranks));
  EXPECT_THAT(ranks, testing::ElementsAre(Rank{4}, Rank{0}, Rank{1}, Rank{2}));
}

TEST(RankList, RefusesWhatIsNoRank) {
  std::vector<Rank> ranks;
  for (const char* text : {"", "-", "1-", "-1", "a", "3-1", "1.5", "0x2", "1-2-3", "99999999999"}) {
    EXPECT_FALSE(append_ranks(text, 8, ranks)) << text;
  }
  const auto beyond = append_ranks("4-8", 8, ranks);
  ASSERT_FALSE(beyond);
  EXPECT_THAT(beyond.error().message, testing::HasSubstr("8 ranks, 0 to 7"));
  EXPECT_TRUE(ranks.empty());
}

}  // namespace
}  // namespace rehearsal::profile
