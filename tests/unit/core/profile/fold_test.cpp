#include "core/profile/fold.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rehearsal::profile {
namespace {

std::vector<Op> compute(int microseconds) {
  Op op;
  op.duration = std::chrono::microseconds{microseconds};
  return {op};
}

TEST(Fold, RanksWithTheSameOpsBecomeOneClass) {
  const auto classes = fold(
      {{Rank{2}, compute(1)}, {Rank{0}, compute(1)}, {Rank{1}, compute(7)}, {Rank{3}, compute(1)}});
  ASSERT_EQ(classes.size(), 2U);
  EXPECT_EQ(classes[0].name, "ranks 0,2-3");
  EXPECT_THAT(classes[0].ranks, testing::ElementsAre(Rank{0}, Rank{2}, Rank{3}));
  EXPECT_EQ(classes[1].name, "rank 1");
  EXPECT_EQ(classes[1].ops, compute(7));
}

TEST(Fold, ADifferenceAnywhereKeepsRanksApart) {
  auto other = compute(1);
  other[0].after = {0};
  auto named = compute(1);
  named[0].name = "x";
  EXPECT_EQ(fold({{Rank{0}, compute(1)}, {Rank{1}, other}, {Rank{2}, named}}).size(), 3U);
}

TEST(Fold, NothingStaysNothing) { EXPECT_TRUE(fold({}).empty()); }

}  // namespace
}  // namespace rehearsal::profile
