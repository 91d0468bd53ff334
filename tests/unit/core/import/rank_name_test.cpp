#include "core/import/rank_name.hpp"

#include <gtest/gtest.h>

namespace rehearsal::importer {
namespace {

TEST(RankName, WhereCapturesHaveIt) {
  EXPECT_EQ(rank_in_name("worker3_step_12.1694128201557.pt.trace.json.gz"), Rank{3});
  EXPECT_EQ(rank_in_name("rank-70.Mar_25_20_48_12.2861.pt.trace.json.gz"), Rank{70});
  EXPECT_EQ(rank_in_name("hta_sampled128_rank1.json.gz"), Rank{1});
  EXPECT_EQ(rank_in_name("dlrm_eg_3.json.gz"), Rank{3});
  EXPECT_EQ(rank_in_name("all_reduce.10.et"), Rank{10});
  EXPECT_EQ(rank_in_name("chakra.0.et.gz"), Rank{0});
}

TEST(RankName, NoneWhereThereIsNone) {
  EXPECT_EQ(rank_in_name("trace.json"), std::nullopt);
  EXPECT_EQ(rank_in_name("resnet50.et"), std::nullopt) << "part of a word";
  EXPECT_EQ(rank_in_name("a.99999999999.et"), std::nullopt);
  EXPECT_EQ(rank_in_name(""), std::nullopt);
  EXPECT_EQ(rank_in_name("7"), std::nullopt);
}

}  // namespace
}  // namespace rehearsal::importer
